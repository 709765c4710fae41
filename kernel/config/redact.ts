import { REDACTED_VALUE } from "../../sdk/config/fields.ts";
import { isSensitiveName, isSensitiveText } from "../../sdk/config/sensitive-name.ts";
import { sameValue } from "../../sdk/config/tree.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { redactUrl, urlSecrets } from "../secrets/redact-url.ts";
import { schemaMeta, unwrapSchema } from "../secrets/schema-walk.ts";
import { rootSchema } from "./root-schema.ts";

/** Shorter texts occur by chance; only a longer one is taken for the same secret where it stands a second time. */
const MIN_RECOGNISED_CHARS = 8;

/** Sensitive values besides those known by the key tree and the names of keys. */
export interface RedactOptions {
  /** Dotted paths of plugins' secrets, `*` for one segment (manifest `secrets[].path` and sensitive `uiHints`). */
  patterns?: readonly string[];
  /** Dotted paths whose values came from references or variables. */
  paths?: Iterable<string>;
  /**
   * A secret that is repeated under a harmless key goes there too. For what leaves the process; a tree that code works with must not change
   * because a password happens to be a part of a path.
   */
  repeated?: boolean;
}

/**
 * The same tree with every secret replaced by `__SVC_REDACTED__`; the one function for every output path. Secret is what the key tree marks, what
 * stands under a telling name (everything below it where the tree does not know the key), user info and credential parameters of addresses,
 * what `options` name, and the id of an `exec` reference; other references stay readable.
 */
export function redactConfig(value: unknown, options: RedactOptions = {}): unknown {
  const masked = maskTree(value, options);
  if (!options.repeated) return masked;
  const repeated = collect(value, masked, new Set()).filter((secret) => secret.length >= MIN_RECOGNISED_CHARS);
  return repeated.length === 0 ? masked : mapStrings(masked, (text) => withoutSecrets(text, repeated));
}

/**
 * May it hold a secret among ordinary words? What a program is started with is shown to nobody, but its words (`--verbose`) stand everywhere, so
 * none of them is taken for a secret by itself; what stands under a telling name is.
 */
export function isMerelyHidden(path: ReadonlyArray<string | number>): boolean {
  const [section, key, , part, name] = path;
  if (section !== "secrets" || key !== "providers" || name === undefined) return false;
  return part === "args" || (part === "env" && !isSensitiveName(String(name)));
}

/** Every secret text in a tree, longest first, so that replacing one leaves no rest of another. References to variables are none. */
export function secretsIn(value: unknown, options: RedactOptions = {}): string[] {
  return collect(value, maskTree(value, options), new Set());
}

/** The text without any of these secrets. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((out, secret) => (out.includes(secret) ? out.replaceAll(secret, REDACTED_VALUE) : out), text);
}

function maskTree(value: unknown, options: RedactOptions): unknown {
  const extra = { patterns: (options.patterns ?? []).map((p) => p.split(".")), paths: new Set(options.paths ?? []) };
  return walk(value, { schema: rootSchema, path: [], covered: false, extra });
}

interface Here {
  /** Undefined where the key tree does not say what stands here. */
  schema: unknown;
  path: readonly string[];
  /** Everything from here on is secret. */
  covered: boolean;
  extra: { patterns: ReadonlyArray<readonly string[]>; paths: ReadonlySet<string> };
}

function walk(value: unknown, here: Here): unknown {
  if (value === undefined || value === null) return value;
  const covered = here.covered || schemaMeta(here.schema).sensitive === true || isNamed(here);
  if (Array.isArray(value)) return value.map((v, i) => walk(v, step(here, String(i), { value, covered })));
  if (isRecord(value)) {
    if (isReference(value)) return value.source === "exec" ? { ...value, id: REDACTED_VALUE } : value;
    return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, walk(v, step(here, key, { value, covered }))]));
  }
  const isSecret = covered || nameCovers(here, value);
  if (typeof value === "string") return isSecret && value !== "" ? REDACTED_VALUE : redactUrl(value, REDACTED_VALUE);
  return typeof value === "number" && isSecret ? REDACTED_VALUE : value;
}

function step(here: Here, key: string, at: { value: object; covered: boolean }): Here {
  const schema = childSchema(here.schema, key, at.value);
  // Where nothing is known about a key its name speaks for all that stands below it.
  const covers = !Array.isArray(at.value) && schema === undefined && isSensitiveName(key);
  return { ...here, schema, path: [...here.path, key], covered: at.covered || covers };
}

/** A text under a telling name is secret also where the key tree knows the key; a number there is a count. */
function nameCovers({ path, schema }: Here, value: unknown): boolean {
  const name = path.findLast((part) => !/^\d+$/.test(part)) ?? "";
  if (schema === undefined && typeof value === "string") return isSensitiveText(name, value);
  return isSensitiveName(name) && (typeof value === "string" || schema === undefined);
}

function isNamed({ path, extra }: Here): boolean {
  if (extra.paths.has(path.join("."))) return true;
  return extra.patterns.some((p) => p.length === path.length && p.every((part, i) => part === "*" || part === path[i]));
}

/** `{source, provider?, id}`: where a secret is to be had, not the secret. */
function isReference(value: Record<string, unknown>): boolean {
  const { source, id, provider, ...rest } = value;
  const isKnown = source === "env" || source === "file" || source === "exec";
  return isKnown && typeof id === "string" && (provider === undefined || typeof provider === "string") && Object.keys(rest).length === 0;
}

function collect(value: unknown, masked: unknown, found: Set<string>): string[] {
  const compare = (a: unknown, b: unknown, path: readonly string[]): void => {
    if (isMerelyHidden(path)) return;
    if (typeof a === "string") {
      if (b === REDACTED_VALUE && a !== REDACTED_VALUE && !/^\$\{\w+\}$/.test(a)) found.add(a);
      else if (a !== b) for (const secret of urlSecrets(a)) found.add(secret);
    } else if (typeof a === "object" && a !== null) {
      for (const [key, v] of Object.entries(a)) compare(v, (b as Record<string, unknown> | undefined)?.[key], [...path, key]);
    }
  };
  compare(value, masked, []);
  return [...found].filter((secret) => secret !== "").sort((a, b) => b.length - a.length);
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((v) => mapStrings(v, change));
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, v]) => [key, mapStrings(v, change)])) : value;
}

/** Is there a placeholder in some value? Such a tree must not be stored. */
export function holdsPlaceholder(value: unknown): boolean {
  return !sameValue(
    value,
    mapStrings(value, (text) => (text.includes(REDACTED_VALUE) ? "" : text)),
  );
}

/** The schema of a member; undefined where the tree says nothing about it. */
function childSchema(schema: unknown, key: string, value: object): unknown {
  const node = unwrapSchema(schema);
  if (!node?.def) return undefined;
  if (node.def.type === "union") {
    for (const option of node.def.options ?? []) {
      const found = childSchema(option, key, value);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const child = Array.isArray(value) ? node.def.element : (node.def.shape?.[key] ?? node.def.valueType);
  const type = unwrapSchema(child)?.def?.type;
  return type === "unknown" || type === "any" ? undefined : child;
}
