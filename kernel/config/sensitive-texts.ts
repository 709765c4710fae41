import { REDACTED_VALUE } from "../../sdk/config/fields.ts";
import { isMerelyHidden, type RedactOptions, redactConfig } from "./redact.ts";

/** A text of a tree that is never shown. */
export interface SensitiveText {
  path: Array<string | number>;
  text: string;
}

/** Every text of a config tree that the redaction takes for a secret as a whole, in the order of the tree. */
export function sensitiveTexts(tree: unknown, redaction: RedactOptions = {}): SensitiveText[] {
  const found: SensitiveText[] = [];
  const compare = (value: unknown, shown: unknown, path: Array<string | number>): void => {
    if (isMerelyHidden(path)) return;
    if (typeof value === "string" && shown === REDACTED_VALUE && value !== REDACTED_VALUE) found.push({ path, text: value });
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      compare(inner, (shown as Record<string, unknown> | undefined)?.[key], [...path, Array.isArray(value) ? Number(key) : key]);
    }
  };
  compare(tree, redactConfig(tree, redaction), []);
  return found;
}
