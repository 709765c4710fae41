import { texts } from "../texts/parts.js";

/** Recording a voice note. Pure. */

/** Longest recording. */
const LONGEST_MS = 600_000;
/** Enough for speech. */
export const BITS_PER_SECOND = 32_000;

const types = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];
/** @type {Readonly<Record<string, string>>} */
const endings = { "audio/webm": "webm", "audio/ogg": "ogg", "audio/mp4": "m4a" };

/** Type that the browser can record, of those that a gateway takes; undefined where there is none. @param {(type: string) => boolean} isSupported */
export function typeToRecord(isSupported) {
  return types.find(isSupported);
}

/** "Voice note 2026-11-28 14.02.webm", in local time. @param {Date} at @param {string} type */
export function noteName(at, type) {
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const ending = endings[type.split(";", 1)[0] ?? ""] ?? "webm";
  return `${texts.voiceNoteOf(`${day} ${two(at.getHours())}.${two(at.getMinutes())}`)}.${ending}`;
}

/** "1:07". @param {number} ms */
export function lengthWords(ms) {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/**
 * Reason why a recording ends by itself; undefined while it may go on. What was said in the last moment has to fit, too.
 * @param {{ ms: number, bytes: number, step: number }} now `step`: bytes of the newest piece @param {number} mostBytes
 */
export function endReason({ ms, bytes, step }, mostBytes) {
  if (ms >= LONGEST_MS) return texts.voiceNoteMay(LONGEST_MS / 60_000);
  return bytes + 2 * step > mostBytes ? texts.voiceNoteSize : undefined;
}

/** Says why there is nothing to record with. @param {{ name?: string, message?: string }} error */
export function microphoneWords({ name, message }) {
  switch (name) {
    case "NotAllowedError":
      return texts.browserDoesNot;
    case "NotFoundError":
      return texts.noMicrophoneFound;
    case "NotReadableError":
      return texts.microphoneCouldNot;
    default:
      return texts.microphoneCouldNotUsed(message || name || texts.browserDoesNotSay);
  }
}
