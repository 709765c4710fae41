import { z } from "zod";
import type { Locate } from "./place.ts";

/** One thing wrong with a config file. Values of sensitive keys are never in it. */
export interface ConfigIssue {
  path: string;
  code: "parse" | "unknown_key" | "invalid_type" | "invalid_value" | "too_small" | "too_big" | "conflict" | "plugin_config";
  message: string;
  got?: unknown;
  allowed?: unknown[];
  hint?: string;
  file: string;
  line: number;
  column: number;
}

/** `svc.json:4:12  gateway.bind: expected …` and an indented hint. */
export function formatIssue(issue: ConfigIssue): string {
  const head = `${issue.file}:${issue.line}:${issue.column}  ${issue.path ? `${issue.path}: ` : ""}${issue.message}`;
  return issue.hint ? `${head}\n  hint: ${issue.hint}` : head;
}

/** What the issues are about. */
export interface IssueSource {
  /** Name shown before line and column. */
  file: string;
  value: unknown;
  schema: z.ZodType;
  locate: Locate;
  /** Path of `value` inside the file. */
  base?: PropertyKey[];
}

interface ZodIssueLike {
  code: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  values?: unknown[];
  expected?: string;
  minimum?: number;
  maximum?: number;
  errors?: ZodIssueLike[][];
}

/** Turns zod's issues into ours: one per unknown key, with place, hint and the value found, in the order of the file. */
export function toConfigIssues(error: { issues: ReadonlyArray<unknown> }, source: IssueSource): ConfigIssue[] {
  const base = source.base ?? [];
  const issues = (error.issues as ZodIssueLike[]).flatMap((issue) => {
    const flat = issue.code === "invalid_union" ? mostSpecific(issue) : issue;
    if (flat.code === "unrecognized_keys") return (flat.keys ?? []).map((key) => unknownKey(key, flat, source, base));
    return [invalidValue(flat, source, base)];
  });
  return issues.sort((a, b) => a.line - b.line || a.column - b.column);
}

function unknownKey(key: string, issue: ZodIssueLike, source: IssueSource, base: PropertyKey[]): ConfigIssue {
  const full = [...base, ...issue.path, key];
  const known = keysAt(source.schema, issue.path);
  const near = nearest(key, known);
  return {
    path: full.join("."),
    code: "unknown_key",
    message: `unknown key "${key}"${known.length > 0 && !near ? `; known here: ${known.join(", ")}` : ""}`,
    ...(near ? { hint: `did you mean "${near}"?` } : {}),
    file: source.file,
    ...source.locate(full, "key"),
  };
}

function invalidValue(issue: ZodIssueLike, source: IssueSource, base: PropertyKey[]): ConfigIssue {
  const full = [...base, ...issue.path];
  const got = valueAt(source.value, issue.path);
  // What stands in the place of a section may be a secret that was written one level too high.
  const sensitive = isSensitive(source.schema, issue.path) || holdsSecrets(schemaAt(source.schema, issue.path));
  const allowed = issue.values;
  const expectation = allowed
    ? `expected one of ${allowed.join(", ")}`
    : issue.message.replace(/^(Invalid input: |Too small: |Too big: )/, "");
  const hint = hintFor(full.join("."), got);
  return {
    path: full.join("."),
    code: codeOf(issue.code),
    message: `${expectation}${got === undefined || sensitive ? "" : `, got ${shown(got)}`}`,
    ...(got === undefined || sensitive ? {} : { got }),
    ...(allowed ? { allowed } : {}),
    ...(hint ? { hint } : {}),
    file: source.file,
    ...source.locate(full),
  };
}

/** Of a union's alternatives the one whose problem lies deepest: that is the one the author meant. */
function mostSpecific(issue: ZodIssueLike): ZodIssueLike {
  const branches = (issue.errors ?? []).map((b) => b[0]).filter((b): b is ZodIssueLike => b !== undefined);
  const deepest = branches.sort((a, b) => b.path.length - a.path.length)[0];
  if (!deepest || deepest.path.length === 0)
    return { ...issue, message: branches.map((b) => b.message.replace(/^Invalid input: /, "")).join(" or ") || issue.message };
  return { ...deepest, path: [...issue.path, ...deepest.path] };
}

