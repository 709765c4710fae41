import { setImmediate as nextTurn } from "node:timers/promises";
import { createContext, Script } from "node:vm";
import { isSensitiveName } from "../../sdk/config/sensitive-name.ts";
import { messageOf } from "../../sdk/errors.ts";

const MASK = "[redacted]";
const MIN_SECRET_CHARS = 6;
const MAX_DEPTH = 6;
/** Maximum number of values taken over from the fields of one record; an object that leads back to itself would have no end. */
const MAX_VALUES = 1_000;
/** Maximum length of one text of a record; a log line is shorter. */
const MAX_TEXT_CHARS = 65_536;
/** Longest time of one try that an operator's patterns have for one record; the check of the config refuses the worst ones, not every slow one. */
const PATTERNS_LIMIT_MS = 8;
/** CPU time of all tries for one record. On a busy machine a try may end before its patterns have run at all, and says nothing about them. */
const PATTERNS_CPU_MS = 12;
const MAX_PATTERN_TRIES = 10;
/** Length of the pieces in which patterns see a long text. */
const PIECE_CHARS = 16_384;
/** Length of what they see on both sides of a piece; a longer find across an end is masked as far as it is seen. */
const BESIDE_CHARS = 1_024;

type Replace = (text: string) => string;

/** Takes secrets out of what is logged. */
export interface Redactor {
  /** A value that must never be printed from now on; a short one is ignored because it would blank ordinary words. */
  addSecret(value: string | undefined): void;
  /** Regular expressions of the operator (`logging.redactPatterns`), asked for at each record; one that is none is left out. */
  usePatterns(patterns: () => readonly string[]): void;
  /** The record's texts without secrets. Never throws: what the patterns take too long for is masked whole. */
  redact<T>(message: string, fields: T): { message: string; fields: T };
  /** A text of any length without secrets. Patterns see it in pieces that end with a line; a piece they take too long for is masked whole. */
  redactText(text: string): Promise<string>;
}

