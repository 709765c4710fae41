import type { ModelInfo, SvcConfig } from "svc/sdk";
import { knownVendor, type Vendor, vendors } from "./vendors.ts";

type ProvidersConfig = SvcConfig["models"]["providers"];
type ProviderConfig = ProvidersConfig[string];

/** Everything one provider needs, resolved once. */
export interface ProviderSettings {
  id: string;
  name: string;
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey?: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  timeoutMs: number;
  /** For the beginning of an answer. */
  firstAnswerMs: number;
  models: ModelInfo[];
  defaultModel?: string;
  maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Further fields of each request, and those for single models, which win; the request's own win over both. */
  params?: Readonly<Record<string, unknown>>;
  modelParams?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Reason why it cannot be used, if so. */
  unavailable?: string;
}

const DEFAULT_TIMEOUT_SECONDS = 120;
/** For a server on this machine, which may read a long prompt for minutes. */
const LOCAL_TIMEOUT_SECONDS = 600;

/**
 * One provider per entry of `models.providers`, then one per vendor whose key is in the environment. Pure.
 * @param unavailable entries whose secrets cannot be had, and why: they are skipped, because the vendor's key of the environment is not what was asked for
 * @returns `skipped`: entries this plugin can do nothing with, and why
 */
export function resolveProviders(
  config: ProvidersConfig,
  env: (name: string) => string | undefined,
  unavailable: ReadonlyMap<string, string> = new Map(),
): { providers: ProviderSettings[]; skipped: Array<{ id: string; reason: string }> } {
  const providers: ProviderSettings[] = [];
  const skipped: Array<{ id: string; reason: string }> = [];
  for (const [id, entry] of Object.entries(config)) {
    const vendor = knownVendor(id);
    const unusable = otherProtocol(entry) ?? unavailable.get(id);
    if (unusable) {
      skipped.push({ id, reason: unusable });
      continue;
    }
    const baseUrl = entry.baseUrl ?? vendor?.baseUrl;
    if (baseUrl === undefined) {
      const known = vendors.map((v) => v.id).join(", ");
      skipped.push({ id, reason: `no address is known for this vendor; set baseUrl, or use one of ${known}` });
    } else providers.push(resolve(id, { entry, vendor, baseUrl, env }));
  }
  for (const vendor of vendors) {
    const apiKey = vendor.keyEnv && env(vendor.keyEnv);
    if (apiKey && !Object.hasOwn(config, vendor.id))
      providers.push(resolve(vendor.id, { entry: {}, vendor, baseUrl: vendor.baseUrl, env }));
  }
  return { providers, skipped };
}

/** Returns why an entry is for another plugin, if it is: asking its server in this protocol would only fail later. */
function otherProtocol({ api, auth }: ProviderConfig): string | undefined {
  if (auth === "aws-sdk") return 'auth "aws-sdk" is not spoken here; expected api-key or none';
  return api === undefined || api === "openai-completions" ? undefined : `api "${api}" is not spoken here; expected openai-completions`;
}

interface Source {
  entry: ProviderConfig;
  vendor: Vendor | undefined;
  baseUrl: string;
  env: (name: string) => string | undefined;
}

function resolve(id: string, source: Source): ProviderSettings {
  const { entry, vendor } = source;
  const headers = Object.fromEntries(Object.entries(entry.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const url = addressOf(id, source.baseUrl);
  const apiKey = entry.auth === "none" || headers.authorization !== undefined ? undefined : keyOf(source);
  const unavailable = whyUnavailable({ id, source, url, authorized: apiKey !== undefined || headers.authorization !== undefined });
  const defaultModel = entry.models?.[0]?.id ?? vendor?.defaultModel;
  return {
    id,
    name: vendor?.name ?? id,
    baseUrl: url.href.replace(/(?<!\/)\/+$/, ""),
    ...(apiKey === undefined ? {} : { apiKey }),
    headers,
    ...timeoutsOf(entry, url),
    models: (entry.models ?? []).map(definedOnly),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    maxTokensField: vendor?.maxTokensField ?? "max_tokens",
    ...(entry.params === undefined ? {} : { params: entry.params }),
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}

/** The connection may be silent as long as the run is willing to wait; the run tells the beginning of an answer from the rest of it. */
function timeoutsOf(
  { timeoutSeconds, silenceSeconds = 0 }: ProviderConfig,
  { hostname }: URL,
): Pick<ProviderSettings, "timeoutMs" | "firstAnswerMs"> {
  const isLocal = /^(?:localhost|\[::1\]|127(?:\.\d+){3})$/.test(hostname);
  const firstAnswerMs = (timeoutSeconds ?? (isLocal ? LOCAL_TIMEOUT_SECONDS : DEFAULT_TIMEOUT_SECONDS)) * 1000;
  return { timeoutMs: Math.max(firstAnswerMs, silenceSeconds * 1000), firstAnswerMs };
}

/** Parameters that `agents.defaults.models` has for models of one provider, by model id. */
export function modelParamsOf(
  models: SvcConfig["agents"]["defaults"]["models"],
  provider: string,
): Record<string, Record<string, unknown>> {
  const own = Object.entries(models ?? {}).flatMap(([ref, { params }]) =>
    ref.startsWith(`${provider}/`) && params ? [[ref.slice(provider.length + 1), params] as const] : [],
  );
  return Object.fromEntries(own);
}

/** The address; Ollama's own API lives at the root, so its plain address gets the `/v1` of this protocol. */
function addressOf(id: string, baseUrl: string): URL {
  const url = new URL(baseUrl);
  if (id === "ollama" && url.pathname === "/") url.pathname = "/v1";
  return url;
}

/** A vendor's key from the environment goes where the vendor's own entry says: the operator wrote that address for it. No other entry gets it. */
function keyOf({ entry, vendor, env }: Source): string | undefined {
  return entry.apiKey ?? (vendor?.keyEnv && env(vendor.keyEnv));
}

function whyUnavailable(at: { id: string; source: Source; url: URL; authorized: boolean }): string | undefined {
  const { id, source, url } = at;
  if (url.username !== "" || url.password !== "") {
    return `models.providers.${id}.baseUrl: credentials do not belong into the address; use apiKey or headers.authorization`;
  }
  const needsNoKey = source.entry.auth === "none" || source.entry.baseUrl !== undefined || source.vendor?.keyEnv === undefined;
  if (at.authorized || needsNoKey) return undefined;
  return `no API key; set models.providers.${id}.apiKey in the config file or ${source.vendor?.keyEnv} in the environment`;
}

function definedOnly(model: NonNullable<ProviderConfig["models"]>[number]): ModelInfo {
  return Object.fromEntries(Object.entries(model).filter(([, value]) => value !== undefined)) as unknown as ModelInfo;
}
