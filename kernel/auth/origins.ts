import { isIP } from "node:net";
import { plainAddress } from "../../sdk/internal/addresses.ts";
import { isLoopback } from "./address-ranges.ts";

/** Input for the decision about a page's origin. */
export interface OriginQuestion {
  origin: string;
  /** `Host` header. */
  host: string | undefined;
  /** Canonical client address. */
  address: string;
  /** `gateway.controlUi.allowedOrigins`, or its seeds; `*` lets every origin in. */
  allowed: readonly string[];
  /** Scheme of this port's own pages. */
  scheme: "http" | "https";
  /** Has an interface of this host that address? */
  isOwn(address: string): boolean;
  /** `gateway.controlUi.dangerouslyAllowHostHeaderOriginFallback`. */
  hostFallback: boolean;
  /** Let in the page of any loopback server of this machine. Only for plain HTTP. */
  anyLoopback: boolean;
}

/**
 * May a page of this origin use the gateway? Listed origins may; so may the gateway's own page when it was reached by a loopback name
 * from this machine or by an address of this host. A host *name* must be listed, or a rebinding DNS name would pass. Pure.
 */
export function isOriginAllowed(question: OriginQuestion): boolean {
  const { allowed, host } = question;
  const origin = question.origin.toLowerCase();
  const url = safeUrl(origin);
  // Only what a browser sends: scheme, host and port in plain form; `null`, files, extensions, user parts and paths are not origins.
  if (!url || url.origin !== origin) return false;
  if (allowed.some((entry) => entry === "*" || safeUrl(entry)?.origin === origin)) return true;
  if (!/^https?:$/.test(url.protocol)) return false;
  const isSameHost = url.host === parseHost(host, url.protocol)?.host;
  if (question.hostFallback && isSameHost) return true;
  const name = bareName(url);
  const isLocalPage = (name === "localhost" || isLoopback(name)) && isLoopback(question.address);
  if (question.anyLoopback && isLocalPage) return true;
  if (!isSameHost || url.protocol !== `${question.scheme}:`) return false;
  return isLocalPage || (isIP(name) !== 0 && !isLoopback(name) && question.isOwn(plainAddress(name) as string));
}

/**
 * Can a `Host` be the host of an address at all? `1.2.3.999` and `a:99999` cannot, and a request with such a one is a bad request (RFC 9112 3.2): whoever
 * made an address of it later would fail.
 */
export function isHost(host: string): boolean {
  return URL.canParse(`http://${host}/`);
}

/** A `Host` that no foreign DNS name can stand behind: a loopback name, an address, or a name the operator listed. */
export function isKnownHost(host: string | undefined, listed: ReadonlySet<string>): boolean {
  const url = parseHost(host, "http:");
  if (!url) return false;
  const name = bareName(url);
  return name === "localhost" || isIP(name) !== 0 || listed.has(name);
}

/** A `Host` that names this machine itself or is an address: `localhost` and names below it (RFC 6761), with or without the root dot. */
function isLocalOrAddress(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}

/**
 * May a gateway that listens on loopback only be reached by this `Host`? A foreign DNS name that points here is what a page uses to read answers as if
 * it were the gateway's own (DNS rebinding).
 *
 * @param listed names from the config
 * @param certified names of the certificate; `*.` at the beginning stands for one label
 */
export function isServedHost(host: string, listed: ReadonlySet<string>, certified: readonly string[]): boolean {
  const url = parseHost(host, "http:");
  if (!url) return false;
  const name = bareName(url).replace(/\.$/, "");
  const wildcard = name.replace(/^[^.]+/, "*");
  return isLocalOrAddress(name) || listed.has(name) || certified.some((entry) => entry === name || entry === wildcard);
}

/** Host names that the operator listed by way of origins. */
export function hostNames(origins: ReadonlyArray<string | undefined>): Set<string> {
  return new Set(origins.flatMap((origin) => (origin === undefined ? [] : (safeUrl(origin)?.hostname.toLowerCase() ?? []))));
}

/**
 * Origins that pages may have: the configured ones; beyond loopback, when none are configured, those of the gateway's own pages on the port in use. They are
 * worked out at each start and never written, so that they follow the port. Earlier releases wrote them: such a list counts as none configured.
 */
export function effectiveOrigins(
  configured: readonly string[] | undefined,
  { loopbackOnly, port, scheme }: { loopbackOnly: boolean; port: number; scheme: "http" | "https" },
): readonly string[] {
  if (configured && !isWrittenSeed(configured)) return configured;
  return loopbackOnly ? (configured ?? []) : [...(configured ?? []), ...seededOrigins(port, scheme)];
}

/** Exactly the pair that was once written for one port. */
function isWrittenSeed(origins: readonly string[]): boolean {
  const [first = "", second = ""] = origins;
  const port = /^(https?):\/\/localhost:(\d{1,5})$/.exec(first);
  return origins.length === 2 && port !== null && second === `${port[1]}://127.0.0.1:${port[2]}`;
}

function seededOrigins(port: number, scheme: "http" | "https"): string[] {
  return [`${scheme}://localhost:${port}`, `${scheme}://127.0.0.1:${port}`];
}

function bareName(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/** A `Host` header that names a host and perhaps a port, and nothing else. */
function parseHost(host: string | undefined, protocol: string): URL | undefined {
  return host === undefined || /[/?#@\\\s]/.test(host) ? undefined : safeUrl(`${protocol}//${host}`);
}

function safeUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
