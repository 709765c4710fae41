import { readEnv } from "svc/sdk";
import { ownFault } from "./call-fault.ts";
import { type Env, TOKEN_VARIABLE } from "./env.ts";

const DEFAULT_REGION = "us-east-1";

/** Destination of requests. */
export interface Place {
  region: string;
  /** Address instead of the region's own; without a trailing slash. */
  endpoint?: string;
}

/** Addresses of the config, the first one wins. */
export interface Addresses {
  /** `memorySearch.remote.baseUrl`. */
  remote?: string | undefined;
  /** `models.providers.amazon-bedrock.baseUrl`. */
  vendor?: string | undefined;
}

/**
 * Region and address: the region variables, then the region in the host of the address, then `us-east-1`. Pure.
 * @throws {EmbeddingError} `model` for an address that is none
 */
export function placeOf(env: Env, { remote, vendor }: Addresses): Place {
  const endpoint = (remote ?? vendor)?.replace(/(?<!\/)\/+$/, "");
  const url = endpoint === undefined ? undefined : parseAddress(endpoint, remote === undefined ? "models" : "remote");
  const region = readEnv(env, "AWS_REGION") ?? readEnv(env, "AWS_DEFAULT_REGION") ?? (url && regionOf(url.hostname)) ?? DEFAULT_REGION;
  return { region, ...(endpoint === undefined ? {} : { endpoint }) };
}

/** Region in the name of a host of Bedrock, also of a VPC's endpoint; undefined for other hosts. */
export function regionOf(host: string): string | undefined {
  return /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(host)?.[1];
}

function parseAddress(text: string, from: "models" | "remote"): URL {
  const key = from === "remote" ? "agents.defaults.memorySearch.remote.baseUrl" : "models.providers.amazon-bedrock.baseUrl";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw ownFault(
      "model",
      `${key}: expected an http or https address without credentials, such as https://bedrock-runtime.eu-west-1.amazonaws.com; correct it or remove it`,
    );
  }
  return url;
}

/**
 * API key of Bedrock to send instead of signatures. That of the environment belongs to the vendor: no other address gets it unless the vendor's own
 * entry of the config names that address. Pure.
 */
export function tokenFor(
  env: Env,
  place: Place,
  { own, vendor }: { own?: string | undefined; vendor?: string | undefined },
): string | undefined {
  if (own !== undefined) return own;
  const token = readEnv(env, TOKEN_VARIABLE);
  if (token === undefined || place.endpoint === undefined) return token;
  const { protocol, hostname, origin } = new URL(place.endpoint);
  const isVendors = protocol === "https:" && /\.(amazonaws\.com(\.cn)?|api\.aws)$/.test(hostname);
  return isVendors || (vendor !== undefined && URL.canParse(vendor) && new URL(vendor).origin === origin) ? token : undefined;
}
