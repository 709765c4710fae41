import { EmbeddingError } from "../define.ts";
import { isSvcError } from "../errors.ts";
import { readEnv } from "../read-env.ts";
import type { PluginContext } from "../types/context.ts";
import type { EmbeddingContext } from "../types/embedding.ts";
import { isCredentialHeader, mergeHeaders, plainHeaders } from "./headers.ts";

/** Part of the plugin context that an adapter uses: its vendor's key is read by it, its calls go over its connections and end with it. */
export type RemoteSource = Pick<PluginContext, "secret" | "env" | "signal" | "request">;
type KeySource = Pick<RemoteSource, "secret" | "env">;

/** Facts known about a vendor in advance. */
export interface RemoteVendor {
  /** Adapter id. */
  adapter: string;
  /** Id under `models.providers`; the manifest lists `models.providers.<vendor>.apiKey` and `.headers.*` under `secrets`. */
  vendor: string;
  baseUrl: string;
  /** Variables that may hold the key, in order. */
  keyEnv: readonly string[];
  /** The headers a key is sent in; default `Authorization: Bearer`. */
  authHeaders?: (key: string) => Readonly<Record<string, string>>;
  /** Brings an address into the form of this vendor; slashes at its end are gone already. */
  cleanBaseUrl?: (baseUrl: string) => string;
  /** The server wants no key. */
  isKeyOptional?: boolean;
  /** `memorySearch.remote` is for this adapter also when no adapter is named: it describes a server of this vendor's protocol. */
  takesUnnamedRemote?: boolean;
}

/** Address and credentials of a vendor. */
export interface RemoteEndpoint {
  /** Without a slash at its end. */
  baseUrl: string;
  /** With the key, names in lower case; send all of them and only to this origin. */
  headers: Readonly<Record<string, string>>;
  /** Parts of the identity: address and the operator's headers, without credentials. */
  identity: { baseUrl: string; headers: Readonly<Record<string, string>> };
  /** Texts that no message may show. */
  secrets: readonly string[];
}

/**
 * Finds address, key and headers of a vendor: the key of `memorySearch.remote`, of `models.providers.<vendor>`, of the environment,
 * in this order. The entry's key goes only to the origin of the entry, which is the vendor's own unless it has a `baseUrl`; the environment's there too,
 * because the operator wrote that address for this vendor, and to the vendor's own. A `remote.baseUrl` of another origin gets no key but `remote.apiKey`.
 * @throws {EmbeddingError} `no-credentials`; `auth` when the configured key is a secret that cannot be had; `model` for an address that is none
 */
export function resolveRemote(source: KeySource, context: EmbeddingContext, vendor: RemoteVendor): RemoteEndpoint {
  const remote = context.auto && !vendor.takesUnnamedRemote ? undefined : context.remote;
  const entry = context.config.models.providers[vendor.vendor];
  const url = addressOf(remote?.baseUrl ?? entry?.baseUrl ?? vendor.baseUrl, vendor);
  const isEntryOrigin = url.origin === addressOf(entry?.baseUrl ?? vendor.baseUrl, vendor).origin;
  const isVendorOrigin = url.origin === addressOf(vendor.baseUrl, vendor).origin;
  const own = vendorSecrets(source, vendor, entry);

  const auth = vendor.authHeaders ?? bearer;
  const remoteKey = remoteKeyOf(source, remote?.apiKey, vendor);
  const entryKey = isEntryOrigin ? own.apiKey : undefined;
  const isTrusted = isEntryOrigin || isVendorOrigin;
  const vendorKey = entryKey ?? (isTrusted && entry?.auth !== "none" ? envKey(source, vendor) : undefined);
  const entryHeaders = Object.fromEntries(Object.entries(own.headers).filter(([n, v]) => isEntryOrigin || !isCredentialHeader(n, v)));
  const headers = mergeHeaders(
    remoteKey === undefined && vendorKey !== undefined ? auth(vendorKey) : {},
    entryHeaders,
    remoteKey === undefined ? {} : auth(remoteKey),
    remote?.headers,
  );

  const isAuthorized = Object.keys(auth("")).some((name) => headers[name.toLowerCase()] !== undefined);
  // A server that somebody named for embeddings may be one without keys; the vendor's own wants one.
  const isNamed = context.auto ? remote?.baseUrl !== undefined : entry?.auth === "none" || !isVendorOrigin;
  if (!isAuthorized && !isNamed && !vendor.isKeyOptional) throw missingKey(vendor, { isTrusted });
  const baseUrl = vendor.cleanBaseUrl?.(withoutSlash(url)) ?? withoutSlash(url);
  return {
    baseUrl,
    headers,
    identity: { baseUrl, headers: plainHeaders(mergeHeaders(entryHeaders, remote?.headers)) },
    secrets: secretTexts([remoteKey, vendorKey], headers),
  };
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function addressOf(text: string, { adapter }: RemoteVendor): URL {
  const wrong = (what: string) => new EmbeddingError("model", `embedding adapter "${adapter}": baseUrl: ${what}`);
  if (!URL.canParse(text)) throw wrong("expected an address such as https://host/v1");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw wrong("credentials do not belong into the address; use apiKey or headers");
  return url;
}

function withoutSlash(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, "");
}

