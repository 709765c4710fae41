import type { SvcConfig } from "svc/sdk";

export type MemorySearch = NonNullable<SvcConfig["agents"]["defaults"]["memorySearch"]>;

/** Settings that determine an agent's embedding provider. Secrets stand in it as the config paths they are read from, the first that has a value counts. */
export interface ProviderSettings {
  /** `auto`, `none`, or the id of an adapter. */
  requested: string;
  model: string | undefined;
  outputDimensionality: number | undefined;
  /** Undefined: requests name none. */
  inputTypes: { query?: string; document?: string } | undefined;
  /** Undefined: none, or the same as the primary. */
  fallback: string | undefined;
  remote: { baseUrl: string | undefined; apiKeyPaths: readonly string[]; headerPaths: Record<string, string> };
  local: { modelPath: string | undefined; modelCacheDir: string | undefined; sha256: string | undefined };
  /** Images and sounds are indexed too. */
  multimodal: boolean;
}

/** The parts of the config that the settings of one agent come from. */
export interface SearchParts {
  defaults: MemorySearch;
  own: MemorySearch;
  merged: MemorySearch;
  /** Place of the agent in `agents.list`; undefined for the implicit one. */
  index: number | undefined;
}

/** Pure. */
export function resolveProviderSettings(parts: SearchParts, multimodal: boolean): ProviderSettings {
  const { merged } = parts;
  const requested = merged.provider ?? "auto";
  const fallback = merged.fallback ?? "none";
  return {
    requested,
    model: merged.model,
    outputDimensionality: merged.outputDimensionality,
    inputTypes: inputTypesOf(merged),
    fallback: fallback === "none" || fallback === requested ? undefined : fallback,
    remote: remoteOf(parts),
    local: { modelPath: merged.local?.modelPath, modelCacheDir: merged.local?.modelCacheDir, sha256: merged.local?.sha256 },
    multimodal,
  };
}

function inputTypesOf({ inputType, queryInputType: query = inputType, documentInputType: document = inputType }: MemorySearch) {
  if (query === undefined && document === undefined) return undefined;
  return { ...(query === undefined ? {} : { query }), ...(document === undefined ? {} : { document }) };
}

/**
 * Field by field, the agent's own first. An address and credentials of the defaults are those of the vendor that the defaults name: an agent with another
 * vendor does not inherit them, and one with another address inherits no credentials, so that no key travels where it does not belong.
 */
function remoteOf({ defaults, own, merged, index }: SearchParts): ProviderSettings["remote"] {
  const isOtherVendor = own.provider !== undefined && own.provider !== defaults.provider;
  const isOtherPlace = own.remote?.baseUrl !== undefined && own.remote.baseUrl !== defaults.remote?.baseUrl;
  const inherits = !isOtherVendor && !isOtherPlace;
  const at = { defaults: "agents.defaults.memorySearch.remote", own: `agents.list.${index}.memorySearch.remote` };
  return {
    baseUrl: isOtherVendor ? own.remote?.baseUrl : merged.remote?.baseUrl,
    // Asked for also where the config shows none: a key that could not be had is missing there, and no other may take its place.
    apiKeyPaths: [...(index === undefined ? [] : [at.own]), ...(inherits ? [at.defaults] : [])].map((where) => `${where}.apiKey`),
    headerPaths: {
      ...(inherits ? pathsOf(defaults.remote?.headers, at.defaults) : {}),
      ...pathsOf(own.remote?.headers, at.own),
    },
  };
}

function pathsOf(headers: Record<string, string> | undefined, at: string): Record<string, string> {
  return Object.fromEntries(Object.keys(headers ?? {}).map((name) => [name, `${at}.headers[${JSON.stringify(name)}]`]));
}
