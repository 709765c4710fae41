import type { ChatSettings } from "./vendors.ts";

/** The version that deployments are asked for when the address names none (learn.microsoft.com/azure/ai-services/openai/reference). */
const DEPLOYMENT_VERSION = "2024-10-21";

/** Where requests go. */
export interface Address {
  /** Without a trailing slash and a query. */
  baseUrl: string;
  query: Readonly<Record<string, string>>;
  /** Deployment that the path names, so that every request goes to it. */
  deployment?: string;
}

/**
 * The parts of an address. Its query goes with every request. The bare address of a resource of Azure leads to the API without dated versions,
 * `/openai/v1`; the path of a deployment needs an `api-version`. Pure.
 */
export function addressOf({ baseUrl, vendor }: Pick<ChatSettings, "baseUrl" | "vendor">): Address {
  const url = new URL(baseUrl);
  const query = Object.fromEntries(url.searchParams);
  const path = url.pathname.replace(/(?<!\/)\/+$/, "");
  if (!vendor?.hasDeployments) return { baseUrl: `${url.origin}${path}`, query };
  const deployment = /\/openai\/deployments\/([^/]+)$/.exec(path)?.[1];
  if (deployment === undefined) return { baseUrl: `${url.origin}${path === "" ? "/openai/v1" : path}`, query };
  return {
    baseUrl: `${url.origin}${path}`,
    query: { "api-version": DEPLOYMENT_VERSION, ...query },
    deployment: decodeURIComponent(deployment),
  };
}
