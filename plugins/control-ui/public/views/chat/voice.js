import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { takeFiles } from "../../core/attaching.js";
import { html } from "../../core/html.js";
import { hello, readOnlyReason } from "../../core/store.js";
import { BITS_PER_SECOND, endReason, lengthWords, microphoneWords, noteName, typeToRecord } from "../../core/voice-facts.js";
import { texts } from "../../texts/chat-more.js";
import { Button } from "../../ui/button.js";

/** @typedef {import("../../core/chat.js").Chat} Chat */
/** @typedef {{ key: string, ms: number, stop: (isKept: boolean) => void }} Recording */

const READ_EVERY_MS = 1_000;

/** One at a time: a microphone hears one conversation. */
const recording = signal(/** @type {Recording | undefined} */ (undefined));
/** Sentence about the last one, and its conversation. */
const said = signal(/** @type {{ key: string, text: string } | undefined} */ (undefined));

/** A voice note, recorded here: a button, or what becomes of it. @param {{ part: "button" | "state", chat: Chat }} props */
export default function Voice({ part, chat }) {
  useEffect(() => {
    // Going to another conversation throws nothing away.
    return () => void (part === "button" && recording.peek()?.key === chat.key && recording.peek()?.stop(true));
  }, [chat.key]);
  if (part === "state") return html`<${State} chat=${chat} />`;
  const isBusy = recording.value !== undefined;
  return html`<${Button} kind="quiet" icon=${Microphone} label=${texts.recordVoiceNote} blocked=${readOnlyReason.value ?? (isBusy ? texts.itIsRecording : undefined)}
    onClick=${() => record(chat.key)} />`;
}

/** @param {{ chat: Chat }} props */
function State({ chat }) {
  const current = recording.value?.key === chat.key ? recording.value : undefined;
  const words = said.value?.key === chat.key ? said.value.text : "";
  return html`<div class="tray">
    ${
      current &&
      html`<div class="actions line" role="group" aria-label=${texts.voiceNote}><span class="line"><i class="dot bad"></i><span>${texts.recording} <span aria-hidden="true">${lengthWords(current.ms)}</span></span></span>
      <${Button} kind="slim primary" onClick=${() => current.stop(true)}>${texts.stopAttach}<//><${Button} kind="slim" onClick=${() => current.stop(false)}>${texts.discard}<//></div>`
    }
    <p class=${words ? "notice warn small" : "sr-only"} role="status">${words}</p>
  </div>`;
}

/** @param {string} key */
async function record(key) {
  if (recording.peek()) return;
  said.value = undefined;
  const say = (/** @type {string} */ text) => (said.value = { key, text });
  if (!navigator.mediaDevices || !globalThis.MediaRecorder) return say(texts.pageMayUse);
  const type = typeToRecord((one) => MediaRecorder.isTypeSupported(one));
  if (!type) return say(texts.browserRecordsNo);
  try {
    follow(key, await navigator.mediaDevices.getUserMedia({ audio: true }), type, say);
  } catch (error) {
    say(microphoneWords(/** @type {Error} */ (error)));
  }
}

/** Records until somebody stops it, or it is as long or as large as it may be. @param {string} key @param {MediaStream} stream @param {string} type @param {(text: string) => unknown} say */
function follow(key, stream, type, say) {
  const recorder = new MediaRecorder(stream, { mimeType: type, audioBitsPerSecond: BITS_PER_SECOND });
  const startedAt = performance.now();
  const name = noteName(new Date(), type);
  /** @type {Blob[]} */
  const pieces = [];
  let isKept = true;
  const bytes = () => pieces.reduce((sum, { size }) => sum + size, 0);
  const stop = (/** @type {boolean} */ keeps) => {
    isKept &&= keeps;
    if (recorder.state !== "inactive") recorder.stop();
  };
  recorder.ondataavailable = ({ data }) => {
    pieces.push(data);
    const ms = performance.now() - startedAt;
    if (recording.peek()?.stop === stop) recording.value = { key, ms, stop };
    const reason = endReason(
      { ms, bytes: bytes(), step: data.size },
      hello.peek()?.policy.attachments.maxBytes ?? Number.POSITIVE_INFINITY,
    );
    if (reason === undefined || recorder.state === "inactive") return;
    say(reason);
    stop(true);
  };
  recorder.onerror = () => {
    say(texts.browserEndedRecording);
    stop(true);
  };
  recorder.onstop = () => {
    for (const track of stream.getTracks()) track.stop();
    recording.value = undefined;
    if (!isKept) return;
    const problems = takeFiles(key, [new File(pieces, name, { type })]);
    if (problems.length > 0) say(problems.join(" "));
  };
  recording.value = { key, ms: 0, stop };
  // A microphone that is unplugged ends its track.
  for (const track of stream.getTracks()) track.onended = () => stop(true);
  recorder.start(READ_EVERY_MS);
}

function Microphone() {
  return html`<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"
    stroke-linejoin="round" aria-hidden="true"><path d="M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3zM6 11v1a6 6 0 0 0 12 0v-1M12 18v3" /></svg>`;
}
