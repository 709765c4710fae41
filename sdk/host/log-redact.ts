import { createContext, Script } from "node:vm";
import { isSensitiveName } from "../config/sensitive-name.ts";

const MASK = "[redacted]";
const MIN_SECRET_CHARS = 6;
const MAX_DEPTH = 6;
/** Longest time of one of the two tries that an operator's patterns have for one record; the check of the config refuses the worst ones, not every slow one. */
const PATTERNS_LIMIT_MS = 8;

type Replace = (text: string) => string;

/** Takes secrets out of what is logged. */
export interface Redactor {
  /** A value that must never be printed from now on; a short one is ignored because it would blank ordinary words. */
  addSecret(value: string | undefined): void;
  /** Regular expressions of the operator (`logging.redactPatterns`), asked for at each record; one that is none is left out. */
  usePatterns(patterns: () => readonly string[]): void;
  /** The record's texts without secrets. Never throws: what the patterns take too long for is masked whole. */
  redact<T>(message: string, fields: T): { message: string; fields: T };
}

/** A redactor that knows no secret yet, but the names and forms that secrets usually have. */
export function createRedactor(): Redactor {
  let secrets: string[] = [];
  let patterns: () => readonly string[] = () => [];
  const compiledOf = compileOnce();

  const known: Replace = (text) => {
    let out = text;
    for (const secret of secrets) out = out.replaceAll(secret, MASK);
    return out.replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${MASK}`);
  };

  return {
    addSecret(value) {
      if (!value || value.length < MIN_SECRET_CHARS) return;
      // Longest first: replacing one must not leave the rest of another that begins like it.
      secrets = [...new Set([...secrets, value])].sort((a, b) => b.length - a.length);
    },
    usePatterns(next) {
      patterns = next;
    },
    redact<T>(message: string, fields: T) {
      const clean = { message: known(message), fields: redactValue(fields, known, 0) as T };
      const own = compiledOf(patterns());
      if (own.length === 0) return clean;
      const masked: Replace = (text) => own.reduce((out, pattern) => out.replace(pattern, (found) => (found === "" ? "" : MASK)), text);
      const all = (replace: Replace) => ({ message: replace(clean.message), fields: redactValue(clean.fields, replace, 0) as T });
      // Twice: on a busy machine the limit may pass while the patterns were not even running.
      return withinLimit(() => all(masked)) ?? withinLimit(() => all(masked)) ?? all(() => MASK);
    },
  };
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

/** What the job returns, or undefined when it was stopped: a watched script is the only way to interrupt a regular expression. */
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

function redactValue(value: unknown, replace: Replace, depth: number): unknown {
  if (typeof value === "string") return replace(value);
  if (value instanceof Error) return replace(value.stack ?? value.message);
  if (typeof value === "bigint") return String(value); // JSON has none, and a log call never throws
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "[too deep]";
  if (Array.isArray(value)) return value.slice(0, 100).map((v) => redactValue(v, replace, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => {
      const holdsText = typeof v === "string" || (typeof v === "object" && v !== null);
      return [k, holdsText && isSensitiveName(k) ? MASK : redactValue(v, replace, depth + 1)];
    }),
  );
}
