import { useEffect, useRef, useState } from "preact/hooks";
import { answerApproval, answerErrors, approvals, factsOf } from "../core/approvals.js";
import { exampleQuestions } from "../core/examples.js";
import { needCounts, needs, needsCount, parts } from "../core/facts.js";
import { age, clock, plain, span } from "../core/format.js";
import { html } from "../core/html.js";
import { styled } from "../core/look.js";
import { needWords } from "../core/needs-facts.js";
import { needsModel, tryWords } from "../core/parts.js";
import { chatAddress, go } from "../core/router.js";
import { recent, recentError, running, stopSession, titleOf } from "../core/sessions.js";
import {
  isOnline,
  lastOnlineAt,
  mainSessionKey,
  memory,
  modelStatus,
  noAdminReason,
  noApprovalReason,
  now,
  readOnlyReason,
  uptimeMs,
  waitingDevices,
} from "../core/store.js";
import { Button, Command } from "../ui/button.js";
import { Stop } from "../ui/icons.js";
import { Failure, Waiting } from "../ui/states.js";

const LATEST = 6;
/** Charts come after everything that says what is wrong now. */
const CHARTS_AFTER_MS = 1_500;

/** Overview: current problems, work in progress, and a place to ask. */
export default function Overview() {
  return html`<div class="page overview">
    <${Sentence} />
    ${approvals.value.length > 0 && html`<${Approvals} />`}
    ${waitingDevices.value.length > 0 && html`<${Devices} />`}
    <${FirstModel} />
    <${AskBox} />
    <div class="columns">
      <${Parts} />
      <div class="stack"><${Running} /><${Latest} /></div>
    </div>
    <${LaterCharts} />
  </div>`;
}

/** @type {any} */
let fetchedCharts;

/** Charts, fetched when the place for them is first seen. */
function LaterCharts() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [Charts, setCharts] = useState(() => fetchedCharts);
  useEffect(() => {
    if (Charts || !isOnline.value) return;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const load = () =>
      styled(import("./charts.js")).then(
        (module) => {
          fetchedCharts = module.default;
          setCharts(() => fetchedCharts);
        },
        () => undefined, // the next connection tries again
      );
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      timer = setTimeout(load, CHARTS_AFTER_MS);
    });
    seen.observe(/** @type {HTMLElement} */ (place.current));
    return () => {
      seen.disconnect();
      clearTimeout(timer);
    };
  }, [isOnline.value]);
  return Charts ? html`<${Charts} />` : html`<div ref=${place} class="charts-place"></div>`;
}

function Sentence() {
  const count = needsCount.value;
  const isWorse = needs.value.some((part) => part.level === "bad");
  if (!isOnline.value) {
    return html`<div class="sentence"><i class="dot bad"></i><h1>Not connected. What you see is as of ${clock(lastOnlineAt.value)}.</h1></div>`;
  }
  return html`<div class="sentence">
    <i class=${`dot ${count === 0 ? "ok" : isWorse ? "bad" : "warn"}`}></i>
    <h1>Running for ${span(uptimeMs.value)}. ${needWords(needCounts.value)}</h1>
  </div>`;
}

function Approvals() {
  return html`<section class="panel approvals" id="needs-you" aria-labelledby="approvals">
    <header><h2 id="approvals">Waiting for your approval</h2></header>
    <ul class="parts">${approvals.value.map((approval) => html`<${ApprovalCard} key=${approval.id} approval=${approval} />`)}</ul>
  </section>`;
}

