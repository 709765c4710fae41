import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import type { ConfigIssue } from "../../sdk/config/config-issue.ts";
import { messageOf } from "../../sdk/errors.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import { exceedsJsonShape } from "../../sdk/internal/json-shape.ts";
import { locator } from "./locate.ts";
import { parseJson5 } from "./parse-json5.ts";

/** Larger files are refused unread. */
export const MAX_CONFIG_BYTES = 8 * 1024 * 1024;
const forbiddenKeys = new Set(["__proto__", "constructor", "prototype"]);

/** A file's bytes and text, or the issue that kept it from being read. */
export type ConfigText = { text: string; bom: boolean; bytes: Uint8Array } | { missing: true } | { issue: ConfigIssue };

/**
 * Bytes of one config file: UTF-8 with or without byte order mark, at most 8 MiB, a regular file.
 * @param options.followLink false where the path has been resolved and judged: a link that stands there now is refused
 */
export async function readConfigText(path: string, name: string, options: { followLink: boolean }): Promise<ConfigText> {
  try {
    return decodeConfig(await readRegularFile(path, { maxBytes: MAX_CONFIG_BYTES, ...options }), name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { missing: true };
    const reason = messageOf(error);
    const advice = code === "EACCES" || code === "EPERM" ? "; this user may not read it, see svc doctor" : "";
    const message = reason.startsWith("is larger") ? "larger than 8 MiB" : `cannot be read: ${code ?? reason}${advice}`;
    return { issue: atStart(name, message) };
  }
}

/** The same for bytes that are not (yet) on disk. */
export function decodeConfig(bytes: Uint8Array, name: string): Exclude<ConfigText, { missing: true }> {
  if (bytes.length > MAX_CONFIG_BYTES) return { issue: atStart(name, "larger than 8 MiB") };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const bom = text.startsWith("\uFEFF");
    return { text: bom ? text.slice(1) : text, bom, bytes };
  } catch {
    return { issue: atStart(name, "not UTF-8 text; save it as UTF-8") };
  }
}

/** Parses one file's text; the value is undefined exactly when there is an issue. */
export function parseConfigText(text: string, name: string): { value?: unknown; issue?: ConfigIssue } {
  let value: unknown;
  try {
    value = parseJson5(text);
  } catch (error) {
    const { lineNumber, columnNumber } = error as { lineNumber?: number; columnNumber?: number };
    const message = messageOf(error)
      .replace(/^JSON5: /, "")
      .replace(/ at \d+:\d+$/, "");
    return { issue: { ...atStart(name, message), line: lineNumber ?? 1, column: columnNumber ?? 1 } };
  }
  if (exceedsJsonShape(value, Number.POSITIVE_INFINITY)) return { issue: atStart(name, "nested deeper than 64 levels") };
  const forbidden = findForbidden(value, []);
  if (!forbidden) return { value };
  const place = locator(text)(forbidden, "key");
  return { issue: { path: forbidden.join("."), code: "unknown_key", message: "this key is not allowed", file: name, ...place } };
}

/** The path itself and, when that is a link, what it leads to. */
export async function withLinkTarget(path: string): Promise<string[]> {
  const target = await realpath(path).catch(() => path);
  return target === path || basename(target) === "" ? [path] : [path, target];
}

function atStart(file: string, message: string): ConfigIssue {
  return { path: "", code: "parse", message, file, line: 1, column: 1 };
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
