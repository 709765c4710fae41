import { useState } from "preact/hooks";
import { answerApproval, answerErrors, approvals, factsOf } from "../core/approvals.js";
import { exampleQuestions } from "../core/examples.js";
import { needs, needsCount, parts } from "../core/facts.js";
import { age, clock, plain, plural, span } from "../core/format.js";
import { html } from "../core/html.js";
import { chatAddress, go } from "../core/router.js";
import { recent, recentError, running, stopSession, titleOf } from "../core/sessions.js";
import {
  isOnline,
  lastOnlineAt,
  mainSessionKey,
  memory,
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

/** Overview: current problems, work in progress, and a place to ask. */
export default function Overview() {
  return html`<div class="page overview">
    <${Sentence} />
    ${approvals.value.length > 0 && html`<${Approvals} />`}
    ${waitingDevices.value.length > 0 && html`<${Devices} />`}
    <${AskBox} />
    <div class="columns">
      <${Parts} />
      <div class="stack"><${Running} /><${Latest} /></div>
    </div>
  </div>`;
}

/** "Everything works.", "2 parts need you." or "1 request waits for your approval." */
function whatNeedsYou() {
  const [failing, waiting, devices] = [needs.value.length, approvals.value.length, waitingDevices.value.length];
  const sentences = [
    failing > 0 && `${plural(failing, "part")} ${failing === 1 ? "needs" : "need"} you.`,
    waiting > 0 && `${plural(waiting, "request")} ${waiting === 1 ? "waits" : "wait"} for your approval.`,
    devices > 0 && `${plural(devices, "device")} ${devices === 1 ? "asks" : "ask"} to be paired.`,
  ];
  return sentences.filter(Boolean).join(" ") || "Everything works.";
}

function Sentence() {
  const count = needsCount.value;
  const isWorse = needs.value.some((part) => part.level === "bad");
  if (!isOnline.value) {
    return html`<div class="sentence"><i class="dot bad"></i><h1>Not connected. What you see is as of ${clock(lastOnlineAt.value)}.</h1></div>`;
  }
  return html`<div class="sentence">
    <i class=${`dot ${count === 0 ? "ok" : isWorse ? "bad" : "warn"}`}></i>
    <h1>Running for ${span(uptimeMs.value)}. ${whatNeedsYou()}</h1>
  </div>`;
}

function Approvals() {
  return html`<section class="panel approvals" id="needs-you" aria-labelledby="approvals">
    <header><h2 id="approvals">Waiting for your approval</h2></header>
    <ul class="parts">${approvals.value.map((approval) => html`<${ApprovalCard} key=${approval.id} approval=${approval} />`)}</ul>
  </section>`;
}

/** @param {{ approval: import("../core/approvals.js").Approval }} props */
function ApprovalCard({ approval }) {
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
    ${part.command && html`<${Command} command=${part.command} />`}
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
