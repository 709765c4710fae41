import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { isLoopback, normalizeAddress } from "./remote.ts";

export interface OriginQuestion {
  origin: string;
  /** `Host` header. */
  host: string | undefined;
  /** Peer address. */
  address: string;
  allowed: readonly string[];
}

/**
 * May a page of this origin use the gateway? Listed origins may; so may the gateway's own page when it was reached by a loopback name
 * from this machine or by an address of this host. A host *name* must be listed, or a rebinding DNS name would pass.
 */
export function isOriginAllowed(question: OriginQuestion): boolean {
  const origin = question.origin.toLowerCase();
  const url = safeUrl(origin);
  // Only what a browser sends: scheme, host and port in plain form; `null`, files, extensions, user parts and paths are not origins.
  if (!url || url.origin !== origin) return false;
  if (question.allowed.some((a) => safeUrl(a)?.origin === origin)) return true;
  if (url.protocol !== "http:" || url.host !== question.host?.toLowerCase()) return false;
  const name = url.hostname.replace(/^\[|\]$/g, "");
  if (name === "localhost" || isLoopback(name)) return isLoopback(question.address);
  return ipaddr.isValid(name) && ownAddresses().has(normalizeAddress(name));
}

/** A `Host` that no foreign DNS name can stand behind: a loopback name or an address literal (`security.md` B-03). */
export function isKnownHost(host: string | undefined): boolean {
  const name = safeUrl(`http://${host}`)?.hostname.replace(/^\[|\]$/g, "");
  return name !== undefined && (name === "localhost" || ipaddr.isValid(name));
}

function safeUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((a) => normalizeAddress(a.address))));
}

/** Origins that may connect: those configured, else the pages of the gateway itself when it listens beyond loopback. */
export function allowedOrigins(config: SvcConfig, bind: { loopbackOnly: boolean }, port: number): string[] {
  const configured = config.gateway.controlUi.allowedOrigins;
  if (configured) return configured;
  return bind.loopbackOnly ? [] : [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
}
