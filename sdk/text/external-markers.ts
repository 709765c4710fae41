import { foldLookAlikes } from "./fold.ts";
import { charactersLike } from "./homoglyphs.ts";

/** Words of the markers, in the form they are written in. */
const NAME = "EXTERNAL_UNTRUSTED_CONTENT";

/** First line of a frame. */
export function beginMarker(id: string): string {
  return `<<<${NAME} id="${id}">>>`;
}

/** Last line of a frame. */
export function endMarker(id: string): string {
  return `<<<END_${NAME} id="${id}">>>`;
}

/** A marker exactly as it is written around a text; groups: `END_`, id. */
export const writtenMarker = /<<<(END_)?EXTERNAL_UNTRUSTED_CONTENT id="([0-9a-f]{16})">>>/g;

const blanks = "[\\s_.-]*";
const closing = "\\s{0,8}>\\s{0,3}>(?:\\s{0,3}>)?";
// Brackets and what stands between them are bounded, so that a text of nothing but brackets costs no more than another.
const forged =
  `<\\s{0,3}<\\s{0,3}(?:<\\s{0,3})?/?(END${blanks})?EXTERNAL${blanks}UNTRUSTED${blanks}CONTENT` +
  `(?:\\s{0,8}id\\s{0,4}=\\s{0,4}[^<>\\r\\n]{0,160}?${closing}|${closing}|\\s{0,8}id\\s{0,4}=\\s{0,4}[\\\\"']{0,4}[\\w-]{0,64}[\\\\"']{0,4})?`;

/** Tokens by which models tell the parts of a conversation apart. */
const control = [
  "<\\|/?[a-z0-9_]{1,64}\\|>",
  "\\[/?(?:inst|available_tools|tool_results|tool_calls|tool_content|system_prompt)\\]",
  "<</?sys>>",
  "</?(?:start_of_turn|end_of_turn|start_of_image|end_of_image|bos|eos|pad|unk|s)>",
].join("|");

const markersOnly = new RegExp(forged, "gi");
const markersAndTokens = new RegExp(`${forged}|(${control})`, "gi");
const BEGIN_REPLACED = "[[MARKER_SANITIZED]]";
const END_REPLACED = "[[END_MARKER_SANITIZED]]";
const TOKEN_REPLACED = "[REMOVED_SPECIAL_TOKEN]";

/** Whatever a marker can begin with: `<`, its look-alikes and compatibility forms, an entity. */
export const opening = new RegExp(`[<&\uff1c\u226e\ufe3d\ufe3f${charactersLike("<")}]`);

/** Replaces whatever looks like a marker; every other character stays as it is. A text without a bracket costs next to nothing. */
export function replaceMarkers(text: string, by?: string): string {
  if (!opening.test(text)) return text;
  return replaceFolded(text, markersOnly, (isEnd) => by ?? (isEnd ? END_REPLACED : BEGIN_REPLACED));
}

/** The same, and control tokens of models as well. */
export function replaceMarkersAndTokens(text: string): string {
  return replaceFolded(text, markersAndTokens, (isEnd, isToken) => (isToken ? TOKEN_REPLACED : isEnd ? END_REPLACED : BEGIN_REPLACED));
}

function replaceFolded(text: string, pattern: RegExp, replacement: (isEnd: boolean, isToken: boolean) => string): string {
  const folded = foldLookAlikes(text);
  if (folded.isSame)
    return text.replace(pattern, (_, end?: string, token?: string) => replacement(typeof end === "string", typeof token === "string"));
  const parts: Array<{ start: number; end: number; by: string }> = [];
  for (const match of folded.text.matchAll(pattern)) {
    const by = replacement(match[1] !== undefined, match[2] !== undefined);
    parts.push({ start: match.index, end: match.index + match[0].length, by });
  }
  if (parts.length === 0) return text;
  const pieces: string[] = [];
  let kept = 0;
  folded.origins(parts).forEach(({ start, end }, i) => {
    pieces.push(text.slice(kept, start), parts[i]?.by ?? "");
    kept = end;
  });
  pieces.push(text.slice(kept));
  return pieces.join("");
}
