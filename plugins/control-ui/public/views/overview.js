import { useState } from "preact/hooks";
import { exampleQuestions } from "../core/examples.js";
import { needs, parts } from "../core/facts.js";
import { age, clock, plain, plural, span } from "../core/format.js";
import { html } from "../core/html.js";
import { chatAddress, go } from "../core/router.js";
import { recent, recentError, running, stopSession, titleOf } from "../core/sessions.js";
import { isOnline, lastOnlineAt, mainSessionKey, memory, now, readOnlyReason, uptimeMs } from "../core/store.js";
import { Button, Command } from "../ui/button.js";
import { Stop } from "../ui/icons.js";
import { Failure, Waiting } from "../ui/states.js";

const LATEST = 6;

/** What is wrong now, what is being done, and a place to ask. */
export default function Overview() {
  return html`<div class="page overview">
    <${Sentence} />
    <${AskBox} />
    <div class="columns">
      <${Parts} />
      <div class="stack"><${Running} /><${Latest} /></div>
    </div>
  </div>`;
}

function Sentence() {
  const count = needs.value.length;
  const isWorse = needs.value.some((part) => part.level === "bad");
  if (!isOnline.value) {
    return html`<div class="sentence"><i class="dot bad"></i><h1>Not connected. What you see is as of ${clock(lastOnlineAt.value)}.</h1></div>`;
  }
  return html`<div class="sentence">
    <i class=${`dot ${count === 0 ? "ok" : isWorse ? "bad" : "warn"}`}></i>
    <h1>Running for ${span(uptimeMs.value)}. ${count === 0 ? "Everything works." : `${plural(count, "part")} ${count === 1 ? "needs" : "need"} you.`}</h1>
  </div>`;
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
  return html`<section class="panel" aria-labelledby="parts">
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