type ProviderEntry = EmbeddingContext["config"]["models"]["providers"][string] | undefined;

/** The entry's key and headers as they really are: the config shows their names only. */
function vendorSecrets(source: KeySource, { vendor, adapter }: RemoteVendor, entry: ProviderEntry) {
  const at = `models.providers[${JSON.stringify(vendor)}]`;
  try {
    const apiKey = entry === undefined || entry.auth === "none" ? undefined : blankAsUnset(source.secret(`${at}.apiKey`));
    if (entry !== undefined) source.secret(`${at}.headers.*`);
    const headers = Object.keys(entry?.headers ?? {}).flatMap((name) => {
      const value = source.secret(`${at}.headers[${JSON.stringify(name)}]`);
      return value === undefined ? [] : [[name, value] as const];
    });
    return { apiKey, headers: Object.fromEntries(headers) as Record<string, string> };
  } catch (error) {
    // Another key is not what was asked for, so nobody takes its place.
    if (isSvcError(error, "secret-unavailable")) throw new EmbeddingError("auth", `embedding adapter "${adapter}": ${error.message}`);
    throw error;
  }
}

/** `remote.apiKey`: the key, or the name of the variable that holds it. */
function remoteKeyOf(source: KeySource, apiKey: string | undefined, { adapter, keyEnv }: RemoteVendor): string | undefined {
  const given = blankAsUnset(apiKey);
  if (given === undefined) return undefined;
  const named = readEnv(source.env, given);
  if (named !== undefined) return named;
  if (keyEnv.includes(given))
    throw new EmbeddingError(
      "no-credentials",
      `embedding adapter "${adapter}": remote.apiKey names the variable ${given}, which is not set`,
    );
  return given;
}

function envKey(source: KeySource, { keyEnv }: RemoteVendor): string | undefined {
  for (const name of keyEnv) {
    const value = readEnv(source.env, name);
    if (value !== undefined) return value;
  }
  return undefined;
}

function missingKey({ adapter, vendor, keyEnv }: RemoteVendor, { isTrusted }: { isTrusted: boolean }): EmbeddingError {
  const places = [isTrusted ? keyEnv.join(" or ") : "", `models.providers.${vendor}.apiKey`, "memorySearch.remote.apiKey"].filter(
    (place) => place !== "",
  );
  return new EmbeddingError("no-credentials", `embedding adapter "${adapter}": no API key; set ${places.join(", ")}`);
}

/** Shorter texts would blank ordinary words. */
const MIN_SECRET_CHARS = 6;

/** Keys, and the values of headers that carry credentials, with and without the scheme before them. */
function secretTexts(keys: ReadonlyArray<string | undefined>, headers: Readonly<Record<string, string>>): string[] {
  const values = Object.entries(headers).filter(([name, value]) => isCredentialHeader(name, value));
  const texts = [...keys, ...values.flatMap(([, value]) => [value, value.replace(/^\S+\s+/, "")])];
  const secrets = texts.filter((text): text is string => text !== undefined && text.length >= MIN_SECRET_CHARS);
  return [...new Set(secrets)].sort((a, b) => b.length - a.length);
}

function blankAsUnset(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}
