import { openStyles } from "./rendered-text.ts";

/** Bytes of text in one message, whatever the server allows: other clients and relays add to it. */
export const MAX_TEXT_BYTES = 350;
/** Lines of one message above which neighbours are joined: every line costs a place in the server's flood limit. */
const MAX_LINES = 20;
const JOINT = " | ";

/**
 * Messages that a text becomes: one for each line, and more where a line is longer than `maxBytes`. Nothing is cut inside a character as people see it, words
 * only where there is no blank, and no byte is lost but those of empty lines. The end of a line, and what would be a request between clients, is not in them.
 */
export function splitText(text: string, maxBytes: number): string[] {
  const lines = text
    .replace(/\r\n?/g, "\n")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL ends a line on some servers, and 0x01 makes it a request
    .replace(/[\0\u0001]/g, "")
    .replace(/\p{Cs}/gu, "\uFFFD")
    .split("\n")
    .filter((line) => !isEmpty(line));
  return joined(lines, maxBytes).flatMap((line) => splitLine(line, maxBytes));
}

/** True for a line with nothing on it but blanks, or the marks of an empty quotation. */
function isEmpty(line: string): boolean {
  return /^[>\s]*$/.test(line);
}

function joined(lines: string[], maxBytes: number): string[] {
  if (lines.length <= MAX_LINES) return lines;
  const fewer: string[] = [];
  for (const line of lines) {
    const together = `${fewer.at(-1)}${JOINT}${line}`;
    if (fewer.length > 0 && Buffer.byteLength(together) <= maxBytes) fewer[fewer.length - 1] = together;
    else fewer.push(line);
  }
  return fewer;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function splitLine(line: string, maxBytes: number): string[] {
  if (Buffer.byteLength(line) <= maxBytes) return [line];
  const chunks: string[] = [];
  let chunk = "";
  let bytes = 0;
  /** Where the chunk may end: behind its last blank, unless that is in its first half. */
  let blank = 0;
  const flush = () => {
    const end = blank > chunk.length / 2 ? blank : chunk.length;
    chunks.push(chunk.slice(0, end));
    chunk = openStyles(chunk.slice(0, end)) + chunk.slice(end);
    bytes = Buffer.byteLength(chunk);
    blank = 0;
  };
  for (const piece of pieces(line, maxBytes)) {
    const size = Buffer.byteLength(piece);
    if (bytes + size > maxBytes) flush();
    // The text after the blank and the piece may still be too long together.
    if (bytes + size > maxBytes) flush();
    chunk += piece;
    bytes += size;
    if (piece === " ") blank = chunk.length;
  }
  return [...chunks, chunk];
}

/** Characters as people see them; one that is larger than a message comes in code points. */
function* pieces(line: string, maxBytes: number): Generator<string> {
  for (const { segment } of graphemes.segment(line)) {
    if (Buffer.byteLength(segment) <= maxBytes / 2) yield segment;
    else yield* segment;
  }
}
