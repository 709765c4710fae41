import type { SvcConfig } from "svc/sdk";

type Providers = SvcConfig["models"]["providers"];

/** The masked entries of `models.providers` with their keys and headers as they really are; one that could not be resolved is left out. */
export function withSecrets(masked: Providers, secret: (path: string) => string | undefined): Providers {
  return Object.fromEntries(
    Object.entries(masked).map(([id, { apiKey, headers, ...entry }]) => {
      const at = `models.providers[${JSON.stringify(id)}]`;
      const key = apiKey === undefined ? undefined : secret(`${at}.apiKey`);
      const shown = Object.entries(headers ?? {}).flatMap(([name]) => {
        const value = secret(`${at}.headers[${JSON.stringify(name)}]`);
        return value === undefined ? [] : [[name, value]];
      });
      return [id, { ...entry, ...(key === undefined ? {} : { apiKey: key }), ...(headers ? { headers: Object.fromEntries(shown) } : {}) }];
    }),
  );
}
