import { isRecord } from "svc/sdk";
import type { Tree } from "svc/sdk/internal";

/** Called with a key that is left out. */
export type OnUnknown = (path: ReadonlyArray<string | number>) => void;

/**
 * A value without the keys that a JSON Schema does not list. Where a schema lists no keys, all are kept: the values are for the config's own checks to judge.
 * @param place `path`: where the value stands, for `onUnknown`
 */
export function keepKnownKeys(
  value: unknown,
  schema: unknown,
  place: { path: ReadonlyArray<string | number>; onUnknown: OnUnknown },
): unknown {
  if (!isRecord(value) || !isRecord(schema)) return value;
  const { properties, additionalProperties: others } = schema;
  const listed = isRecord(properties) ? properties : undefined;
  const out: Tree = {};
  for (const [key, inner] of Object.entries(value)) {
    const path = [...place.path, key];
    const own =
      listed && Object.hasOwn(listed, key) ? listed[key] : isRecord(others) && Object.keys(others).length > 0 ? others : undefined;
    if (listed && own === undefined) place.onUnknown(path);
    else out[key] = keepKnownKeys(inner, own, { path, onUnknown: place.onUnknown });
  }
  return out;
}
