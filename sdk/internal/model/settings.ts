import { LOCAL_PROVIDER_ID } from "../../config/models.ts";
import type { SvcConfig } from "../../config/root.ts";
import type { ModelInfo } from "../../types/model.ts";

type ProvidersConfig = SvcConfig["models"]["providers"];
type ProviderConfig = ProvidersConfig[string];

/** Wire format of a model server, as `models.providers.*.api` names it. */
export type ModelApi = NonNullable<ProviderConfig["api"]>;

/** A vendor or a kind of server that needs no `baseUrl` in the config. */
export interface ModelVendor {
  /** Id of its entry below `models.providers`. */
  id: string;
  name: string;
  /** Absent: each customer has an address of their own, and only an entry of the config brings it. */
  baseUrl?: string;
  /** Variables that may hold the key, the first one that is set wins; servers of this machine have none. */
  keyEnv?: readonly string[];
  /** Without a key its requests are signed with credentials of this machine. */
  signsRequests?: boolean;
  /** Model when neither an agent nor `models[]` names one. */
  defaultModel?: string;
}

/** Everything one provider needs, resolved once. */
export interface ProviderSettings<V extends ModelVendor = ModelVendor> {
  id: string;
  name: string;
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey?: string;
  /** Config key or variable that the key, or a header in its place, comes from. */
  keySource?: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  timeoutMs: number;
  /** For the beginning of an answer. */
  firstAnswerMs: number;
  models: ModelInfo[];
  defaultModel?: string;
  /** Further fields of each request, and those for single models, which win; the request's own win over both. */
  params?: Readonly<Record<string, unknown>>;
  modelParams?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The vendor whose id the entry has. */
  vendor?: V;
  /** Reason why it cannot be used, if so. */
  unavailable?: string;
}

/** Vendors with a wire format of their own. */
const ownApis: Readonly<Record<string, ModelApi>> = {
  openai: "openai-responses",
  anthropic: "anthropic-messages",
  google: "google-generative-ai",
  "amazon-bedrock": "bedrock-converse",
  ollama: "ollama",
};

/**
 * The wire format of an entry: the one it names, else that of its vendor. A server that takes the place of OpenAI, or an Ollama address that ends in `/v1`,
 * speaks chat completions, and so does everything else. Pure.
 */
