import { useCallback, useMemo, useState } from "preact/hooks";
import { count, moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { countLines, levels, sentenceOf, subsystemsIn, wanted } from "../../core/log-facts.js";
import { log, readLog } from "../../core/logs.js";
import { isNarrow } from "../../core/look.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { texts } from "../../texts/logs.js";
import { Button } from "../../ui/button.js";
import { Search } from "../../ui/icons.js";
import { LongList } from "../../ui/list.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { Line } from "./line.js";

/** @typedef {import("../../core/log-facts.js").LogState} LogState */
/** @typedef {import("../../core/log-facts.js").LogFilter} LogFilter */

const READ_EVERY_MS = 1_000;
/** Heights of rows that do not wrap, as in `logs.css`. */
const ROW_PX = 28;
const NARROW_ROW_PX = 52;

/** Page of the log: its newest lines, followed while it is seen. */
export default function LogsPage() {
  const { level = "", subsystem = "", q = "" } = route.value.params;
  const filter = { level: levels.includes(level) ? level : "", subsystem, q };
  const [held, setHeld] = useState(/** @type {LogState | undefined} */ (undefined));
  const [isWrapped, setWrapped] = useState(false);
  useLive(readLog, { everyMs: READ_EVERY_MS });
  const state = log.answer.value;
  const { rows } = held ?? state ?? { rows: [] };
  const shown = useMemo(() => wanted(rows, filter), [rows, filter.level, subsystem, q]);
  const follow = useCallback((/** @type {boolean} */ wish) => setHeld(wish ? undefined : log.answer.peek()), []);
  /** @param {Partial<LogFilter>} change */
  const show = (change) => {
    const next = Object.entries({ ...filter, ...change }).map(([name, value]) => [name, value === "" ? undefined : value]);
    replace(formatRoute("logs", "", Object.fromEntries(next)));
  };
  const total = countLines(rows);
  return html`<div class="page logs">
    <${Head} title=${texts.logs} sentence=${state && texts.inView(sentenceOf(countLines(shown), total))} readAt=${log.readAt.value}>
      ${state && html`<${Following} state=${state} held=${held} filter=${filter} onFollow=${follow} />`}
    <//>
    <${Filters} filter=${filter} rows=${rows} isWrapped=${isWrapped} onShow=${show} onWrap=${setWrapped} />
    <${Standing} reading=${log} onRetry=${readLog} what=${texts.whatLogs} plugin="operator" rows=${8} />
    ${state && html`<${Found} state=${held ?? state} shown=${shown} isWrapped=${isWrapped} isFollowing=${!held} onFollow=${follow} onShow=${show} />`}
  </div>`;
}

/** Says whether the list follows the log, and changes it. @param {{ state: LogState, held: LogState | undefined, filter: LogFilter, onFollow: (wish: boolean) => void }} props */
function Following({ state, held, filter, onFollow }) {
  const fresh = held ? countLines(wanted(state.rows, filter), held.nextId - 1) : 0;
  return html`<div class=${`following ${held ? "paused" : ""}`}>
    <span class="state"><i class=${`dot ${held ? "warn" : "ok"}`}></i><span role="status">${held ? texts.paused : texts.following}</span></span>
    ${held && html`<span>${texts.newLines(count(fresh))}</span>`}
    <${Button} kind=${held ? "slim primary" : "slim"} onClick=${() => onFollow(held !== undefined)}>${held ? texts.resume : texts.pause}<//>
  </div>`;
}

/**
 * @param {{ filter: LogFilter, rows: import("../../core/log-facts.js").LogRow[], isWrapped: boolean, onShow: (change: Partial<LogFilter>) => void,
 *   onWrap: (wish: boolean) => void }} props
 */
function Filters({ filter, rows, isWrapped, onShow, onWrap }) {
  const { level, subsystem, q } = filter;
  const names = useMemo(() => subsystemsIn(rows), [rows]);
  const all = subsystem === "" || names.includes(subsystem) ? names : [subsystem, ...names];
  return html`<div class="tools">
    <div class="search grow"><${Search} /><input type="search" class="field" placeholder=${texts.text} aria-label=${texts.searchLog} maxlength="200" value=${q}
      onInput=${(/** @type {any} */ e) => onShow({ q: e.currentTarget.value })} /></div>
    <select class="field choose" aria-label=${texts.level} value=${level} onChange=${(/** @type {any} */ e) => onShow({ level: e.currentTarget.value })}>
      <option value="">${texts.allLevels}</option>
      ${levels.slice(1).map((name) => html`<option key=${name} value=${name} selected=${name === level}>${name === "fatal" ? name : texts.worse(name)}</option>`)}
    </select>
    <select class="field choose" aria-label=${texts.partGateway} value=${subsystem} onChange=${(/** @type {any} */ e) => onShow({ subsystem: e.currentTarget.value })}>
      <option value="">${texts.allParts}</option>
      ${all.map((name) => html`<option key=${name} value=${name} selected=${name === subsystem}>${name}</option>`)}
    </select>
    <${Button} aria-pressed=${isWrapped} onClick=${() => onWrap(!isWrapped)}>${texts.wrapLines}<//>
  </div>`;
}

/**
 * @param {{ state: LogState, shown: import("../../core/log-facts.js").LogRow[], isWrapped: boolean, isFollowing: boolean, onFollow: (wish: boolean) => void,
 *   onShow: (change: Partial<LogFilter>) => void }} props
 */
function Found({ state, shown, isWrapped, isFollowing, onFollow, onShow }) {
  const [open, setOpen] = useState(/** @type {ReadonlySet<number>} */ (new Set()));
  const toggle = useCallback((/** @type {number} */ id) => {
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  // Without keys: a line that comes takes the element of one that goes.
  const draw = useCallback(
    (/** @type {import("../../core/log-facts.js").LogRow} */ row) =>
      html`<${Line} row=${row} isOpen=${open.has(row.id)} onToggle=${toggle} />`,
    [open],
  );
  if (countLines(shown) === 0) {
    if (countLines(state.rows) === 0) return html`<div class="empty"><h2>${texts.logEmpty}</h2><p>${texts.linesAppearHere}</p></div>`;
    const clear = () => onShow({ level: "", subsystem: "", q: "" });
    return html`<div class="empty"><h2>${texts.noLinesMatch}</h2><${Button} onClick=${clear}>${texts.showAllLines}<//></div>`;
  }
  return html`<section class="panel log-panel"><${LongList} rows=${shown} rowHeight=${isNarrow.value ? NARROW_ROW_PX : ROW_PX} label=${texts.logLines}
    kind=${isWrapped ? "log wrapped" : "log"} isFollowing=${isFollowing} onFollow=${onFollow}
    draw=${draw}>
    ${(state.hasOlder || state.dropped > 0) && html`<p class="log-note muted small">${olderWords(state)}</p>`}
  <//></section>`;
}

/** @param {LogState} state */
function olderWords({ rows, file }) {
  const first = rows.find((row) => "raw" in row && row.at !== undefined);
  const since = first && "at" in first && first.at !== undefined ? texts.olderThan(moment(first.at)) : "";
  return texts.linesOlderFile({ since, file });
}
