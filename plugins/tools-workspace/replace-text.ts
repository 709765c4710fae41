/** A text with its replacement, or the reason why there is none. */
export type Replaced = { text: string; count: number; diff: string } | { problem: string };

const CONTEXT_LINES = 3;
const MAX_DIFF_CHARS = 4_000;
const MAX_HUNKS = 10;

/**
 * Replaces an exact piece of text that occurs once, or with `all` wherever it occurs. Where the file ends its lines with CR LF, the pieces are taken to do so, too; nothing else of
 * the text changes.
 */
export function replaceText(
  text: string,
  { oldText, newText, all = false }: { oldText: string; newText: string; all?: boolean },
): Replaced {
  if (oldText === "") return { problem: "oldText is empty; expected the text to replace" };
  if (oldText === newText) return { problem: "oldText and newText are the same" };
  const given = placesOf(text, oldText);
  const isCrlf = text.includes("\r\n");
  const old = given.length === 0 && isCrlf ? toCrlf(oldText) : oldText;
  const fresh = isCrlf && !newText.includes("\r") ? toCrlf(newText) : newText;
  const places = given.length === 0 && old !== oldText ? placesOf(text, old) : given;
  if (places.length === 0) return { problem: "oldText was not found; expected a piece of the file exactly as it is, blanks included" };
  if (places.length > 1 && !all) return { problem: `oldText has ${places.length} matches; expected one: add lines around it, or set all` };
  const pieces: string[] = [];
  let kept = 0;
  for (const at of places) {
    pieces.push(text.slice(kept, at), fresh);
    kept = at + old.length;
  }
  pieces.push(text.slice(kept));
  return { text: pieces.join(""), count: places.length, diff: diffOf(text, { places, old, fresh }) };
}

function placesOf(text: string, piece: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) places.push(at);
  return places;
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

function diffOf(text: string, { places, old, fresh }: { places: readonly number[]; old: string; fresh: string }): string {
  const hunks: string[] = [];
  let line = 1;
  let counted = 0;
  for (const at of places.slice(0, MAX_HUNKS)) {
    const from = text.lastIndexOf("\n", at - 1) + 1;
    const start = at === 0 ? 0 : from;
    line += countLines(text.slice(counted, start));
    counted = start;
    const next = text.indexOf("\n", at + old.length);
    const end = next < 0 ? text.length : next;
    const head = text.slice(start, at);
    const tail = text.slice(at + old.length, end);
    const before = linesBefore(text, start);
    const after =
      next < 0
        ? []
        : text
            .slice(next + 1, next + 1 + MAX_DIFF_CHARS)
            .split("\n")
            .slice(0, CONTEXT_LINES);
    hunks.push(
      [
        `@@ line ${line} @@`,
        ...before.map((one) => ` ${one}`),
        ...`${head}${old}${tail}`.split("\n").map((one) => `-${one}`),
        ...`${head}${fresh}${tail}`.split("\n").map((one) => `+${one}`),
        ...after.map((one) => ` ${one}`),
      ].join("\n"),
    );
  }
  const more = places.length > MAX_HUNKS ? `\n… and ${places.length - MAX_HUNKS} more` : "";
  const diff = hunks.join("\n").replaceAll("\r", "");
  return (diff.length > MAX_DIFF_CHARS ? `${diff.slice(0, MAX_DIFF_CHARS)}\n…` : diff) + more;
}

function linesBefore(text: string, start: number): string[] {
  if (start === 0) return [];
  return text
    .slice(Math.max(0, start - 1 - MAX_DIFF_CHARS), start - 1)
    .split("\n")
    .slice(-CONTEXT_LINES);
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
