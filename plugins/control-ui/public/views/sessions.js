import { useEffect, useRef, useState } from "preact/hooks";
import { clock, count, plain } from "../core/format.js";
import { html } from "../core/html.js";
import { startNewSession } from "../core/keys.js";
import { chatAddress, formatRoute, replace, route } from "../core/router.js";
import { byTime, found, loadFound, sessionRow, setQuery, titleOf } from "../core/sessions.js";
import { isOnline, lastOnlineAt, readOnlyReason } from "../core/store.js";
import { texts } from "../texts/sessions.js";
import { Ago } from "../ui/ago.js";
import { Button } from "../ui/button.js";
import { More, Pin, Plus, Search } from "../ui/icons.js";
import { PageList } from "../ui/list.js";
import { Failure, Waiting } from "../ui/states.js";
import { SessionMenu } from "./session-menu.js";

const filters = /** @type {const} */ (["all", "running", "unread", "archived"]);
const SEARCH_PAUSE_MS = 200;
/** Height of a row that was not drawn yet. */
const ROW_PX = 78;

export default function Sessions() {
  const { q: search = "", f = "all" } = route.value.params;
  const filter = filters.find((name) => name === f) ?? "all";
  useEffect(() => {
    const timer = setTimeout(() => setQuery({ search, filter }), found.keys.value ? SEARCH_PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [search, filter, isOnline.value]);
  /** @param {{ q?: string | undefined, f?: string | undefined }} change */
  const show = (change) => {
    const next = { q: search, f, ...change };
    replace(formatRoute("sessions", "", { q: next.q || undefined, f: next.f === "all" ? undefined : next.f }));
  };
  return html`<div class="page sessions">
    <div class="head">
      <h1>${texts.sessions}</h1>
      <${Button} kind="primary" icon=${Plus} blocked=${readOnlyReason.value} onClick=${startNewSession}>${texts.newSession}<//>
    </div>
    <div class="tools">
      <div class="search grow"><${Search} /><input type="search" class="field" placeholder=${texts.searchTitleLabel} aria-label=${texts.searchSessions}
        value=${search} onInput=${(/** @type {any} */ e) => show({ q: e.currentTarget.value })} /></div>
      <div class="choice" role="group" aria-label=${texts.show}>${filters.map(
        (name) =>
          html`<button key=${name} type="button" aria-pressed=${name === filter} onClick=${() => show({ f: name })}>${texts.filters[name]}</button>`,
      )}</div>
    </div>
    <${Found} filter=${filter} search=${search} />
  </div>`;
}

/** @param {{ filter: import("../core/sessions.js").ListQuery["filter"], search: string }} props */
function Found({ filter, search }) {
  const rows = useCalmOrder(rowsOf(filter));
  if (found.error.value) {
    return html`<${Failure} what=${texts.sessionsCouldNot} error=${found.error.value} onRetry=${() => loadFound()} />`;
  }
  if (!found.keys.value) return html`<section class="panel"><div class="inside padded"><${Waiting} rows=${6} /></div></section>`;
  if (rows.list.length === 0) return html`<${Nothing} filter=${filter} search=${search} />`;
  return html`
    ${!isOnline.value && html`<p class="muted small">${texts.asOf(clock(lastOnlineAt.value))}</p>`}
    <section class="panel" aria-label=${texts.sessionList} onPointerEnter=${rows.hold} onPointerLeave=${rows.release}
      onFocusIn=${rows.hold} onFocusOut=${rows.release}>
      <${PageList} rows=${rows.list} kind="big" rowHeight=${ROW_PX} draw=${draw} />
    </section>
    <div class="foot">
      <span class="muted small">${texts.someOf({ shown: count(rows.list.length), total: count(filter === "running" || filter === "unread" ? rows.list.length : found.total.value) })}</span>
      ${found.hasMore.value && html`<${Button} blocked=${isOnline.value ? undefined : texts.notConnected} onClick=${() => loadFound({ more: true })}>${texts.showMore}<//>`}
    </div>
  `;
}

/** @param {string} filter */
function rowsOf(filter) {
  const rows = (found.keys.value ?? []).flatMap((key) => sessionRow(key) ?? []);
  if (filter === "running") return byTime(rows.filter((row) => row.hasActiveRun));
  if (filter === "unread") return byTime(rows.filter((row) => row.unread));
  return byTime(rows.filter((row) => Boolean(row.archived) === (filter === "archived")));
}

/**
 * Rows keep their places while the pointer or the focus is in the list; new ones join at the end until it leaves.
 * @param {import("../core/sessions.js").SessionRow[]} sorted
 */
function useCalmOrder(sorted) {
  const held = useRef(/** @type {ReadonlyMap<string, number> | undefined} */ (undefined));
  const [, redraw] = useState(0);
  const order = held.current;
  const list = order ? [...sorted].sort((a, b) => (order.get(a.key) ?? sorted.length) - (order.get(b.key) ?? sorted.length)) : sorted;
  return {
    list,
    hold: () => (held.current = new Map(sorted.map((row, i) => [row.key, i]))),
    release: () => {
      held.current = undefined;
      redraw((n) => n + 1);
    },
  };
}

/** @param {import("../core/sessions.js").SessionRow} row */
const draw = (row) => html`<${Row} row=${row} />`;

/** @param {{ row: import("../core/sessions.js").SessionRow }} props */
function Row({ row }) {
  return html`<li class="row-line session">
    <a class="grow" href=${chatAddress(row.key)}>
      <span class="top-line">
        ${row.unread && html`<i class="dot info"></i><span class="sr-only">${texts.unread}</span>`}
        <span class="cut title" dir="auto">${titleOf(row)}</span>
        ${row.pinned && html`<span class="pinned" title=${texts.pinned}>${Pin()}<span class="sr-only">${texts.isPinned}</span></span>`}
        ${stateOf(row)}
      </span>
      <span class="cut muted small">${plain(row.lastMessagePreview) || texts.noAnswerYet}</span>
      <span class="facts muted small">
        <span>${row.agentId}</span>${row.channel && html`<span>${row.channel}</span>`}
        ${row.totalTokens ? html`<span>${texts.tokens(count(row.totalTokens))}</span>` : null}
        <${Ago} at=${row.updatedAt} />
      </span>
    </a>
    ${SessionMenu({ row, icon: More })}
  </li>`;
}

/** @param {import("../core/sessions.js").SessionRow} row */
function stateOf(row) {
  if (row.hasActiveRun) return html`<span class="badge busy"><i class="dot busy"></i>${texts.answering}</span>`;
  if (row.status === "failed") return html`<span class="badge bad">${texts.failed}</span>`;
  if (row.status === "timeout") return html`<span class="badge bad">${texts.outTime}</span>`;
  if (row.status === "interrupted") return html`<span class="badge warn">${texts.interrupted}</span>`;
  return null;
}

/** @param {{ filter: import("../core/sessions.js").ListQuery["filter"], search: string }} props */
function Nothing({ filter, search }) {
  if (search.trim() !== "")
    return html`<div class="empty"><h2>${texts.noSessionMatches(search)}</h2><p>${texts.searchCoversTitle}</p></div>`;
  if (filter !== "all") return html`<div class="empty"><h2>${texts.noneOf[filter]}</h2></div>`;
  return html`<div class="empty"><h2>${texts.noSessionsYet}</h2><p>${texts.sessionBeginsFirst}</p>
    <${Button} kind="primary" icon=${Plus} blocked=${readOnlyReason.value} onClick=${startNewSession}>${texts.newSession}<//></div>`;
}
