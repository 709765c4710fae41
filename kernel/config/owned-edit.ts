import { basename } from "node:path";
import { sameValue } from "../../sdk/config/tree.ts";
import type { SvcError } from "../../sdk/errors.ts";
import { formatConfigPath, withValueAt } from "../../sdk/internal/config-paths.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { configErrors } from "./errors.ts";
import type { LoadedConfig } from "./loaded.ts";
import { parseJson5 } from "./parse-json5.ts";

/** A change of the source tree as a change of the one file that owns what is changed. */
export interface OwnedEdit {
  /** Absolute, as named. */
  file: string;
  text: string;
  bom: boolean;
  current: unknown;
  next: unknown;
}

interface Leaf {
  path: Array<string | number>;
  /** Undefined: taken out. */
  value: unknown;
}

/**
 * Finds the file in which a change belongs: the main file, or one that is included alone.
 * @returns undefined when nothing differs
 * @throws {SvcError} `config-owned-elsewhere` for what was merged from several files, or when more than one file would have to change
 */
export function ownedEdit(loaded: LoadedConfig, next: unknown): OwnedEdit | undefined {
  const leaves = changedLeaves(loaded.source, next, []);
  if (leaves.length === 0) return undefined;
  const owned = leaves.map((leaf) => ({ ...leaf, origin: loaded.originOf(leaf.path) }));
  for (const { path, origin } of owned) {
    const reason =
      origin.via === "array" ? "is merged from a list of includes" : origin.via === "override" ? "overrides an included value" : undefined;
    const mixed = origin.mixed ? "holds values of other files" : reason;
    if (mixed) throw elsewhere(path, mixed, origin.file);
  }
  const files = [...new Set(owned.map(({ origin }) => origin.file))];
  const [file, other] = files;
  if (file === undefined) return undefined;
  if (other !== undefined) {
    const path = owned.find(({ origin }) => origin.file === other)?.path ?? [];
    throw elsewhere(path, `one write changes one file, and this one would change ${files.map((f) => basename(f)).join(" and ")}`, other);
  }
  const known = loaded.files.find((f) => f.path === file);
  const current = known ? parseJson5(known.text) : {};
  const changed = owned.reduce<unknown>((tree, { origin, value }) => withValueAt(tree, origin.path, value), current);
  return { file, text: known?.text ?? "", bom: known?.bom ?? false, current, next: changed };
}

function elsewhere(path: Leaf["path"], reason: string, owner: string): SvcError {
  return configErrors.configOwnedElsewhere({ path: formatConfigPath(path) || "the root", reason, owner: basename(owner) });
}

/** The smallest changes that turn one tree into the other; lists whose length stays are compared member by member. */
function changedLeaves(a: unknown, b: unknown, path: Array<string | number>): Leaf[] {
  if (sameValue(a, b)) return [];
  if (isRecord(a) && isRecord(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return keys.flatMap((key) => changedLeaves(a[key], b[key], [...path, key]));
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) return a.flatMap((v, i) => changedLeaves(v, b[i], [...path, i]));
  return [{ path, value: b }];
}
