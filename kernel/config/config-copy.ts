import { REDACTED_VALUE } from "../../sdk/config/fields.ts";
import { idsOf, ownValue } from "../../sdk/config/tree.ts";
import { formatConfigPath } from "../../sdk/internal/config-paths.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { ConfigText } from "../../sdk/types/config-file.ts";
import { editText } from "./edit-text.ts";
import type { LoadedConfig } from "./loaded.ts";
import { parsedOrNothing } from "./parse-json5.ts";
import { type RedactOptions, redactConfig, secretsIn, withoutSecrets } from "./redact.ts";
import { redactText } from "./redact-text.ts";

/** The files of a config for a copy that leaves the machine. What is secret is judged by its place in the whole tree, and so goes from included files as well. */
export function configTexts({ files, source, secrets }: LoadedConfig, options: RedactOptions): ConfigText[] {
  const known = [...secretsIn(source, options), ...secrets.values()].filter((secret) => secret.length > 3);
  return files.map(({ path, text }) => {
    const tree = parsedOrNothing(text);
    const redacted = tree === undefined ? undefined : withoutSecrets(redactText(text, tree, { ...options, repeated: true }), known);
    return { path, text, redacted };
  });
}

/**
 * Puts values back into a text that was redacted: those that the present file has in the same places. An entry whose value is not known goes, and its path is
 * told. A text that does not parse stays as it is.
 */
export function refillText(text: string, present: string | undefined): { text: string; missing: string[] } {
  const current = parsedOrNothing(text);
  if (current === undefined) return { text, missing: [] };
  const stored = present === undefined ? undefined : parsedOrNothing(present);
  const missing: string[] = [];
  const next = refill(current, { stored, shown: redactConfig(stored), path: [], missing });
  return { text: editText(text, { current, next }).text, missing };
}

interface Place {
  stored: unknown;
  /** The stored value as it would be shown. */
  shown: unknown;
  path: ReadonlyArray<string | number>;
  missing: string[];
}

/** Undefined for an entry that goes. */
function refill(value: unknown, place: Place): unknown {
  const { stored, shown, path, missing } = place;
  if (typeof value === "string" && value.includes(REDACTED_VALUE)) {
    if (stored !== undefined && (value === REDACTED_VALUE || value === shown)) return stored;
    missing.push(formatConfigPath(path));
    return undefined;
  }
  if (Array.isArray(value)) {
    const old = Array.isArray(stored) ? stored : [];
    const ids = idsOf(value) && idsOf(old);
    return value.flatMap((item, at) => {
      const from = ids && isRecord(item) ? ids.indexOf(item.id as string) : at;
      const next = refill(item, { stored: old[from], shown: ownValue(shown, from), path: [...path, at], missing });
      return next === undefined ? [] : [next];
    });
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const next = refill(item, { stored: ownValue(stored, key), shown: ownValue(shown, key), path: [...path, key], missing });
      return next === undefined ? [] : [[key, next]];
    }),
  );
}
