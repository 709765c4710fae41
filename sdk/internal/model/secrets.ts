import type { SvcConfig } from "../../config/root.ts";
import { isSvcError } from "../../errors.ts";
import { apiOf, type ModelApi } from "./settings.ts";

type Providers = SvcConfig["models"]["providers"];
type Provider = Providers[string];

export interface SecretsOptions {
  /** Entries of other wire formats stay masked. */
  api: ModelApi;
  secret(path: string): string | undefined;
}

/** The masked entries of `models.providers` with their keys and headers as they really are; `unavailable`: why one has to do without, by id. */
export function withSecrets(
  masked: Providers,
  { api, secret }: SecretsOptions,
): { entries: Providers; unavailable: ReadonlyMap<string, string> } {
  const unavailable = new Map<string, string>();
  const entries = Object.entries(masked).map(([id, entry]) => {
    if (apiOf(id, entry) !== api) return [id, entry] as const;
    try {
      return [id, revealed(id, entry, secret)] as const;
    } catch (error) {
      if (!isSvcError(error) || error.code !== "secret-unavailable") throw error;
      unavailable.set(id, error.message);
      return [id, entry] as const;
    }
  });
  return { entries: Object.fromEntries(entries), unavailable };
}

/** Asks also for what the masked entry does not show: a secret that could not be had is left out of it. */
function revealed(id: string, { apiKey: _masked, headers, ...entry }: Provider, secret: SecretsOptions["secret"]): Provider {
  const at = `models.providers[${JSON.stringify(id)}]`;
  const apiKey = entry.auth === "none" ? undefined : secret(`${at}.apiKey`);
  secret(`${at}.headers.*`);
  const shown = Object.keys(headers ?? {}).flatMap((name) => {
    const value = secret(`${at}.headers[${JSON.stringify(name)}]`);
    return value === undefined ? [] : [[name, value]];
  });
  return { ...entry, ...(apiKey === undefined ? {} : { apiKey }), ...(headers ? { headers: Object.fromEntries(shown) } : {}) };
}
