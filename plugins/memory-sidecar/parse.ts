import { isRecord } from "svc/sdk";

/** One hit as the engine prints it. */
export interface EngineHit {
  docid: string | undefined;
  score: number;
  /** `qmd://<collection>/<path>`. */
  file: string | undefined;
  collection: string | undefined;
  /** Best line of the passage. */
  line: number | undefined;
  startLine: number | undefined;
  endLine: number | undefined;
  snippet: string;
}

/** Lines and text of a hit. */
export interface HitText {
  startLine: number;
  endLine: number;
  text: string;
}

/**
 * Reads the answer to a search: the first balanced array on its output, whatever stands before it, or a line that says that nothing was found.
 * @returns undefined for any other output
 */
export function parseHits(output: string): EngineHit[] | undefined {
  for (const text of balancedArrays(output)) {
    const value = parseJson(text);
    if (Array.isArray(value) && value.every(isRecord)) return value.map(toHit);
  }
  return /^[^\S\n]*no results found\b/im.test(output) ? [] : undefined;
}

/** Balanced arrays of the output, first to last: a bracket in a log line is no answer, so the next one is tried. */
function* balancedArrays(output: string): Generator<string> {
  let budget = MAX_SCANNED_CHARS;
  for (let at = output.indexOf("["); at !== -1 && budget > 0; at = output.indexOf("[", at + 1)) {
    const end = endOfArray(output, at);
    budget -= (end ?? output.length) - at;
    if (end !== undefined) yield output.slice(at, end);
  }
}

/** Characters that are looked at, however many brackets there are; output has at most 200,000. */
const MAX_SCANNED_CHARS = 1_000_000;

function endOfArray(text: string, start: number): number | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isQuoted) {
      if (char === "\\") at++;
      else if (char === '"') isQuoted = false;
    } else if (char === '"') isQuoted = true;
    else if (char === "[" || char === "{") depth++;
    else if (char === "]" || char === "}") {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toHit(hit: Record<string, unknown>): EngineHit {
  return {
    docid: textOf(hit.docid),
    score: typeof hit.score === "number" && Number.isFinite(hit.score) ? Math.min(1, Math.max(0, hit.score)) : 0,
    file: textOf(hit.file),
    collection: textOf(hit.collection),
    line: lineOf(hit.line),
    startLine: lineOf(hit.start_line),
    endLine: lineOf(hit.end_line),
    snippet: textOf(hit.snippet) ?? textOf(hit.body) ?? "",
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function lineOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 ? value : undefined;
}

/** Lines of a hit: its own range first, then the header of its snippet, which is no part of the text, then the best line, then the beginning. Pure. */
export function hitText({ snippet, line, startLine, endLine }: EngineHit): HitText {
  const [header = "", first, count] = /^@@ -(\d{1,9}),(\d{1,9}) @@[^\n]*\n?/.exec(snippet) ?? [];
  const text = snippet.slice(header.length);
  const shown = first === undefined ? Math.max(1, text.trimEnd().split("\n").length) : Math.max(1, Number(count));
  const start = startLine ?? (first === undefined ? (line ?? 1) : Math.max(1, Number(first)));
  return { startLine: start, endLine: Math.max(start, endLine ?? start + shown - 1), text };
}

/** Names of collections by `collection list`, which prints text whatever it is asked for. */
export function parseCollectionNames(output: string): string[] {
  return [...output.matchAll(/^(\S+) \([a-z]+:\/\/[^\s)]*\)/gm)].map(([, name]) => name as string);
}

/** Folder and pattern by `collection show`; undefined for other output. */
export function parseCollection(output: string): { root: string; pattern: string } | undefined {
  const field = (name: string) => lineValue(output, name);
  const root = field("Path");
  const pattern = field("Pattern") ?? field("Mask");
  return root === undefined || pattern === undefined ? undefined : { root, pattern };
}

/** Figures of `status`; those that it does not tell are undefined. */
export function parseStatus(output: string): { files: number | undefined; vectors: number | undefined; pending: number | undefined } {
  const figure = (name: string) => {
    const number = /^\d{1,12}/.exec((lineValue(output, name) ?? "").replaceAll(",", ""))?.[0];
    return number === undefined ? undefined : Number(number);
  };
  return { files: figure("Total"), vectors: figure("Vectors"), pending: figure("Pending") };
}

function lineValue(output: string, name: string): string | undefined {
  for (const line of output.split("\n")) {
    const text = line.trim();
    if (text.startsWith(`${name}:`)) return text.slice(name.length + 1).trim();
  }
  return undefined;
}

/** Name of the other collection that a refused `collection add` tells; undefined when it was refused for another reason. */
export function sameFolderName(output: string): string | undefined {
  if (!/already exists for this path and pattern/i.test(output)) return undefined;
  return /^[^\S\n]*Name: ?(\S+)/m.exec(output)?.[1]?.replace(/^['"]|['"]$/g, "") ?? "";
}