function codeOf(code: string): ConfigIssue["code"] {
  if (code === "invalid_type" || code === "too_small" || code === "too_big") return code;
  return "invalid_value";
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

const bindHints: Record<string, string> = {
  "0.0.0.0": "lan",
  "::": "lan",
  "127.0.0.1": "loopback",
  localhost: "loopback",
  "::1": "loopback",
};

function hintFor(path: string, got: unknown): string | undefined {
  if (path === "gateway.bind" && typeof got === "string") {
    const mode = bindHints[got] ?? (/^\d+\.\d+\.\d+\.\d+$/.test(got) ? "custom" : undefined);
    if (mode) return mode === "custom" ? `use bind mode "custom" with gateway.customBindHost` : `${got} is bind mode "${mode}"`;
  }
  if (typeof got === "string" && got.trim() !== "" && Number.isFinite(Number(got))) return "write the number without quotes";
  return undefined;
}

/** The schema at a path, through optionals, defaults and records. */
function schemaAt(schema: z.ZodType, path: ReadonlyArray<PropertyKey>): z.ZodType | undefined {
  let node: unknown = schema;
  for (const part of path) {
    node = child(unwrap(node), part);
    if (!node) return undefined;
  }
  return unwrap(node) as z.ZodType;
}

function unwrap(node: unknown): unknown {
  let at = node as { def?: { type?: string; innerType?: unknown; in?: unknown } } | undefined;
  while (at?.def && (at.def.innerType || at.def.type === "pipe")) at = (at.def.innerType ?? at.def.in) as typeof at;
  return at;
}

function child(node: unknown, part: PropertyKey): unknown {
  const def = (
    node as
      | { def?: { type?: string; shape?: Record<string, unknown>; element?: unknown; valueType?: unknown; options?: unknown[] } }
      | undefined
  )?.def;
  if (def?.type === "object") return def.shape?.[String(part)];
  if (def?.type === "array") return def.element;
  if (def?.type === "record") return def.valueType;
  if (def?.type === "union") return def.options?.map((o) => child(unwrap(o), part)).find(Boolean);
  return undefined;
}

function keysAt(schema: z.ZodType, path: ReadonlyArray<PropertyKey>): string[] {
  const def = (schemaAt(schema, path) as unknown as { def?: { shape?: Record<string, unknown> } } | undefined)?.def;
  return Object.keys(def?.shape ?? {});
}

function isSensitive(schema: z.ZodType, path: ReadonlyArray<PropertyKey>): boolean {
  let node: unknown = schema;
  for (const part of path) {
    node = child(unwrap(node), part);
    if (marked(node)) return true;
  }
  return false;
}

/** Does a section have a sensitive key somewhere below? */
function holdsSecrets(schema: unknown): boolean {
  const node = unwrap(schema) as
    | { def?: { shape?: Record<string, unknown>; element?: unknown; valueType?: unknown; options?: unknown[] } }
    | undefined;
  const { shape, element, valueType, options } = node?.def ?? {};
  const below = [...Object.values(shape ?? {}), element, valueType, ...(options ?? [])].filter(Boolean);
  return below.some((child) => marked(child) || holdsSecrets(child));
}

/** Is this very node, or what it wraps, marked as sensitive? */
function marked(node: unknown): boolean {
  for (
    let at = node as { def?: { innerType?: unknown; in?: unknown; type?: string } } | undefined;
    at?.def;
    at = (at.def.innerType ?? (at.def.type === "pipe" ? at.def.in : undefined)) as typeof at
  ) {
    if (z.globalRegistry.get(at as unknown as z.ZodType)?.sensitive === true) return true;
  }
  return false;
}

function valueAt(value: unknown, path: ReadonlyArray<PropertyKey>): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | undefined)?.[part], value);
}

/** Nearest word by Levenshtein distance ≤ 2. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const ranked = words.map((w) => ({ w, d: distance(word.toLowerCase(), w.toLowerCase()) })).sort((a, b) => a.d - b.d);
  return ranked[0] && ranked[0].d <= 2 ? ranked[0].w : undefined;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, swap));
    }
    row = next;
  }
  return row[b.length] as number;
}
