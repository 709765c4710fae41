import type { EmbeddingContext } from "svc/sdk";
import type { ProviderSettings } from "./provider-settings.ts";

/**
 * The primary's `remote` with its secrets as they are now; undefined when nothing of it is set.
 * @throws {SvcError} `secret-unavailable`: the primary has to do without being opened, no other key takes its place
 */
export function resolveRemote(
  remote: ProviderSettings["remote"],
  secret: (path: string) => string | undefined,
): EmbeddingContext["remote"] {
  const apiKey = remote.apiKeyPaths.reduce<string | undefined>((found, path) => found ?? secret(path), undefined);
  const headers = Object.fromEntries(
    Object.entries(remote.headerPaths).flatMap(([name, path]) => {
      const value = secret(path);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const { baseUrl } = remote;
  const hasHeaders = Object.keys(headers).length > 0;
  if (baseUrl === undefined && apiKey === undefined && !hasHeaders) return undefined;
  return {
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(hasHeaders ? { headers } : {}),
  };
}