/** A redactor that knows no secret yet, but the names and forms that secrets usually have. */
export function createRedactor(): Redactor {
  let secrets: string[] = [];
  let patterns: () => readonly string[] = () => [];
  const compiledOf = compileOnce();

  const masked: Replace = (text) => {
    let out = text;
    for (const secret of secrets) out = out.replaceAll(secret, MASK);
    return out.replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${MASK}`);
  };
  const known: Replace = (text) => {
    if (text.length <= MAX_TEXT_CHARS) return masked(text);
    // A secret that the cut goes through would not be recognised: as much as the longest one goes with the rest.
    const margin = secrets[0]?.length ?? 0;
    const kept = masked(text.slice(0, MAX_TEXT_CHARS + margin));
    return `${kept.slice(0, kept.length - margin)} …`;
  };

  return {
    addSecret(value) {
      if (!value || value.length < MIN_SECRET_CHARS) return;
      // Longest first: replacing one must not leave the rest of another that begins like it.
      secrets = [...new Set([...secrets, ...formsOf(value)])].sort((a, b) => b.length - a.length);
    },
    usePatterns(next) {
      patterns = next;
    },
    redact<T>(message: string, fields: T) {
      const clean = { message: known(message), fields: redactAll(fields, known) as T };
      const own = compiledOf(patterns());
      if (own.length === 0) return clean;
      const byPattern = replacing(own);
      const all = (replace: Replace) => ({ message: replace(clean.message), fields: redactAll(clean.fields, replace) as T });
      return withinLimits(() => all(byPattern)) ?? all(() => MASK);
    },
    async redactText(text) {
      const clean = masked(text);
      const own = compiledOf(patterns());
      if (own.length === 0) return clean;
      const spans: Span[] = [];
      for (const { from, to, seen } of piecesOf(clean)) {
        const found = withinLimits(() => spansIn(own, seen.text).map(([start, end]): Span => [start + seen.from, end + seen.from]));
        // A find that begins and ends beyond the piece is one of the pieces beside it.
        spans.push(...(found ?? [[from, to] as const]).filter(([start, end]) => start < to && end > from));
        await nextTurn();
      }
      return withoutSpans(clean, spans);
    },
  };
}

function replacing(patterns: readonly RegExp[]): Replace {
  return (text) => patterns.reduce((out, pattern) => out.replace(pattern, (found) => (found === "" ? "" : MASK)), text);
}

/** A secret as it is, and as JSON has it once and twice: other forms only where a quote, a backslash or a control character is in it. */
function formsOf(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, JSON.stringify(escaped).slice(1, -1)];
}

/** Place in a text, its end not included. */
type Span = readonly [start: number, end: number];

interface Piece {
  from: number;
  to: number;
  /** The piece with some of what is beside it: a find may lie across its ends. */
  seen: { from: number; text: string };
}

/** Pieces of about the same length that end with a line, where there is one. */
function* piecesOf(text: string): Generator<Piece> {
  for (let from = 0; from < text.length; ) {
    const line = text.indexOf("\n", from + PIECE_CHARS);
    const to = line < 0 || line > from + 2 * PIECE_CHARS ? Math.min(text.length, from + 2 * PIECE_CHARS) : line + 1;
    const start = Math.max(0, from - BESIDE_CHARS);
    yield { from, to, seen: { from: start, text: text.slice(start, to + BESIDE_CHARS) } };
    from = to;
  }
}

/** Finds of each pattern by itself. */
function spansIn(patterns: readonly RegExp[], text: string): Span[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(({ 0: found, index }): Span[] => (found === "" ? [] : [[index, index + found.length]])),
  );
}

/** A text with a mask in place of each span; those that lie across each other are one. */
function withoutSpans(text: string, spans: readonly Span[]): string {
  let out = "";
  let at = 0;
  for (const [start, end] of [...spans].sort(([a], [b]) => a - b)) {
    if (start >= at) out += text.slice(at, start) + MASK;
    at = Math.max(at, end);
  }
  return out + text.slice(at);
}

/** The same list is compiled once; the config hands out the same one until it changes. */
function compileOnce(): (patterns: readonly string[]) => RegExp[] {
  let last: readonly string[] = [];
  let compiled: RegExp[] = [];
  return (patterns) => {
    if (patterns !== last) compiled = patterns.flatMap(compile);
    last = patterns;
    return compiled;
  };
}

function compile(pattern: string): RegExp[] {
  try {
    return [new RegExp(pattern, "gu")];
  } catch {
    return []; // the config is checked before it is in force
  }
}

const room = createContext({ job: undefined as (() => unknown) | undefined });
const runJob = new Script("job()");

/** Tries a job until it is done or has had its CPU time; returns undefined then. */
function withinLimits<T>(job: () => T): T | undefined {
  const start = process.cpuUsage();
  for (let tries = 0; tries < MAX_PATTERN_TRIES; tries++) {
    const done = withinLimit(job);
    if (done !== undefined) return done;
    const { user, system } = process.cpuUsage(start);
    if ((user + system) / 1_000 >= PATTERNS_CPU_MS) return undefined;
  }
  return undefined;
}

/** Runs a job and returns undefined when it was stopped: a watched script is the only way to interrupt a regular expression. */
function withinLimit<T>(job: () => T): T | undefined {
  room.job = job;
  try {
    return runJob.runInContext(room, { timeout: PATTERNS_LIMIT_MS }) as T;
  } catch {
    return undefined;
  } finally {
    room.job = undefined;
  }
}

interface Walk {
  replace: Replace;
  /** Number of values that may still be taken over. */
  left: number;
  /** Objects that the present value is part of. */
  inside: Set<object>;
}

function redactAll(value: unknown, replace: Replace): unknown {
  return redactValue(value, { replace, left: MAX_VALUES, inside: new Set() });
}

/** A plain copy without secrets. Reading a foreign value may throw: such a value is named instead. */
function redactValue(value: unknown, walk: Walk): unknown {
  walk.left -= 1;
  if (walk.left < 0) return "[too much]";
  try {
    return redactedCopy(value, walk);
  } catch {
    return "[unreadable]";
  }
}

function redactedCopy(value: unknown, walk: Walk): unknown {
  const { replace, inside } = walk;
  if (typeof value === "string") return replace(value);
  if (typeof value === "bigint") return String(value); // JSON has none, and a log call never throws
  if (typeof value === "function" || typeof value === "symbol") return undefined; // a `toJSON` among them would be called later
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`; // each byte would be a member
  if (value instanceof Error) return replace(typeof value.stack === "string" ? value.stack : messageOf(value));
  if (inside.has(value)) return "[circular]";
  if (inside.size > MAX_DEPTH) return "[too deep]";
  inside.add(value);
  try {
    if (Array.isArray(value)) return value.slice(0, 100).map((member) => redactValue(member, walk));
    return redactMembers(value as Record<string, unknown>, walk);
  } finally {
    inside.delete(value);
  }
}

function redactMembers(value: Record<string, unknown>, walk: Walk): Record<string, unknown> {
  const entries: Array<[string, unknown]> = [];
  for (const key of Object.keys(value)) {
    if (walk.left <= 0) {
      entries.push(["…", "[too much]"]);
      break;
    }
    entries.push([key, redactMember(value, key, walk)]);
  }
  return Object.fromEntries(entries);
}

function redactMember(value: Record<string, unknown>, key: string, walk: Walk): unknown {
  try {
    const member = value[key];
    const holdsText = typeof member === "string" || (typeof member === "object" && member !== null);
    return holdsText && isSensitiveName(key) ? MASK : redactValue(member, walk);
  } catch {
    return "[unreadable]";
  }
}