/** Card of one request, answered in place. @param {{ approval: import("../core/approvals.js").Approval }} props */
export function ApprovalCard({ approval }) {
  const { title, command, description, details, expires, canAlways } = factsOf(approval, now.value);
  const [isSent, setSent] = useState(false);
  const error = answerErrors.value[approval.id];
  const blocked = noApprovalReason.value ?? (isSent ? "The answer is on its way" : undefined);
  /** @param {"allow-once" | "allow-always" | "deny"} decision */
  const answer = async (decision) => {
    setSent(true);
    const warning = await answerApproval(approval, decision);
    // Seldom needed, so not a part of the first load.
    if (warning) (await import("../ui/announce.js")).announce(`Warning: ${warning}`);
    setSent(false);
  };
  return html`<li class="part approval">
    <div class="line"><i class="dot warn"></i><strong class="what-asked">${title}</strong><span class="muted what">${expires}</span></div>
    ${command && html`<pre class="asked" tabindex="0">${command}</pre>`}
    ${description && html`<p class="reason">${description}</p>`}
    ${details && html`<p class="muted small reason">${details}</p>`}
    ${error && html`<p class="reason" role="alert">Not answered: ${error}</p>`}
    <div class="answers">
      <${Button} kind="primary" blocked=${blocked} onClick=${() => answer("allow-once")}>Allow once<//>
      ${canAlways && html`<${Button} blocked=${blocked} onClick=${() => answer("allow-always")}>Always allow<//>`}
      <${Button} kind="danger" blocked=${blocked} onClick=${() => answer("deny")}>Deny<//>
    </div>
  </li>`;
}

function Devices() {
  return html`<section class="panel" aria-labelledby="devices-waiting">
    <header><h2 id="devices-waiting">Devices that ask to be paired</h2><a class="button slim" href="#/devices">Approve or reject</a></header>
    <ul class="rows">${waitingDevices.value.map(
      ({ requestId, displayName, clientId }) =>
        html`<li key=${requestId} class="row-line"><span class="cut">${displayName ?? clientId}</span></li>`,
    )}</ul>
  </section>`;
}

/** Offer of a first language model. Its form is no part of the first load; once it is there it stays until it is put away. */
function FirstModel() {
  const [Form, setForm] = useState(/** @type {any} */ (undefined));
  if (Form) return html`<${Form} isOpen=${true} onClose=${() => setForm(undefined)} />`;
  if (!needsModel(modelStatus.value)) return null;
  const begin = () =>
    styled(import("./models/first-run.js")).then(
      (module) => setForm(() => module.default),
      () => undefined,
    );
  return html`<section class="panel" aria-labelledby="first-run">
    <header><h2 id="first-run">No language model yet</h2><${Button} kind="primary slim" blocked=${noAdminReason.value} onClick=${begin}>Add a model<//></header>
    <p class="inside muted">Until one is added, answers quote your notes.</p>
  </section>`;
}

function AskBox() {
  const [text, setText] = useState("");
  const reason = readOnlyReason.value;
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (text.trim() === "" || reason) return;
    const key = mainSessionKey.value;
    const { send } = await import("../core/delivery.js");
    send(key, text.trim());
    go(chatAddress(key));
  };
  /** @param {string} question */
  const fill = (question) => {
    setText(question);
    document.getElementById("ask")?.focus();
  };
  return html`<section class="ask" aria-label="Ask">
    <form onSubmit=${submit}>
      <input id="ask" class="field" placeholder="Ask about your notes" aria-label="Question" autocomplete="off" value=${text}
        onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} />
      <${Button} type="submit" kind="primary" blocked=${reason}>Ask<//>
    </form>
    <div class="chips" aria-label="Example questions" role="group">
      ${exampleQuestions(memory.value?.fileList).map((q) => html`<button key=${q} type="button" class="chip" onClick=${() => fill(q)}>${q}</button>`)}
    </div>
  </section>`;
}

function Parts() {
  const isWaiting = parts.value.length <= 1 && isOnline.value && !memory.value;
  return html`<section class="panel" id=${approvals.value.length > 0 ? undefined : "needs-you"} aria-labelledby="parts">
    <header><h2 id="parts">Parts</h2></header>
    ${isWaiting ? html`<div class="inside"><${Waiting} rows=${3} /></div>` : html`<ul class="parts">${parts.value.map((p) => html`<${PartRow} key=${p.id} part=${p} />`)}</ul>`}
  </section>`;
}

const levelWords = { ok: "works", info: "note", warn: "needs you", bad: "does not work" };

/** @param {{ part: import("../core/parts.js").Part }} props */
function PartRow({ part }) {
  return html`<li class="part">
    <div class="line">
      <i class=${`dot ${part.level}`}></i><strong>${part.name}</strong><span class="sr-only">${levelWords[part.level]}</span>
      <span class="muted what">${part.text}</span>
    </div>
    ${part.reason && html`<p class="reason">${part.reason}</p>`}
    ${part.hint && html`<p class="hint muted small">${part.hint}</p>`}
    ${part.until !== undefined && part.until > now.value && html`<p class="hint muted small">${tryWords(part.until, now.value)}</p>`}
    ${part.command && html`<${Command} command=${part.command} />`}
    ${part.link && html`<p class="hint small"><a href=${part.link.href}>${part.link.word}</a></p>`}
  </li>`;
}

function Running() {
  const list = running.value;
  return html`<section class="panel" aria-labelledby="now">
    <header><h2 id="now">Now</h2></header>
    ${
      list.length === 0
        ? html`<p class="inside muted">Nothing is running.</p>`
        : html`<ul class="rows">${list.map(
            (row) => html`<li key=${row.key} class="row-line">
              <a href=${chatAddress(row.key)} class="grow"><span class="cut">${titleOf(row)}</span>
                <span class="badge busy"><i class="dot busy"></i>answering${row.startedAt ? ` · ${span(now.value - row.startedAt)}` : ""}</span></a>
              <${Button} kind="slim" icon=${Stop} blocked=${readOnlyReason.value} onClick=${() => stopSession(row.key)}>Stop<//>
            </li>`,
          )}</ul>`
    }
  </section>`;
}

function Latest() {
  const list = recent.value;
  return html`<section class="panel" aria-labelledby="latest">
    <header><h2 id="latest">Latest sessions</h2><a class="button quiet slim" href="#/sessions">All sessions</a></header>
    ${recentError.value ? html`<div class="inside"><${Failure} what="The sessions could not be read." error=${recentError.value} /></div>` : null}
    ${!list && !recentError.value ? html`<div class="inside"><${Waiting} rows=${3} /></div>` : null}
    ${list?.length === 0 ? html`<p class="inside muted">No sessions yet. Ask something above.</p>` : null}
    ${
      list && list.length > 0
        ? html`<ul class="rows">${list.slice(0, LATEST).map(
            (row) => html`<li key=${row.key}><a href=${chatAddress(row.key)} class="row-line">
              <span class="grow"><span class="cut title">${titleOf(row)}</span><span class="cut muted small">${plain(row.lastMessagePreview)}</span></span>
              <span class="muted small">${age(row.updatedAt, now.value)}</span>
            </a></li>`,
          )}</ul>`
        : null
    }
  </section>`;
}
