import { useEffect, useRef, useState } from "preact/hooks";
import { age, clock, count, moment, plain } from "../core/format.js";
import { html } from "../core/html.js";
import { startNewSession } from "../core/keys.js";
import { chatAddress, formatRoute, replace, route } from "../core/router.js";
import { byTime, found, loadFound, sessionRow, setQuery, titleOf } from "../core/sessions.js";
import { isOnline, lastOnlineAt, now, readOnlyReason } from "../core/store.js";
import { Button } from "../ui/button.js";
import { More, Pin, Plus, Search } from "../ui/icons.js";
import { PageList } from "../ui/list.js";
import { Failure, Waiting } from "../ui/states.js";
import { SessionMenu } from "./session-menu.js";

const filters = /** @type {const} */ (["all", "running", "unread", "archived"]);
const SEARCH_PAUSE_MS = 200;
/** Height of a row that was not drawn yet. */
const ROW_PX = 87;

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
      <h1>Sessions</h1>
      <${Button} kind="primary" icon=${Plus} blocked=${readOnlyReason.value} onClick=${startNewSession}>New session<//>
    </div>
    <div class="tools">
      <div class="search grow"><${Search} /><input type="search" class="field" placeholder="Search title, label or key" aria-label="Search sessions"
        value=${search} onInput=${(/** @type {any} */ e) => show({ q: e.currentTarget.value })} /></div>
      <div class="choice" role="group" aria-label="Show">${filters.map(
        (name) =>
          html`<button key=${name} type="button" aria-pressed=${name === filter} onClick=${() => show({ f: name })}>${wordOf(name)}</button>`,
      )}</div>
    </div>
    <${Found} filter=${filter} search=${search} />
  </div>`;
}

/** @param {{ filter: string, search: string }} props */
function Found({ filter, search }) {
  const rows = useCalmOrder(rowsOf(filter));
  if (found.error.value) {
    return html`<${Failure} what="The sessions could not be read." error=${found.error.value} onRetry=${() => loadFound()} />`;
  }
  if (!found.keys.value) return html`<section class="panel"><div class="inside padded"><${Waiting} rows=${6} /></div></section>`;
  if (rows.list.length === 0) return html`<${Nothing} filter=${filter} search=${search} />`;
  return html`
    ${!isOnline.value && html`<p class="muted small">As of ${clock(lastOnlineAt.value)}.</p>`}
    <section class="panel" aria-label="Session list" onPointerEnter=${rows.hold} onPointerLeave=${rows.release}>
      <${PageList} rows=${rows.list} kind="big" rowHeight=${ROW_PX} draw=${(/** @type {any} */ row) => html`<${Row} key=${row.key} row=${row} />`} />
    </section>
    <div class="foot">
      <span class="muted small">${count(rows.list.length)} of ${count(filter === "running" || filter === "unread" ? rows.list.length : found.total.value)}</span>
      ${found.hasMore.value && html`<${Button} blocked=${isOnline.value ? undefined : "Not connected"} onClick=${() => loadFound({ more: true })}>Show more<//>`}
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
 * Rows keep their places while the pointer is over the list; new ones join at the end until it leaves.
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

/** @param {{ row: import("../core/sessions.js").SessionRow }} props */
function Row({ row }) {
  const menuId = `menu-${row.key}`;
  return html`<li class="row-line session">
    <a class="grow" href=${chatAddress(row.key)}>
      <span class="top-line">
        ${row.unread && html`<i class="dot info"></i><span class="sr-only">unread</span>`}
        <span class="cut title">${titleOf(row)}</span>
        ${row.pinned && html`<span class="pinned" title="Pinned"><${Pin} /><span class="sr-only">pinned</span></span>`}
        <${State} row=${row} />
      </span>
      <span class="cut muted small">${plain(row.lastMessagePreview) || "No answer yet"}</span>
      <span class="facts muted small">
        <span>${row.agentId}</span>${row.channel && html`<span>${row.channel}</span>`}
        ${row.totalTokens ? html`<span>${count(row.totalTokens)} tokens</span>` : null}
        <time title=${moment(row.updatedAt)}>${age(row.updatedAt, now.value)}</time>
      </span>
    </a>
    <${SessionMenu} row=${row} id=${menuId} icon=${More} />
  </li>`;
}

/** @param {{ row: import("../core/sessions.js").SessionRow }} props */
function State({ row }) {
  if (row.hasActiveRun) return html`<span class="badge busy"><i class="dot busy"></i>answering</span>`;
  if (row.status === "failed") return html`<span class="badge bad">failed</span>`;
  if (row.status === "timeout") return html`<span class="badge bad">out of time</span>`;
  if (row.status === "interrupted") return html`<span class="badge warn">interrupted</span>`;
  return null;
}

/** @param {{ filter: string, search: string }} props */
function Nothing({ filter, search }) {
  if (search.trim() !== "")
    return html`<div class="empty"><h2>No session matches “${search}”</h2><p>The search covers title, label and key.</p></div>`;
  if (filter !== "all") return html`<div class="empty"><h2>No ${filter} sessions</h2></div>`;
  return html`<div class="empty"><h2>No sessions yet</h2><p>A session begins with its first message.</p>
    <${Button} kind="primary" icon=${Plus} blocked=${readOnlyReason.value} onClick=${startNewSession}>New session<//></div>`;
}

/** @param {string} name */
function wordOf(name) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
