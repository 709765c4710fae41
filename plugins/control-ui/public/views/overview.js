import { useEffect, useRef, useState } from "preact/hooks";
import { exampleQuestions } from "../core/examples.js";
import { needCounts, needs, needsCount, parts } from "../core/facts.js";
import { age, clock, plain, span } from "../core/format.js";
import { html } from "../core/html.js";
import { styled } from "../core/look.js";
import { needsModel, needWords, tryWords } from "../core/parts.js";
import { chatAddress, go } from "../core/router.js";
import { recent, recentError, running, stopSession, titleOf } from "../core/sessions.js";
import {
  approvals,
  isOnline,
  lastOnlineAt,
  mainSessionKey,
  memory,
  modelStatus,
  noAdminReason,
  now,
  Panels,
  readOnlyReason,
  uptimeMs,
  waitingDevices,
} from "../core/store.js";
import { texts } from "../texts/frame.js";
import { Button, Command } from "../ui/button.js";
import { Stop } from "../ui/icons.js";
import { Failure, Later, Waiting } from "../ui/states.js";

const charts = () => styled(import("./charts.js"));
const approvalCards = () => import("./approval.js");
const firstRun = () => styled(import("./models/first-run.js"));
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
    <${Charts} />
    ${Panels.value && html`<${Panels.value} at="widget" />`}
  </div>`;
}

let wereChartsSeen = false;

/** Charts, fetched a while after the place for them was first seen. */
function Charts() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [isWanted, setWanted] = useState(wereChartsSeen);
  useEffect(() => {
    if (isWanted) return;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const want = () => {
      wereChartsSeen = true;
      setWanted(true);
    };
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      timer = setTimeout(want, CHARTS_AFTER_MS);
    });
    seen.observe(/** @type {HTMLElement} */ (place.current));
    return () => {
      seen.disconnect();
      clearTimeout(timer);
    };
  }, [isWanted]);
  return isWanted ? html`<${Later} load=${charts} />` : html`<div ref=${place} class="charts-place"></div>`;
}

function Sentence() {
  const count = needsCount.value;
  const isWorse = needs.value.some((part) => part.level === "bad");
  if (!isOnline.value) {
    return html`<div class="sentence"><i class="dot bad"></i><h1>${texts.notConnectedYou(clock(lastOnlineAt.value))}</h1></div>`;
  }
  return html`<div class="sentence">
    <i class=${`dot ${count === 0 ? "ok" : isWorse ? "bad" : "warn"}`}></i>
    <h1>${texts.runningFor({ uptimeMs: span(uptimeMs.value), need: needWords(needCounts.value) })}</h1>
  </div>`;
}

function Approvals() {
  return html`<section class="panel approvals" id="needs-you" aria-labelledby="approvals">
    <header><h2 id="approvals">${texts.waitingYourApproval}</h2></header>
    <${Later} load=${approvalCards} class="parts" />
  </section>`;
}

function Devices() {
  return html`<section class="panel" aria-labelledby="devices-waiting">
    <header><h2 id="devices-waiting">${texts.devicesAskPaired}</h2><a class="button slim" href="#/devices">${texts.approveReject}</a></header>
    <ul class="rows">${waitingDevices.value.map(
      ({ requestId, displayName, clientId }) =>
        html`<li key=${requestId} class="row-line"><span class="cut">${displayName ?? clientId}</span></li>`,
    )}</ul>
  </section>`;
}

/** Offer of a first language model. Its form is no part of the first load; once it is there it stays until it is put away. */
function FirstModel() {
  const [isBegun, setBegun] = useState(false);
  if (isBegun) return html`<${Later} load=${firstRun} isOpen=${true} onClose=${() => setBegun(false)} />`;
  if (!needsModel(modelStatus.value)) return null;
  return html`<section class="panel" aria-labelledby="first-run">
    <header><h2 id="first-run">${texts.noLanguageModelYet}</h2><${Button} kind="primary slim" blocked=${noAdminReason.value} onClick=${() => setBegun(true)}>${texts.addModel}<//></header>
    <p class="inside muted">${texts.untilOneAdded}</p>
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
  return html`<section class="ask" aria-label=${texts.askLabel}>
    <form onSubmit=${submit}>
      <input id="ask" class="field" placeholder=${texts.askAboutYour} aria-label=${texts.question} autocomplete="off" value=${text}
        onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} />
      <${Button} type="submit" kind="primary" blocked=${reason}>${texts.askLabel}<//>
    </form>
    <div class="chips" aria-label=${texts.exampleQuestions} role="group">
      ${exampleQuestions(memory.value?.fileList).map((q) => html`<button key=${q} type="button" class="chip" onClick=${() => fill(q)}>${q}</button>`)}
    </div>
  </section>`;
}

function Parts() {
  const isWaiting = parts.value.length <= 1 && isOnline.value && !memory.value;
  return html`<section class="panel" id=${approvals.value.length > 0 ? undefined : "needs-you"} aria-labelledby="parts">
    <header><h2 id="parts">${texts.partsLabel}</h2></header>
    ${isWaiting ? html`<div class="inside"><${Waiting} rows=${3} /></div>` : html`<ul class="parts">${parts.value.map((p) => html`<${PartRow} key=${p.id} part=${p} />`)}</ul>`}
  </section>`;
}

const levelWords = { ok: texts.works, info: texts.note, warn: texts.levelNeedsYou, bad: texts.doesNotWork };

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
    <header><h2 id="now">${texts.now}</h2></header>
    ${
      list.length === 0
        ? html`<p class="inside muted">${texts.nothingRunning}</p>`
        : html`<ul class="rows">${list.map(
            (row) => html`<li key=${row.key} class="row-line">
              <a href=${chatAddress(row.key)} class="grow"><span class="cut">${titleOf(row)}</span>
                <span class="badge busy"><i class="dot busy"></i>${texts.answering(row.startedAt ? ` · ${span(now.value - row.startedAt)}` : "")}</span></a>
              <${Button} kind="slim" icon=${Stop} blocked=${readOnlyReason.value} onClick=${() => stopSession(row.key)}>${texts.stop}<//>
            </li>`,
          )}</ul>`
    }
  </section>`;
}

function Latest() {
  const list = recent.value;
  return html`<section class="panel" aria-labelledby="latest">
    <header><h2 id="latest">${texts.latestSessions}</h2><a class="button quiet slim" href="#/sessions">${texts.allSessions}</a></header>
    ${recentError.value ? html`<div class="inside"><${Failure} what=${texts.sessionsCouldNot} error=${recentError.value} /></div>` : null}
    ${!list && !recentError.value ? html`<div class="inside"><${Waiting} rows=${3} /></div>` : null}
    ${list?.length === 0 ? html`<p class="inside muted">${texts.noSessionsYet}</p>` : null}
    ${
      list && list.length > 0
        ? html`<ul class="rows">${list.slice(0, LATEST).map(
            (row) => html`<li key=${row.key}><a href=${chatAddress(row.key)} class="row-line">
              <span class="grow"><span class="cut title" dir="auto">${titleOf(row)}</span><span class="cut muted small">${plain(row.lastMessagePreview)}</span></span>
              <span class="muted small">${age(row.updatedAt, now.value)}</span>
            </a></li>`,
          )}</ul>`
        : null
    }
  </section>`;
}
