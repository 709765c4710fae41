import { REDACTED_VALUE } from "../../sdk/config/fields.ts";
import { idsOf, ownValue } from "../../sdk/config/tree.ts";
import type { SvcError } from "../../sdk/errors.ts";
import { formatConfigPath } from "../../sdk/internal/config-paths.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { configErrors } from "./errors.ts";
import { type RedactOptions, redactConfig } from "./redact.ts";

/**
 * Puts stored values back where a tree that was shown redacted comes back with placeholders. Members of lists of `{id}` are found by id.
 * @param stored the tree that was shown
 * @throws {SvcError} `config-placeholder` naming the path, where nothing is stored or a placeholder was moved or edited
 */
export function restoreRedacted(next: unknown, stored: unknown, options: RedactOptions = {}): unknown {
  return restored(next, { stored, shown: redactConfig(stored, options), path: [] });
}

interface Here {
  stored: unknown;
  /** The stored value as it was shown. */
  shown: unknown;
  path: ReadonlyArray<string | number>;
}

function restored(next: unknown, here: Here): unknown {
  if (typeof next === "string") return next.includes(REDACTED_VALUE) ? storedValue(next, here) : next;
  if (Array.isArray(next)) return restoredList(next, here);
  if (!isRecord(next)) return next;
  return Object.fromEntries(
    Object.entries(next).map(([key, value]) => {
      if (key.includes(REDACTED_VALUE)) throw placeholder([...here.path, key]);
      const inner = { stored: ownValue(here.stored, key), shown: ownValue(here.shown, key), path: [...here.path, key] };
      return [key, restored(value, inner)];
    }),
  );
}

function storedValue(next: string, { stored, shown, path }: Here): unknown {
  // A reference that was replaced by its placeholder as a whole is that reference.
  const isShown = next === shown || (next === REDACTED_VALUE && isRecord(stored));
  if (!isShown || stored === undefined || stored === next) throw placeholder(path);
  return stored;
}

function restoredList(next: readonly unknown[], { stored, shown, path }: Here): unknown[] {
  const old = Array.isArray(stored) ? stored : [];
  const oldShown = Array.isArray(shown) ? shown : [];
  const ids = idsOf(next) && idsOf(old);
  return next.map((value, i) => {
    const from = ids && isRecord(value) ? ids.indexOf(value.id as string) : i;
    // Without ids nobody can say which secret is meant once the list has become longer or shorter.
    if (!ids && next.length !== old.length && JSON.stringify(value ?? null).includes(REDACTED_VALUE)) throw placeholder([...path, i]);
    return restored(value, { stored: old[from], shown: oldShown[from], path: [...path, i] });
  });
}

function placeholder(path: ReadonlyArray<string | number>): SvcError {
  return configErrors.configPlaceholder({ path: formatConfigPath(path) });
}
