import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { stop } from "../../core/chat-runs.js";
import { send } from "../../core/delivery.js";
import { readDraft, writeDraft } from "../../core/drafts.js";
import { html } from "../../core/html.js";
import { isCoarse } from "../../core/look.js";
import { isOutboxFull } from "../../core/outbox.js";
import { readOnlyReason } from "../../core/store.js";
import { isFromPerson, textOf } from "../../core/turns.js";
import { Button } from "../../ui/button.js";
import { Send, Stop } from "../../ui/icons.js";
import { followSent } from "./follow.js";

/** @typedef {import("../../core/chat.js").Chat} Chat */

const handed = signal("");

/** Puts a text into the composer for the person to send. @param {string} text */
export function fillComposer(text) {
  handed.value = text;
}

/** @param {{ chat: Chat }} props */
export function Composer({ chat }) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [text, setText] = useState(() => readDraft(chat.key));
  const recalled = useRef(-1);
  const running = chat.live.value.filter((run) => run.state !== "ended");
  const isStopping = running.length > 0 && running.every((run) => run.state === "stopping");
  const blocked = readOnlyReason.value ?? (isOutboxFull.value ? "Too many messages are waiting to be sent" : undefined);

  /** @param {string} next */
  const change = (next) => {
    setText(next);
    writeDraft(chat.key, next);
  };
  const submit = () => {
    if (text.trim() === "" || blocked) return;
    send(chat.key, text.trim());
    recalled.current = -1;
    change("");
    followSent();
    field.current?.focus();
  };

  useEffect(() => {
    if (handed.value === "") return;
    change(handed.value);
    handed.value = "";
    field.current?.focus();
  }, [handed.value]);
  useEffect(() => {
    if (!isCoarse.value) field.current?.focus();
  }, [chat]);
  useLayoutEffect(() => grow(field.current), [text]);

  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey && !isCoarse.value) submit();
    else if (event.key === "Escape" && running.length > 0) void stop(chat);
    else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && recall(event.key === "ArrowUp" ? 1 : -1)) event.stopPropagation();
    else return;
    event.preventDefault();
  };
  /** Walks through what was asked here before, as long as nothing else was typed. @param {number} step */
  const recall = (step) => {
    const asked = chat.messages.value
      .filter(isFromPerson)
      .map((m) => textOf(m.content))
      .reverse();
    if (text !== "" && text !== asked[recalled.current]) return false;
    const next = Math.max(-1, Math.min(recalled.current + step, asked.length - 1));
    if (next === recalled.current) return false;
    recalled.current = next;
    change(asked[next] ?? "");
    return true;
  };

  return html`<form class="composer" aria-label="Write" onSubmit=${(/** @type {Event} */ e) => {
    e.preventDefault();
    submit();
  }}>
    <div class="box">
      <textarea ref=${field} rows="1" aria-label="Message" placeholder="Message" value=${text} enterkeyhint=${isCoarse.value ? "enter" : "send"}
        onInput=${(/** @type {any} */ e) => change(e.currentTarget.value)} onKeyDown=${key}></textarea>
      ${
        running.length > 0 &&
        html`<${Button} kind="slim stop" icon=${Stop} blocked=${isStopping ? "Stopping…" : readOnlyReason.value} onClick=${() => stop(chat)}>${isStopping ? "Stopping…" : "Stop"}<//>`
      }
      ${(running.length === 0 || text.trim() !== "") && html`<${Button} type="submit" kind="primary" icon=${Send} label="Send" blocked=${blocked ?? (text.trim() === "" ? "Nothing to send" : undefined)} />`}
    </div>
    ${blocked && text.trim() !== "" && html`<p class="muted small" role="status">${blocked}. What you write is kept.</p>`}
  </form>`;
}

/** As high as its text, up to the limit in the style sheet. @param {HTMLTextAreaElement | null} field */
function grow(field) {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
