import { EXTERNAL_NOTICE, stripFrames } from "svc/sdk";
import { foldLookAlikes, opening } from "svc/sdk/internal";

/** Takes frames off a text that is shown while it is still being written. */
export interface FrameStripper {
  /** @returns what is to be seen of the text besides; only what may be the beginning of a marker waits for more */
  push(delta: string): string;
  /** Nothing more comes. @returns what was held back and is to be seen */
  end(): string;
}

/** Most of the end that is looked at, in UTF-16 units, and so most that is held back; a frame begins with less. */
const MAX_HELD = 4_096;

/**
 * Does what `stripFrames` does to a whole text, piece by piece: text that was shown is never taken back, and text without brackets is shown as it comes.
 */
export function createFrameStripper(): FrameStripper {
  let held = "";
  return {
    push(delta) {
      if (held === "" && !mayBegin.test(delta)) return delta;
      const text = held + delta;
      const at = undecidedFrom(text);
      const shown = stripFrames(text.slice(0, at));
      const end = shown.length - (lineBegun.exec(shown.slice(-MAX_HELD))?.[0].length ?? 0);
      held = shown.slice(end) + text.slice(at);
      return shown.slice(0, end);
    },
    end() {
      const rest = stripFrames(held);
      held = "";
      return rest;
    },
  };
}

/** Matches any beginning of a word or pattern that is given piece by piece. */
function begun(pieces: Iterable<string>, rest = ""): string {
  return [...pieces].reduceRight((after, piece) => `(?:${piece}${after})?`, rest);
}

const blanks = "[\\s_.-]{0,64}";
const closing = begun([">\\s{0,3}", ">\\s{0,3}"]);
const idAndClosing = `\\s{0,8}(?:i(?:d\\s{0,4}(?:=[^<>\\r\\n]{0,240})?)?)?${closing}`;
const name = begun([..."EXTERNAL", blanks, ..."UNTRUSTED", blanks, ..."CONTENT"], idAndClosing);
/** A marker that the end of a folded text may be the beginning of. */
const markerBegun = new RegExp(`<\\s{0,3}(?:<\\s{0,3}(?:<\\s{0,3})?/?(?:(?:END${blanks})?${name}|${begun("END")}))?$`, "i");

const lineHead = "(?:System:[ \\t]{0,64})?";
const lineHeadBegun = begun("System:", "[ \\t]{0,64}");
const about = ["Source", "Task", "From", "Subject"];
const aboutBegun = [...about.map((label) => begun(`${label}: `, "[^\\n]*")), begun("---")].join("|");
/** The lines after a marker that begins a frame, as far as they have come. */
const headBegun = new RegExp(
  '<<<EXTERNAL_UNTRUSTED_CONTENT id="[0-9a-f]{16}">>>' +
    `(?:\\n(?:${lineHead}(?:${about.join("|")}): [^\\n]*\\n){0,4}(?:${lineHead}(?:${aboutBegun})|${lineHeadBegun}))?$`,
);
/** Pattern of the text removed with the marker or the warning after it; a warning, a marker and its end with nothing between them take one each. */
const lineBegun = new RegExp(`\\n?${lineHead}${lineHead}${lineHeadBegun}$`);
const afterNotice = new RegExp(`^(?:\\n${lineHeadBegun})?$`);
const mayBegin = new RegExp(`[\\nS]|${opening.source}`);

/** From where on the end of the text does not yet tell whether a frame begins there. */
function undecidedFrom(text: string): number {
  const from = Math.max(0, text.length - MAX_HELD);
  const tail = text.slice(from);
  const places = [headBegun.exec(tail)?.index, markerFrom(tail), noticeFrom(tail)];
  return from + Math.min(tail.length, ...places.filter((place) => place !== undefined));
}

function markerFrom(tail: string): number | undefined {
  if (!opening.test(tail)) return undefined;
  // A character or an entity that is cut in two may stand for any part of a marker.
  const whole = tail.replace(/(?:&[a-z0-9#;]{0,24}|[\ud800-\udbff])$/i, "");
  const folded = foldLookAlikes(whole);
  const match = markerBegun.exec(folded.text);
  if (!match || match[0] === "") return whole.length < tail.length ? whole.length : undefined;
  return folded.isSame ? match.index : folded.origins([{ start: match.index, end: folded.text.length }])[0]?.start;
}

function noticeFrom(tail: string): number | undefined {
  for (let at = tail.indexOf("S"); at >= 0; at = tail.indexOf("S", at + 1)) {
    const rest = tail.slice(at);
    if (EXTERNAL_NOTICE.startsWith(rest)) return at;
    if (rest.startsWith(EXTERNAL_NOTICE) && afterNotice.test(rest.slice(EXTERNAL_NOTICE.length))) return at;
  }
  return undefined;
}
