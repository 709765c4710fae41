import type { MarkdownIR, RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

const STYLES: Readonly<Partial<Record<Span["kind"], string>>> = {
  bold: "BOLD",
  heading: "BOLD",
  italic: "ITALIC",
  strike: "STRIKETHROUGH",
  code: "MONOSPACE",
  codeBlock: "MONOSPACE",
};

/**
 * Text in the form of Signal: styles stand beside it as `start:length:STYLE` in UTF-16 code units (`entities`), a link has its address behind it, a quotation `>`
 * before each line.
 */
export function renderText({ text, spans }: MarkdownIR): RenderedText {
  const insertions = new Map<number, string>();
  const insert = (at: number, what: string) => void insertions.set(at, (insertions.get(at) ?? "") + what);
  for (const span of spans) {
    const shown = text.slice(span.start, span.end);
    if (span.kind === "link" && span.href !== undefined && span.href !== shown) insert(span.end, ` (${span.href.replace(/\s/g, "%20")})`);
    if (span.kind === "quote") for (const start of linesOf(text, span)) insert(start, "> ");
  }
  const offsets = [...insertions.keys()].toSorted((a, b) => a - b);
  let rendered = "";
  let done = 0;
  for (const at of offsets) {
    rendered += text.slice(done, at) + insertions.get(at);
    done = at;
  }
  const shifts = shiftsOf(offsets, insertions);
  // An insertion at the place itself comes before a span that begins there, and after one that ends there.
  const moved = (offset: number, isStart: boolean) => offset + (shifts[countBelow(offsets, isStart ? offset + 1 : offset)] ?? 0);
  const entities = spans.flatMap(({ kind, start, end }) => {
    const [from, to] = [moved(start, true), moved(end, false)];
    return STYLES[kind] !== undefined && to > from ? [`${from}:${to - from}:${STYLES[kind]}`] : [];
  });
  return { text: rendered + text.slice(done), ...(entities.length > 0 ? { entities } : {}) };
}

function linesOf(text: string, { start, end }: Span): number[] {
  const starts = [start];
  for (let at = text.indexOf("\n", start); at >= 0 && at + 1 < end; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Characters that the first n insertions add, for each n. */
function shiftsOf(offsets: readonly number[], insertions: ReadonlyMap<number, string>): number[] {
  const shifts = [0];
  for (const [n, at] of offsets.entries()) shifts.push((shifts[n] ?? 0) + (insertions.get(at)?.length ?? 0));
  return shifts;
}

/** Number of sorted offsets below a bound. */
function countBelow(offsets: readonly number[], bound: number): number {
  let [low, high] = [0, offsets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
