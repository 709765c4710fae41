import { toConfigIssues } from "../../kernel/config/issues.ts";
import type { Locate } from "../../kernel/config/place.ts";
import { rootSchema } from "../../kernel/config/root-schema.ts";
import type { ConfigIssue } from "../../sdk/config/config-issue.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";

/** Place for tests that are not about places. */
export const nowhere: Locate = () => ({ line: 1, column: 1 });

/** Issues of a tree, as a start would tell them. */
export function issuesOf(value: unknown): ConfigIssue[] {
  const parsed = rootSchema.safeParse(value);
  return parsed.success ? [] : toConfigIssues(parsed.error, { file: "svc.json", value, schema: rootSchema, locate: nowhere });
}

/** Effective config of a tree that must be valid. */
export function effective(value: unknown): SvcConfig {
  return rootSchema.parse(value);
}

/** A tree with one value at a dotted path; a segment `0` makes a list. */
export function treeWith(path: string, value: unknown): Record<string, unknown> {
  return path.split(".").reduceRight<unknown>((inner, key) => (key === "0" ? [inner] : { [key]: inner }), value) as Record<string, unknown>;
}

/** The value at a dotted path. */
export function valueAt(tree: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], tree);
}

/** Issues at or below a path when only that value is written; what a list member still lacks does not count. */
export function issuesAt(path: string, value: unknown): ConfigIssue[] {
  return issuesOf(treeWith(path, value)).filter((issue) => issue.path === path || issue.path.startsWith(`${path}.`));
}
