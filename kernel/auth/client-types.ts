import type { OperatorScope } from "../../sdk/types/rpc.ts";

/** The part of a request that the client policy reads; Node's `IncomingMessage` has it. */
export interface RequestHead {
  /** Names in lower case, repeated ones joined or dropped. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Name and value by turns, as they came. */
  readonly rawHeaders: readonly string[];
  /** `1.0` may come without a `Host`. */
  readonly httpVersion?: string;
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly remotePort?: number | undefined;
    readonly localPort?: number | undefined;
  };
}

/** A user whom a listed proxy vouches for. */
export interface ProxyIdentity {
  /** As the proxy spelled it, trimmed. */
  readonly user: string;
  /** The most such a caller is granted (`gateway.auth.trustedProxy.scopes`). */
  readonly scopesCeiling: readonly OperatorScope[];
}

/** Reasons for not trusting a proxy's headers, in the order of the checks. */
export type ProxyRefusal =
  /** The peer is not in `gateway.trustedProxies`. */
  | "proxy_untrusted"
  /** A loopback peer without `allowLoopback`. */
  | "proxy_loopback_not_allowed"
  /** The peer has an address of this host: some local process, not a proxy elsewhere. */
  | "proxy_own_address"
  /** One of `requiredHeaders` is missing or blank. */
  | "proxy_header_missing"
  /** `userHeader` is missing or blank. */
  | "proxy_user_missing"
  /** `userHeader` came more than once. */
  | "proxy_user_ambiguous"
  /** Not one of `allowUsers`. */
  | "proxy_user_not_allowed";

/**
 * Verdict of mode `trusted-proxy` about one request. `local`: a direct loopback caller without forwarding headers, who may use the configured
 * password instead; `refused`: nothing else opens.
 */
export type ProxyVerdict =
  | { readonly kind: "identity"; readonly identity: ProxyIdentity }
  | { readonly kind: "local" }
  | { readonly kind: "refused"; readonly reason: ProxyRefusal };

/** The client behind a connection, computed once from the peer, the headers and `gateway.trustedProxies`. */
export interface Caller {
  /** Canonical client address: the right-most forwarded hop that is no listed proxy, else the peer. Mapped IPv4 folded, no zone. */
  readonly address: string;
  /** Loopback peer without any forwarding header. */
  readonly directLoopback: boolean;
  /** Forwarding headers from a peer that is not listed: refused before credentials, except on probes and hook ingress. */
  readonly unattributed: boolean;
}
