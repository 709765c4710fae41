import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import type { Remote } from "../../sdk/types/http.ts";

/** Address in its plain form: IPv4-mapped IPv6 folded to IPv4, zone dropped. */
export function normalizeAddress(address: string | undefined): string {
  const text = (address ?? "").replace(/%.*$/, "");
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text;
}

/** The key rate limits and budgets count by: an IPv6 caller owns its whole /64. */
export function addressBucket(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.parse(address);
  if (parsed.kind() === "ipv4" || parsed.range() === "loopback") return address;
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((p) => p.toString(16))
    .join(":")}::/64`;
}

export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}

/** Headers by which a proxy speaks for somebody else. */
export function hasForwardingHeader(headers: IncomingMessage["headers"]): boolean {
  return Object.keys(headers).some((name) => name === "forwarded" || name.startsWith("x-forwarded-") || name === "x-real-ip");
}

/** A socket's peer never changes; keep-alive connections ask often. */
const peers = new WeakMap<object, { address: string; loopback: boolean }>();

export function remoteOf(req: IncomingMessage): Remote {
  let peer = peers.get(req.socket);
  if (!peer) {
    const address = normalizeAddress(req.socket.remoteAddress);
    peer = { address, loopback: isLoopback(address) };
    peers.set(req.socket, peer);
  }
  return { address: peer.address, directLoopback: peer.loopback && !hasForwardingHeader(req.headers) };
}
