import type { z } from "zod";
import type { ConfigIssue, IssueCode } from "../../sdk/config/config-issue.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { childSchema, isOpenBody, knownKeys, schemaMeta, schemasBelow } from "../secrets/schema-walk.ts";
import type { Locate } from "./place.ts";

/** Source of the issues. */
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
  /** Allowed values of the key that tells the members of a union apart. */
  options?: unknown[];
  errors?: ZodIssueLike[][];
  /** Issues of a key that is not allowed. */
  issues?: ZodIssueLike[];
}

/** Issues of one file that are worked out, each with its place and its hint; of the others the number is said. */
const MAX_ISSUES = 100;

/** Turns zod's issues into ours: one per unknown key, with place, hint and the value found, in the order of the file. At most 101. */
export function toConfigIssues(error: { issues: ReadonlyArray<unknown> }, source: IssueSource): ConfigIssue[] {
  const base = source.base ?? [];
  const found = (error.issues as ZodIssueLike[]).flatMap(mostSpecific).flatMap((issue): Array<() => ConfigIssue> => {
    if (issue.code === "unrecognized_keys") return (issue.keys ?? []).map((key) => () => unknownKey(key, issue, source, base));
    if (issue.code === "invalid_key") return [() => invalidKey(issue, source, base)];
    return [() => invalidValue(issue, source, base)];
  });
  const issues = inFileOrder(
    found.slice(0, MAX_ISSUES).map((make) => make()),
    source.file,
  );
  const last = issues.at(-1);
  if (last && found.length > MAX_ISSUES) {
    const { code, file, line, column } = last;
    issues.push({
      path: "",
      code,
      message: `${found.length - MAX_ISSUES} more problems are not listed; correct these first`,
      file,
      line,
      column,
    });
  }
  return issues;
}

/** Issues in the order of the file: the main one first, then the included ones by name. */
export function inFileOrder(issues: readonly ConfigIssue[], mainFile: string): ConfigIssue[] {
  const rank = (issue: ConfigIssue) => (issue.file === mainFile ? "" : issue.file);
  return [...issues].sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0) || a.line - b.line || a.column - b.column);
}

function unknownKey(key: string, issue: ZodIssueLike, source: IssueSource, base: PropertyKey[]): ConfigIssue {
  const full = [...base, ...issue.path, key];
  const known = knownKeys(schemaAt(source.schema, issue.path));
  const near = nearest(key, known);
  return {
    path: full.join("."),
    code: isInSecret(source, issue.path) ? "secret_ref" : "unknown_key",
    message: `unknown key "${key}"${known.length > 0 && !near ? `; known here: ${known.join(", ")}` : ""}`,
    ...(near ? { hint: `did you mean "${near}"?` } : {}),
    file: source.file,
    ...source.locate(full, "key"),
  };
}

/** A key of a map that its names do not allow. */
function invalidKey(issue: ZodIssueLike, source: IssueSource, base: PropertyKey[]): ConfigIssue {
  const full = [...base, ...issue.path];
  const reason = issue.issues?.[0]?.message ?? "not allowed";
  return {
    path: full.join("."),
    code: "invalid_value",
    message: `key "${String(full.at(-1))}" is not valid: ${reason}`,
    file: source.file,
    ...source.locate(full, "key"),
  };
}

function invalidValue(issue: ZodIssueLike, source: IssueSource, base: PropertyKey[]): ConfigIssue {
  const full = [...base, ...issue.path];
  const got = valueAt(source.value, issue.path);
  // A value in the place of a section may be a secret that was written one level too high.
  const sensitive = isSensitive(source.schema, issue.path) || holdsSecrets(schemaAt(source.schema, issue.path));
  const allowed = issue.values;
  const expectation = allowed
    ? `expected one of ${allowed.join(", ")}`
    : issue.message.replace(/^(Invalid input: |Too small: |Too big: )/, "");
  const hint = hintFor(full.join("."), got);
  return {
    path: full.join("."),
    code: isInSecret(source, issue.path) ? "secret_ref" : codeOf(issue.code),
    message: `${expectation}${got === undefined || sensitive ? "" : `, got ${shown(got)}`}`,
    ...(got === undefined || sensitive ? {} : { got }),
    ...(allowed ? { allowed } : {}),
    ...(hint && !sensitive ? { hint } : {}),
    file: source.file,
    ...source.locate(full),
  };
}

/** Selects the issues of the union alternative that the author meant: not of another type altogether, and wrong deepest inside. */
function mostSpecific(issue: ZodIssueLike): ZodIssueLike[] {
  if (issue.code !== "invalid_union") return [issue];
  if (issue.options) return [{ ...issue, code: "invalid_value", values: issue.options }];
  const branches = (issue.errors ?? []).map((branch) => branch.flatMap(mostSpecific)).filter((branch) => branch.length > 0);
  const isOtherType = ([first]: ZodIssueLike[]) => first?.code === "invalid_type" && first.path.length === 0;
  const meant = branches.filter((branch) => !isOtherType(branch)).sort((a, b) => depthOf(b) - depthOf(a))[0];
  if (meant) return meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
  const own = issue.message === "Invalid input" ? "" : issue.message;
  const joined = branches.map((branch) => (branch[0] as ZodIssueLike).message.replace(/^Invalid input: /, "")).join(" or ");
  return [{ ...issue, code: "invalid_type", message: own || joined || issue.message }];
}

function depthOf(branch: ZodIssueLike[]): number {
  return Math.max(...branch.map((issue) => issue.path.length));
}

function codeOf(code: string): IssueCode {
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
function schemaAt(schema: unknown, path: ReadonlyArray<PropertyKey>): unknown {
  return path.reduce<unknown>((node, part) => (node ? childSchema(node, part) : undefined), schema);
}

/** Schemas from the root down to a path. */
function schemasAlong(schema: unknown, path: ReadonlyArray<PropertyKey>): unknown[] {
  return path.map((_, i) => schemaAt(schema, path.slice(0, i + 1)));
}

function isSensitive(schema: unknown, path: ReadonlyArray<PropertyKey>): boolean {
  return schemasAlong(schema, path).some((node) => node && schemaMeta(node).sensitive === true);
}

/** Is the path at or inside a reference to a secret? */
function isInSecret({ schema, value }: IssueSource, path: ReadonlyArray<PropertyKey>): boolean {
  const at = schemasAlong(schema, path).findIndex((node) => node && schemaMeta(node).sensitive === true);
  const found = at < 0 ? undefined : valueAt(value, path.slice(0, at + 1));
  return isRecord(found);
}

/** Does a section have a sensitive key somewhere below, or a body whose keys only a plugin knows? */
function holdsSecrets(schema: unknown): boolean {
  if (!schema) return false;
  return isOpenBody(schema) || schemasBelow(schema).some((below) => schemaMeta(below).sensitive === true || holdsSecrets(below));
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
