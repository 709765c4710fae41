import { useEffect, useState } from "preact/hooks";
import { audit, MOST, PAGE } from "../../core/audit.js";
import { actionGroups, actorWords, factsOf } from "../../core/audit-facts.js";
import { age, count, moment } from "../../core/format.js";
import { html } from "../../core/html.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { isOnline, now } from "../../core/store.js";
import { texts } from "../../texts/audit.js";
import { Button, Command } from "../../ui/button.js";
import { Open } from "../../ui/icons.js";
import { useLive } from "../../ui/live.js";
import { Head, Standing } from "../../ui/reading.js";
import { Verify } from "./verify.js";

/** @typedef {import("../../core/audit-facts.js").Entry} Entry */

/** Page of the audit log: what agents and operators did, the newest first. */
export default function AuditPage() {
  const { action = "", actor = "", n } = route.value.params;
  const limit = Number(n) > PAGE ? Math.min(MOST, Number(n)) : PAGE;
  const [typed, setTyped] = useState(actor);
  useEffect(() => setTyped(actor), [actor]);
  const read = () => audit.read({ action, actor, limit });
  // Not at intervals: each question is an entry itself.
  useLive(read, {}, [action, actor, limit]);
  const known = audit.answer.value;
  const entries = known?.entries ?? [];
  /** @param {{ action?: string, actor?: string, n?: number }} change */
  const show = (change) => {
    const next = { action, actor, n: PAGE, ...change };
    replace(
      formatRoute("audit", "", {
        action: next.action || undefined,
        actor: next.actor || undefined,
        n: next.n > PAGE ? String(next.n) : undefined,
      }),
    );
  };
  return html`<div class="page lists audit">
    <${Head} title=${texts.audit} sentence=${texts.agentsOperatorsDid} readAt=${audit.readAt.value}>${known && html`<${Verify} />`}<//>
    <div class="tools">
      <select class="field choose" aria-label=${texts.done} value=${action} onChange=${(/** @type {any} */ e) => show({ action: e.currentTarget.value })}>${choices(
        action,
      ).map(([id, word]) => html`<option key=${id} value=${id} selected=${id === action}>${word}</option>`)}</select>
      <input class="field choose" aria-label=${texts.whoDid} placeholder=${texts.nameAgentOperator} maxlength="200" value=${typed}
        onInput=${(/** @type {any} */ e) => setTyped(e.currentTarget.value)} onChange=${(/** @type {any} */ e) => isHere() && show({ actor: e.currentTarget.value })} />
      <${Button} blocked=${isOnline.value ? undefined : texts.notConnectedGateway} onClick=${read}>${texts.readAgain}<//>
    </div>
    <${Standing} reading=${audit} onRetry=${read} what=${texts.auditEntries} plugin="audit" rows=${8} />
    ${known && entries.length === 0 && html`<${Nothing} isFiltered=${action !== "" || actor !== ""} onShow=${show} />`}
    ${
      entries.length > 0 &&
      html`<section class="panel" aria-label=${texts.entriesLabel}><ul class="rows">${entries.map(
        (entry) => html`<${Row} key=${entry.seq} entry=${entry} />`,
      )}</ul></section>
      <${Foot} shown=${entries.length} hasMore=${known?.nextBefore !== undefined} limit=${limit} onShow=${show} />`
    }
  </div>`;
}

/** A field that goes with its view tells of its change once more. */
function isHere() {
  return route.peek().view === "audit";
}

/** @param {string} action @returns {ReadonlyArray<readonly [string, string]>} */
function choices(action) {
  return actionGroups.some(([id]) => id === action) ? actionGroups : [[action, action], ...actionGroups];
}

/** @param {{ entry: Entry }} props */
function Row({ entry }) {
  const [isOpen, setOpen] = useState(false);
  const { at, action, actor, target, outcome } = entry;
  return html`<li class="foldable">
    <div class="row-line"><button type="button" class="opener" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      <${Open} />
      <span class="grow">
        <span class="top-line"><span class="cut title" dir="auto">${action}</span>
          ${outcome === "error" && html`<span class="badge bad"><i class="dot bad"></i>${texts.failed}</span>`}</span>
        ${target !== undefined && html`<span class="wrap">${target}</span>`}
        <span class="facts muted small"><span class="wrap">${actorWords(actor)}</span><time title=${moment(at)}>${age(at, now.value)}</time></span>
      </span>
    </button></div>
    ${isOpen && html`<div class="detail"><dl class="facts-table small">${factsOf(entry).map(([name, text]) => html`<dt key=${name} class="muted">${name}</dt><dd>${text}</dd>`)}</dl></div>`}
  </li>`;
}

/** @param {{ shown: number, hasMore: boolean, limit: number, onShow: (change: { n: number }) => void }} props */
function Foot({ shown, hasMore, limit, onShow }) {
  return html`<div class="foot">
    <span class="muted small">${hasMore ? texts.newest(count(shown)) : count(shown)}</span>
    ${
      hasMore &&
      limit < MOST &&
      html`<${Button} blocked=${isOnline.value ? undefined : texts.notConnected} onClick=${() => onShow({ n: Math.min(MOST, limit + PAGE) })}>${texts.showMore}<//>`
    }
  </div>
  ${hasMore && limit >= MOST && html`<${Command} command="svc audit list --limit 500" />`}`;
}

/** @param {{ isFiltered: boolean, onShow: (change: { action: string, actor: string }) => void }} props */
function Nothing({ isFiltered, onShow }) {
  if (!isFiltered) return html`<div class="empty"><h2>${texts.nothingLoggedYet}</h2></div>`;
  return html`<div class="empty"><h2>${texts.noEntryMatches}</h2><${Button} onClick=${() => onShow({ action: "", actor: "" })}>${texts.showEverything}<//></div>`;
}