export function apiOf(id: string, { api, auth, baseUrl }: Pick<ProviderConfig, "api" | "auth" | "baseUrl">): ModelApi {
  if (api !== undefined) return api;
  if (auth === "aws-sdk") return "bedrock-converse";
  const isReplaced = baseUrl !== undefined && (id === "openai" || (id === "ollama" && /\/v1\/*$/.test(baseUrl)));
  return (isReplaced || !Object.hasOwn(ownApis, id) ? undefined : ownApis[id]) ?? "openai-completions";
}

/** Whether an entry is the one for GGUF models on this machine: there is no server and no wire format then. Pure. */
export function isForLocalRuntime(id: string, { baseUrl }: Pick<ProviderConfig, "baseUrl">): boolean {
  return id === LOCAL_PROVIDER_ID && baseUrl === undefined;
}

const DEFAULT_TIMEOUT_SECONDS = 120;
/** For a server on this machine, which may read a long prompt for minutes. */
const LOCAL_TIMEOUT_SECONDS = 600;

export interface ResolveOptions<V extends ModelVendor> {
  api: ModelApi;
  /** Vendors that can be spoken to in this wire format, in the order in which keys in the environment are tried. */
  vendors: readonly V[];
  /** Reads a variable of the environment. */
  env(name: string): string | undefined;
  /** Entries whose secrets cannot be read, and why: they are skipped, because the vendor's key of the environment is not what was asked for. */
  unavailable?: ReadonlyMap<string, string>;
}

/**
 * One provider for each entry of `models.providers` with this wire format, then one for each vendor whose own format it is and whose key is in the
 * environment. Pure.
 * @returns `skipped`: entries of this wire format that cannot be used, and why
 */
export function resolveProviders<V extends ModelVendor>(
  config: ProvidersConfig,
  options: ResolveOptions<V>,
): { providers: ProviderSettings<V>[]; skipped: Array<{ id: string; reason: string }> } {
  const { api, vendors, env, unavailable = new Map<string, string>() } = options;
  const providers: ProviderSettings<V>[] = [];
  const skipped: Array<{ id: string; reason: string }> = [];
  for (const [id, entry] of Object.entries(config)) {
    if (apiOf(id, entry) !== api || isForLocalRuntime(id, entry)) continue;
    const vendor = vendors.find((known) => known.id === id);
    const baseUrl = entry.baseUrl ?? vendor?.baseUrl;
    const reason = unavailable.get(id) ?? (baseUrl === undefined ? withoutAddress(vendor, vendors) : undefined);
    if (reason !== undefined) skipped.push({ id, reason });
    else if (baseUrl !== undefined) providers.push(resolve(id, { entry, vendor, baseUrl, env }));
  }
  for (const vendor of vendors) {
    const { id, baseUrl } = vendor;
    if (baseUrl === undefined || apiOf(id, {}) !== api || Object.hasOwn(config, id) || keyIn(vendor, env) === undefined) continue;
    providers.push(resolve(id, { entry: {}, vendor, baseUrl, env }));
  }
  return { providers, skipped };
}

function withoutAddress(vendor: ModelVendor | undefined, vendors: readonly ModelVendor[]): string {
  if (vendor) return `each customer of ${vendor.name} has an address of their own; set it as baseUrl`;
  const known = vendors.filter(({ baseUrl }) => baseUrl !== undefined).map(({ id }) => id);
  return `no address is known for this vendor; set baseUrl, or use one of ${known.join(", ")}`;
}

function keyIn(vendor: ModelVendor, env: (name: string) => string | undefined): string | undefined {
  const name = keyNameIn(vendor, env);
  return name === undefined ? undefined : env(name);
}

/** The first variable of a vendor that holds a key. */
function keyNameIn({ keyEnv = [] }: ModelVendor, env: (name: string) => string | undefined): string | undefined {
  return keyEnv.find((name) => (env(name) ?? "") !== "");
}

interface Source<V extends ModelVendor> {
  entry: ProviderConfig;
  vendor: V | undefined;
  baseUrl: string;
  env: (name: string) => string | undefined;
}

function resolve<V extends ModelVendor>(id: string, source: Source<V>): ProviderSettings<V> {
  const { entry, vendor } = source;
  const headers = Object.fromEntries(Object.entries(entry.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const url = new URL(source.baseUrl);
  const apiKey = entry.auth === "none" || headers.authorization !== undefined ? undefined : keyOf(source);
  const unavailable = whyUnavailable({ id, source, url, authorized: apiKey !== undefined || headers.authorization !== undefined });
  const defaultModel = entry.models?.[0]?.id ?? vendor?.defaultModel;
  return {
    id,
    name: vendor?.name ?? id,
    baseUrl: url.href.replace(/(?<!\/)\/+$/, ""),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...keySourceOf(id, source, headers),
    headers,
    ...timeoutsOf(entry, url),
    models: (entry.models ?? []).map(definedOnly),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...(entry.params === undefined ? {} : { params: entry.params }),
    ...(vendor === undefined ? {} : { vendor }),
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

/** A vendor's key from the environment goes where the vendor's own entry says: the operator wrote that address for it. No other entry gets it. */
function keyOf({ entry, vendor, env }: Source<ModelVendor>): string | undefined {
  return entry.apiKey ?? (vendor && keyIn(vendor, env));
}

/** The name of the place, not what is there. */
function keySourceOf(id: string, { entry, vendor, env }: Source<ModelVendor>, headers: Record<string, string>): { keySource?: string } {
  if (headers.authorization !== undefined) return { keySource: `models.providers.${id}.headers.authorization` };
  if (entry.auth === "none") return {};
  if (entry.apiKey !== undefined) return { keySource: `models.providers.${id}.apiKey` };
  const name = vendor && keyNameIn(vendor, env);
  return name === undefined ? {} : { keySource: name };
}

function whyUnavailable(at: { id: string; source: Source<ModelVendor>; url: URL; authorized: boolean }): string | undefined {
  const { id, source, url } = at;
  if (url.username !== "" || url.password !== "") {
    return `models.providers.${id}.baseUrl: credentials do not belong into the address; use apiKey or headers.authorization`;
  }
  const { keyEnv, signsRequests } = source.vendor ?? {};
  if (signsRequests || at.authorized || source.entry.auth === "none" || source.entry.baseUrl !== undefined || keyEnv === undefined)
    return undefined;
  return `no API key; set models.providers.${id}.apiKey in the config file or ${keyEnv[0]} in the environment`;
}

function definedOnly(model: NonNullable<ProviderConfig["models"]>[number]): ModelInfo {
  return Object.fromEntries(Object.entries(model).filter(([, value]) => value !== undefined)) as unknown as ModelInfo;
}
