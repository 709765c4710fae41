import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import JSON5 from "json5";
import { crossFieldIssues } from "../../sdk/config/cross-field.ts";
import { type ConfigIssue, toConfigIssues } from "../../sdk/config/issues.ts";
import type { Locate } from "../../sdk/config/place.ts";
import { rootSchema, type SvcConfig } from "../../sdk/config/root.ts";
import { messageOf } from "../../sdk/errors.ts";
import { exceedsJsonShape } from "../../sdk/json-shape.ts";
import { locate } from "./locate.ts";

/** Larger files are refused unread. */
const MAX_CONFIG_BYTES = 8 * 1024 * 1024;
const forbiddenKeys = new Set(["__proto__", "constructor", "prototype"]);

export interface LoadedConfig {
  path: string;
  exists: boolean;
  valid: boolean;
  /** As written; `""` when there is no file. */
  text: string;
  /** Parsed, before defaults. */
  source: unknown;
  /** Effective and deeply frozen; present when `valid`. */
  config?: SvcConfig;
  issues: ConfigIssue[];
}

/** Reads and validates a config file. A missing file equals `{}`. Never throws for what is in the file. */
export async function loadConfig(path: string): Promise<LoadedConfig> {
  const file = basename(path);
  let text: string;
  try {
    if ((await stat(path)).size > MAX_CONFIG_BYTES) {
      return refuse(path, "", [{ path: "", code: "parse", message: "larger than 8 MiB", file, line: 1, column: 1 }]);
    }
    text = (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return validateConfig({}, { path, text: "", exists: false });
    return refuse(path, "", [{ path: "", code: "parse", message: `cannot be read: ${messageOf(error)}`, file, line: 1, column: 1 }]);
  }
  return parseConfig(text, path);
}

/** The same for text that is not (yet) on disk. */
export function parseConfig(text: string, path: string): LoadedConfig {
  const file = basename(path);
  let source: unknown;
  try {
    source = JSON5.parse(text);
  } catch (error) {
    const { lineNumber, columnNumber } = error as { lineNumber?: number; columnNumber?: number };
    const message = messageOf(error)
      .replace(/^JSON5: /, "")
      .replace(/ at \d+:\d+$/, "");
    return refuse(path, text, [{ path: "", code: "parse", message, file, line: lineNumber ?? 1, column: columnNumber ?? 1 }]);
  }
  if (exceedsJsonShape(source, Number.POSITIVE_INFINITY)) {
    return refuse(path, text, [{ path: "", code: "parse", message: "nested deeper than 64 levels", file, line: 1, column: 1 }]);
  }
  const forbidden = findForbidden(source, []);
  if (forbidden) {
    const place = locate(text, forbidden, "key");
    return refuse(path, text, [{ path: forbidden.join("."), code: "unknown_key", message: "this key is not allowed", file, ...place }]);
  }
  return validateConfig(source, { path, text, exists: true });
}

function validateConfig(source: unknown, at: { path: string; text: string; exists: boolean }): LoadedConfig {
  const file = basename(at.path);
  const where: Locate = (path, part) => locate(at.text, path, part);
  const parsed = rootSchema.safeParse(source);
  if (!parsed.success) {
    const issues = toConfigIssues(parsed.error, { file, value: source, schema: rootSchema, locate: where });
    return { path: at.path, exists: at.exists, valid: false, text: at.text, source, issues };
  }
  const conflicts = crossFieldIssues(parsed.data, file, where);
  if (conflicts.length > 0) return { path: at.path, exists: at.exists, valid: false, text: at.text, source, issues: conflicts };
  return { path: at.path, exists: at.exists, valid: true, text: at.text, source, config: deepFreeze(parsed.data), issues: [] };
}

function refuse(path: string, text: string, issues: ConfigIssue[]): LoadedConfig {
  return { path, exists: true, valid: false, text, source: undefined, issues };
}

function findForbidden(value: unknown, path: string[]): string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const key of Object.keys(value)) {
    if (forbiddenKeys.has(key)) return [...path, key];
    const deeper = findForbidden((value as Record<string, unknown>)[key], [...path, key]);
    if (deeper) return deeper;
  }
  return undefined;
}

/** Freezes a plain value all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
