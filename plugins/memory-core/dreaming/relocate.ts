import { wordsOf } from "./similarity.ts";
import { plainLine, type Snippet, snippetOf, snippetsOf } from "./snippets.ts";

/** Place of a statement as the store knows it. */
export interface Remembered {
  startLine: number;
  endLine: number;
  snippet: string;
}

const MIN_WINDOW = 8;
/** Part of a statement's words that must still be there for a window inside of it to count. */
const MIN_SHARE = 0.5;

interface Found extends Snippet {
  /** 0: the same text, 1: in a longer one, 2: what is left of it. */
  kind: 0 | 1 | 2;
  words: number;
  distance: number;
}

/**
 * Finds a statement in the note as it is now: on its lines, else in the nearest window of lines that equals it, contains it, or is a larger part of it. Undefined when
 * it is gone: then it was taken back, and is not to be remembered. Pure, linear in the note.
 */
export function relocate(note: string, remembered: Remembered): Snippet | undefined {
  const lines = note.split("\n").map((line) => line.replace(/\r$/, ""));
  const wanted = joined(remembered.snippet);
  if (wanted === "") return undefined;
  // Statements carry their heading; plain windows of lines do not.
  const stated = snippetsOf(note).find((one) => one.startLine === remembered.startLine && joined(one.text) === wanted);
  if (stated) return stated;
  let best: Found | undefined;
  const consider = (snippet: Snippet) => {
    const found = judge(snippet, { ...remembered, wanted });
    if (found && (!best || isBetter(found, best))) best = found;
  };
  for (const snippet of snippetsOf(note)) consider(snippet);
  if (!best || best.kind === 2) for (const snippet of windows(lines, wanted, remembered)) consider(snippet);
  if (!best) return undefined;
  const { startLine, endLine, text, isUntrusted } = best;
  return { startLine, endLine, text, isUntrusted };
}

/** Finds a message in its file of the corpus, where each has a line of its own. Pure. */
export function relocateLine(corpus: string, remembered: Remembered & { ref?: string }): Snippet | undefined {
  const lines = corpus.split("\n");
  const wanted = joined(remembered.snippet);
  const at = lines.findIndex(
    (line) => (remembered.ref === undefined || line.startsWith(`[${remembered.ref}] `)) && joined(plainLine(line)).startsWith(wanted),
  );
  return at < 0 || wanted === "" ? undefined : snippetOf(lines, { startLine: at + 1, endLine: at + 1 });
}

function judge(snippet: Snippet, { startLine, wanted }: Remembered & { wanted: string }): Found | undefined {
  const text = joined(snippet.text);
  if (text === "") return undefined;
  const distance = Math.abs(snippet.startLine - startLine);
  const words = text.split(" ").length;
  if (text === wanted) return { ...snippet, kind: 0, words, distance };
  if (` ${text} `.includes(` ${wanted} `)) return { ...snippet, kind: 1, words, distance };
  const isRest = ` ${wanted} `.includes(` ${text} `) && words >= MIN_SHARE * wanted.split(" ").length;
  return isRest ? { ...snippet, kind: 2, words, distance } : undefined;
}

/** The same text before a longer one before a rest; of rests the longest, of longer ones the shortest; then the nearest. */
function isBetter(a: Found, b: Found): boolean {
  if (a.kind !== b.kind) return a.kind < b.kind;
  if (a.words !== b.words && a.kind !== 0) return a.kind === 2 ? a.words > b.words : a.words < b.words;
  return a.distance < b.distance;
}

/** Windows of whole lines whose first line is mostly of the statement's words; others hardly match, and a long note has too many of them. */
function* windows(lines: readonly string[], wanted: string, { startLine, endLine }: Remembered): Generator<Snippet> {
  const size = Math.max(endLine - startLine + 1 + 3, MIN_WINDOW);
  const words = new Set(wanted.split(" "));
  for (let from = 1; from <= lines.length; from += 1) {
    const first = wordsOf((lines[from - 1] ?? "").slice(0, 400));
    if (first.length === 0 || first.filter((word) => words.has(word)).length < first.length / 2) continue;
    for (let to = from; to <= Math.min(lines.length, from + size - 1); to += 1) {
      if ((lines[to - 1] ?? "").trim() === "") break; // a statement has no blank line
      const snippet = snippetOf(lines, { startLine: from, endLine: to });
      if (snippet) yield snippet;
    }
  }
}

/** Words of a text with single spaces; a text that was cut lacks its last word, which may be half of one. */
function joined(text: string): string {
  const words = wordsOf(text);
  return (text.endsWith("…") ? words.slice(0, -1) : words).join(" ");
}
