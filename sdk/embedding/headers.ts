import { isSensitiveText } from "../config/sensitive-name.ts";

/** Does a header carry a credential? By a name that speaks of a secret (`authorization`, `x-api-key`, `cookie` …), or by the scheme in its value. */
export function isCredentialHeader(name: string, value: string): boolean {
  return isSensitiveText(name, value) || /^(bearer|basic)\s/i.test(value);
}

/** Joins headers whatever their case; later ones win. Names of the result are in lower case. */
export function mergeHeaders(...layers: ReadonlyArray<Readonly<Record<string, string>> | undefined>): Record<string, string> {
  const entries = layers.flatMap((layer) => Object.entries(layer ?? {}));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/** Headers that belong to an identity: all but credentials, sorted by name. */
export function plainHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const plain = Object.entries(headers).filter(([name, value]) => !isCredentialHeader(name, value));
  return Object.fromEntries(plain.sort(([a], [b]) => (a < b ? -1 : 1)));
}
