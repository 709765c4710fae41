import type { ToolResult } from "svc/sdk";
import { cutFramedAt } from "svc/sdk/internal";
import { textTokens } from "./tokens.ts";

/** Longest result of a tool, however large the window is. */
const MAX_LINES = 2_000;
const MAX_BYTES = 50 * 1_024;
/** Parts of the budget that one result, and those of one turn together, may take. */
const PART_OF_RESULT = 0.25;
const PART_OF_TURN = 0.5;
/** Part of a cut result that is its beginning; what a program prints ends with what matters. */
const HEAD = 0.6;
const OUTPUT_HEAD = 0.4;
/** The rest of a line is left out with it when the line is no longer than this. */
const WHOLE_LINE_CHARS = 500;
/** Least text of a result that its turn has no room for. */
const LEAST_BYTES = 600;
const BYTES_PER_TOKEN = 3;

const outputTools = new Set(["exec", "process"]);

/** A call whose result is to be cut. */
export interface Clamped {
  name: string;
  args: unknown;
  /** The tool reads on from a line that the argument `offset` names. */
  hasOffset: boolean;
}

/** Cuts the results of one turn, each once, before they are stored. */
export class ResultClamp {
  readonly #maxTokens: number;
  #left: number;

  /** @param room tokens that the messages of a request may take */
  constructor(room: number) {
    this.#maxTokens = Math.floor(room * PART_OF_RESULT);
    this.#left = Math.floor(room * PART_OF_TURN);
  }

  clamp(result: ToolResult, call: Clamped): ToolResult {
    const content = result.content.map((block) => {
      if (block.type !== "text") return block;
      const text = clampText(block.text, Math.min(this.#maxTokens, Math.max(0, this.#left)), call);
      this.#left -= textTokens(text);
      return { ...block, text };
    });
    return { ...result, content };
  }
}

/** Beginning and end of a text that is too long, with a note between them: the sizes, and how to read the rest. Pure. */
export function clampText(text: string, maxTokens: number, call: Clamped): string {
  const bytes = Buffer.byteLength(text);
  const tokens = textTokens(text);
  const lines = lineStarts(text);
  // Encoded data take more tokens for their bytes.
  const perToken = Math.min(BYTES_PER_TOKEN, bytes / Math.max(1, tokens));
  const maxBytes = Math.max(LEAST_BYTES, Math.min(MAX_BYTES, Math.floor(maxTokens * perToken)));
  if (bytes <= maxBytes && lines.length <= MAX_LINES) return text;
  const part = outputTools.has(call.name) ? OUTPUT_HEAD : HEAD;
  const chars = Math.min(text.length, Math.floor((maxBytes / bytes) * text.length));
  const fewLines = { head: lines[Math.floor(MAX_LINES * part)], tail: lines[lines.length - Math.ceil(MAX_LINES * (1 - part))] };
  const isLong = lines.length > MAX_LINES;
  const head = atLine(text, Math.min(Math.floor(chars * part), (isLong ? fewLines.head : undefined) ?? text.length), "end");
  const tail = atLine(text, Math.max(text.length - Math.floor(chars * (1 - part)), (isLong ? fewLines.tail : undefined) ?? 0), "start");
  const shownLines = lines.findLastIndex((start) => start <= head) + (text[head - 1] === "\n" ? 0 : 1);
  return cutFramedAt(text, { head, tail: Math.max(head, tail) }, (left) =>
    noteOf({ text, bytes, lines: lines.length, left, shownLines }, call),
  );
}

function noteOf(
  { text, bytes, lines, left, shownLines }: { text: string; bytes: number; lines: number; left: number; shownLines: number },
  { args, hasOffset }: Clamped,
): string {
  const leftBytes = Math.round((left / text.length) * bytes);
  const first = typeof args === "object" && args !== null && "offset" in args && typeof args.offset === "number" ? args.offset : 1;
  const more = hasOffset ? `use offset=${first + shownLines} to read on` : "ask for a smaller part to read the rest";
  return `\n[… ${sizeOf(leftBytes)} of ${sizeOf(bytes)} and ${lines} ${lines === 1 ? "line" : "lines"} left out; ${more} …]\n`;
}

function sizeOf(bytes: number): string {
  return bytes < 1_024 ? `${bytes} bytes` : `${Math.round(bytes / 1_024)} KB`;
}

/** Place where each line begins. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The nearest start of a line that keeps no more text. */
function atLine(text: string, place: number, which: "start" | "end"): number {
  if (which === "end") {
    const start = text.lastIndexOf("\n", place - 1) + 1;
    return start > 0 && place - start <= WHOLE_LINE_CHARS ? start : place;
  }
  const next = text.indexOf("\n", Math.max(0, place - 1)) + 1;
  return next > 0 && next < text.length && next - place <= WHOLE_LINE_CHARS ? next : place;
}
