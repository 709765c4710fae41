import type { SvcConfig } from "../../sdk/config/root.ts";
import { plainAddress } from "../../sdk/internal/addresses.ts";
import { hasForwardingHeader, peerOf } from "./client-address.ts";
import type { ProxyVerdict, RequestHead } from "./client-types.ts";

/** Rules for judging a proxy's statement. */
export interface ProxyRules {
  /** Is this address in `gateway.trustedProxies`? */
  isTrusted(address: string): boolean;
  /** Has an interface of this host that address? */
  isOwn(address: string): boolean;
  trustedProxy: SvcConfig["gateway"]["auth"]["trustedProxy"];
}

/** Checks in mode `trusted-proxy` whether the proxy may name a user, and which user it names. The first failing check is the reason. Pure. */
export function checkProxy(req: RequestHead, rules: ProxyRules): ProxyVerdict {
  const { userHeader = "", requiredHeaders, allowUsers, allowLoopback, scopes } = rules.trustedProxy;
  const peer = peerOf(req);
  const users = valuesOf(req, userHeader);
  if (peer.loopback && users.length === 0 && !hasForwardingHeader(req.headers)) return { kind: "local" };
  if (!rules.isTrusted(peer.address)) return { kind: "refused", reason: "proxy_untrusted" };
  if (peer.loopback && !allowLoopback) return { kind: "refused", reason: "proxy_loopback_not_allowed" };
  if (!peer.loopback && rules.isOwn(peer.address)) return { kind: "refused", reason: "proxy_own_address" };
  if (requiredHeaders.some((name) => !valuesOf(req, name).some((value) => value !== ""))) {
    return { kind: "refused", reason: "proxy_header_missing" };
  }
  // A proxy that appends instead of replacing would let the client name itself; so would one that joined two lines.
  if (users.length > 1 || users[0]?.includes(",")) return { kind: "refused", reason: "proxy_user_ambiguous" };
  const [user = ""] = users;
  if (user === "") return { kind: "refused", reason: "proxy_user_missing" };
  if (allowUsers.length > 0 && !allowUsers.some((allowed) => sameUser(allowed, user))) {
    return { kind: "refused", reason: "proxy_user_not_allowed" };
  }
  return { kind: "identity", identity: { user, scopesCeiling: scopes } };
}

/** Values of every line of that name, trimmed: Node joins some repeated headers and drops others. */
function valuesOf({ rawHeaders }: RequestHead, name: string): string[] {
  const wanted = name.toLowerCase();
  return rawHeaders.flatMap((header, i) => (i % 2 === 0 && header.toLowerCase() === wanted ? [(rawHeaders[i + 1] ?? "").trim()] : []));
}

/** Mail addresses without regard to case, other names exactly. */
function sameUser(allowed: string, user: string): boolean {
  return allowed === user || (allowed.includes("@") && allowed.toLowerCase() === user.toLowerCase());
}

/** Addresses of a host's interfaces, as `os.networkInterfaces()` lists them, in plain form. */
export function interfaceAddresses(interfaces: Readonly<Record<string, ReadonlyArray<{ address: string }> | undefined>>): Set<string> {
  const all = Object.values(interfaces).flatMap((list) => list ?? []);
  return new Set(all.map(({ address }) => plainAddress(address) ?? address));
}
