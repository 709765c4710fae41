import type { networkInterfaces } from "node:os";
import type { SvcConfig } from "../../sdk/config/root.ts";
import type { SvcError } from "../../sdk/errors.ts";
import { perSnapshot } from "../../sdk/internal/per-snapshot.ts";
import { protocolErrors } from "../errors.ts";
import { addressRanges } from "./address-ranges.ts";
import { hasForwardingHeader, peerOf, readCaller } from "./client-address.ts";
import type { Caller, ProxyVerdict, RequestHead } from "./client-types.ts";
import { createFailureLimiter } from "./failure-limiter.ts";
import { effectiveOrigins, hostNames, isHost, isKnownHost, isOriginAllowed, isServedHost } from "./origins.ts";
import type { AuthMode } from "./resolve-auth.ts";
import { checkProxy, interfaceAddresses } from "./trusted-proxy.ts";

/** Facts that the client policy of one gateway is made from. */
export interface ClientPolicyOptions {
  /** The snapshot in force. */
  config(): SvcConfig;
  mode: AuthMode;
  loopbackOnly: boolean;
  /** Port that is listened on, not the one that was asked for. */
  port: number;
  /** TLS is served, though the config may not say so. */
  isSecure?: boolean;
  /** Monotonic clock, ms. */
  now(): number;
  /** `os.networkInterfaces`. */
  interfaces(): ReturnType<typeof networkInterfaces>;
  /** Origins under which proxies of this machine serve the gateway; one object until it changes. */
  publishedOrigins?(): readonly string[];
  /** Host names of the certificate in use; none without TLS. */
  certificateNames?(): readonly string[];
}

/** A refusal that needs neither path nor credentials. */
export interface ClientRefusal {
  status: 400 | 403 | 421 | 429 | 431;
  /** Seconds until it is worth coming back. */
  retryAfter?: number;
  /** Problem and fix, where the status does not name them. */
  message?: string;
}

/** Judges callers and the pages that sent them, before any credentials and with the config in force. */
export interface ClientPolicy {
  /** Computed once for each request and passed on. */
  callerOf(req: RequestHead): Caller;
  /** Undefined: the request may go on. Constant work: nothing is read from disk, nothing parsed but the head. */
  refusalOf(req: RequestHead): ClientRefusal | undefined;
  /**
   * Refusal of a request whose `Host` is not a name of this gateway, for every path that needs the gateway's own credentials or none (`misdirected-request`).
   * Only a gateway that listens on loopback alone is sure which names lead to it; one behind a listed proxy leaves the names to the proxy.
   */
  hostRefusalOf(req: RequestHead): SvcError | undefined;
  /** The same two for an upgrade, which no path exempts, nor from attribution. */
  upgradeRefusalOf(req: RequestHead): ClientRefusal | undefined;
  /** May a page of this origin use the gateway? A refusal counts against that origin. */
  isOriginAllowed(origin: string, req: RequestHead, transport?: "ws" | "http"): boolean;
  /** Milliseconds for which an origin that was refused too often is not even heard; 0 = now. */
  originRetryAfterMs(origin: string): number;
  /** Undefined unless the mode is `trusted-proxy`. Asked again after a reload it may say something else. */
  proxyVerdict(req: RequestHead): ProxyVerdict | undefined;
}

const noNames: readonly string[] = [];

/** Header lines of one request. */
const MAX_HEADER_LINES = 100;
/** Interfaces come and go; asking for them on every request would be work for whoever can reach the port. */
const INTERFACES_MS = 5_000;
/** An origin that is longer is no origin that anybody has listed. */
const MAX_ORIGIN_CHARS = 512;

/** Makes the client policy of one gateway. */
export function createClientPolicy(options: ClientPolicyOptions): ClientPolicy {
  const rules = perSnapshot(rulesInput(options), ({ config, published }) => rulesOf(config, published, options));
  const isOwn = ownAddresses(options);
  const limiter = createFailureLimiter(() => ({ ...options.config().gateway.auth.rateLimit, exemptLoopback: false }), options.now);
  /** Only those that proxies speak for: everybody else is the peer of the socket. */
  const callers = new WeakMap<RequestHead, Caller>();
  const callerOf = (req: RequestHead) => {
    if (!hasForwardingHeader(req.headers)) return peerOf(req).direct;
    const known = callers.get(req);
    if (known) return known;
    const caller = readCaller(req, rules());
    callers.set(req, caller);
    return caller;
  };
  const isAllowed = (origin: string, req: RequestHead, transport: "ws" | "http") =>
    origin.length <= MAX_ORIGIN_CHARS &&
    isOriginAllowed({
      origin,
      host: firstOf(req.headers.host),
      address: callerOf(req).address,
      anyLoopback: transport === "http" && callerOf(req).directLoopback,
      isOwn,
      ...rules().origins,
    });
  const originRetryAfterMs = (origin: string) => limiter.retryAfterMs(origin.slice(0, MAX_ORIGIN_CHARS), false);
  const refusalOf = (req: RequestHead): ClientRefusal | undefined => {
    if (req.rawHeaders.length > MAX_HEADER_LINES * 2) return { status: 431 };
    if (!hasOneHost(req) || !isHostReadable(firstOf(req.headers.host))) return { status: 400 };
    return isHostKnown(req) ? undefined : { status: 403 };
  };
  /** The `Host` that was read last: most callers use one, and reading it anew costs more than the comparison. */
  let readable = "";
  const isHostReadable = (host = "") => {
    if (host === readable || host === "") return true;
    if (!isHost(host)) return false;
    readable = host;
    return true;
  };
  /** Without a secret the `Host` is all that tells a page on a rebound name from a real caller. */
  const isHostKnown = (req: RequestHead) =>
    (options.mode !== "none" && options.mode !== "trusted-proxy") || isKnownHost(firstOf(req.headers.host), rules().hosts);

  const hostRefusalOf = servedHosts(options, rules);
  return {
    callerOf,
    refusalOf,
    hostRefusalOf,
    upgradeRefusalOf(req) {
      const refusal = refusalOf(req);
      if (refusal) return refusal;
      if (callerOf(req).unattributed) return { status: 403 };
      const misdirection = hostRefusalOf(req);
      if (misdirection) return { status: 421, message: misdirection.message };
      const origin = firstOf(req.headers.origin);
      const waitMs = origin === undefined ? 0 : originRetryAfterMs(origin);
      if (origin === undefined || waitMs === 0 || isAllowed(origin, req, "ws")) return undefined;
      return { status: 429, retryAfter: Math.ceil(waitMs / 1_000) };
    },
    isOriginAllowed(origin, req, transport = "ws") {
      if (isAllowed(origin, req, transport)) return true;
      limiter.fail(origin.slice(0, MAX_ORIGIN_CHARS), false);
      return false;
    },
    originRetryAfterMs,
    proxyVerdict(req) {
      if (options.mode !== "trusted-proxy") return undefined;
      const { isListed, trustedProxy } = rules();
      return checkProxy(req, { isTrusted: isListed, isOwn, trustedProxy });
    },
  };
}

/** Refuses a `Host` that this gateway does not serve. */
function servedHosts(
  { loopbackOnly, certificateNames = () => noNames }: ClientPolicyOptions,
  rules: () => ReturnType<typeof rulesOf>,
): ClientPolicy["hostRefusalOf"] {
  /** The name that was served last and what it was found in: most callers use one name, and reading it anew costs more than the comparison. */
  let served: { host: string; hosts: ReadonlySet<string>; names: readonly string[] } | undefined;
  return (req) => {
    const host = firstOf(req.headers.host);
    const { hosts, anyHost } = rules();
    // Without a Host (HTTP/1.0) there is no browser. A proxy that is not listed is refused for that, with the better advice.
    if (!loopbackOnly || anyHost || host === undefined || hasForwardingHeader(req.headers)) return undefined;
    const names = certificateNames();
    if (served?.host === host && served.hosts === hosts && served.names === names) return undefined;
    if (!isServedHost(host, hosts, names)) return misdirected(host);
    served = { host, hosts, names };
    return undefined;
  };
}

/** Everything the rules are made from: one object until a part of it changes. */
function rulesInput({ config, publishedOrigins = () => noNames }: ClientPolicyOptions) {
  let last = { config: undefined as SvcConfig | undefined, published: noNames };
  return () => {
    const [now, published] = [config(), publishedOrigins()];
    if (last.config !== now || last.published !== published) last = { config: now, published };
    return last as { config: SvcConfig; published: readonly string[] };
  };
}

/** Peers that a proxy of this machine has. */
const ownProxy = ["127.0.0.1", "::1"];

function rulesOf({ gateway }: SvcConfig, published: readonly string[], { loopbackOnly, port, isSecure }: ClientPolicyOptions) {
  const { controlUi } = gateway;
  const scheme: "http" | "https" = gateway.tls.enabled || isSecure ? "https" : "http";
  const allowed = [...effectiveOrigins(controlUi.allowedOrigins, { loopbackOnly, port, scheme }), ...published];
  const isListed = addressRanges(gateway.trustedProxies);
  return {
    isTrusted: published.length > 0 ? addressRanges([...gateway.trustedProxies, ...ownProxy]) : isListed,
    /** May name users, in mode `trusted-proxy`: what publishes the gateway may not. */
    isListed,
    allowRealIp: gateway.allowRealIpFallback,
    trustedProxy: gateway.auth.trustedProxy,
    hosts: hostNames([...allowed, gateway.publicOrigin]),
    anyHost: allowed.includes("*") || controlUi.dangerouslyAllowHostHeaderOriginFallback,
    origins: { allowed, scheme, hostFallback: controlUi.dangerouslyAllowHostHeaderOriginFallback },
  };
}

function ownAddresses({ interfaces, now }: ClientPolicyOptions): (address: string) => boolean {
  let known: { at: number; addresses: Set<string> } | undefined;
  return (address) => {
    if (!known || now() - known.at > INTERFACES_MS) known = { at: now(), addresses: interfaceAddresses(interfaces()) };
    return known.addresses.has(address);
  };
}

/** Checks that a request has one Host: of two, Node keeps the first, and a proxy in front may have used the other. */
function hasOneHost({ rawHeaders, httpVersion }: RequestHead): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Characters of a foreign `Host` that an answer repeats. */
const MAX_HOST_CHARS = 100;

/** A request by a host name that is not one of the gateway's (RFC 9110 15.5.20). */
function misdirected(host: string): SvcError {
  const name = host.slice(0, MAX_HOST_CHARS).replace(/[^\w.:-]/g, "?");
  return protocolErrors.misdirectedRequest({ host: name });
}
