import { plainAddress } from "../../sdk/internal/addresses.ts";
import { isLoopback } from "./address-ranges.ts";
import type { Caller, RequestHead } from "./client-types.ts";

/** Proxies whose word about the client counts. */
export interface ForwardingRules {
  /** Is this address in `gateway.trustedProxies`? */
  isTrusted(address: string): boolean;
  /** `gateway.allowRealIpFallback`. */
  allowRealIp: boolean;
}

/** Headers by which a proxy speaks for somebody else, besides `Forwarded` and `X-Forwarded-*`. */
const forwardingHeaders = new Set([
  "forwarded",
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-original-forwarded-for",
  "true-client-ip",
  "cf-connecting-ip",
]);

/** Does somebody between the client and this port say so? */
export function hasForwardingHeader(headers: RequestHead["headers"]): boolean {
  for (const name in headers) if (forwardingHeaders.has(name) || name.startsWith("x-forwarded")) return true;
  return false;
}

/** The other end of a socket. */
export interface Peer {
  address: string;
  loopback: boolean;
  /** The peer as a caller that speaks for itself; one frozen object for all requests of the socket, which route handlers get, too. */
  direct: Readonly<Caller>;
}

/** A socket's peer never changes, and keep-alive connections ask often. */
const peers = new WeakMap<object, Peer>();

/** Address at the other end of the socket; `""` when it is gone already. */
export function peerOf(req: RequestHead): Peer {
  let peer = peers.get(req.socket);
  if (!peer) {
    const address = plainAddress(req.socket.remoteAddress) ?? "";
    const loopback = isLoopback(address);
    peer = { address, loopback, direct: Object.freeze({ address, directLoopback: loopback, unattributed: false }) };
    peers.set(req.socket, peer);
  }
  return peer;
}

/** A loopback peer that speaks for itself. */
export function isDirectLoopback(req: RequestHead): boolean {
  return peerOf(req).loopback && !hasForwardingHeader(req.headers);
}

/** Finds the client behind a request, through the proxies that are trusted. */
export function readCaller(req: RequestHead, rules: ForwardingRules): Caller {
  const peer = peerOf(req);
  if (!hasForwardingHeader(req.headers)) return peer.direct;
  if (!rules.isTrusted(peer.address)) return { address: peer.address, directLoopback: false, unattributed: true };
  return { address: clientAddress(req.headers, peer.address, rules), directLoopback: false, unattributed: false };
}

/**
 * The right-most hop that is no listed proxy. A hop that cannot be read ends the walk: what is left of it, anybody may have written. Two
 * header forms that name different clients are not believed at all, because a proxy writes one of them and passes the other one through.
 */
function clientAddress(headers: RequestHead["headers"], peer: string, rules: ForwardingRules): string {
  const claims = [hopsOfList(headers["x-forwarded-for"]), hopsOfForwarded(headers.forwarded)].filter((hops) => hops !== undefined);
  const clients = new Set(claims.map((hops) => rightMost(hops, peer, rules)));
  if (clients.size > 1) return peer;
  const [client] = clients;
  if (client !== undefined) return client;
  return (rules.allowRealIp && addressOfHop(joined(headers["x-real-ip"]) ?? "")) || peer;
}

function rightMost(hops: readonly string[], peer: string, rules: ForwardingRules): string {
  let nearest = peer;
  for (const hop of hops.toReversed()) {
    const address = addressOfHop(hop);
    if (address === undefined) return nearest;
    if (!rules.isTrusted(address)) return address;
    nearest = address;
  }
  return nearest;
}

function hopsOfList(value: string | string[] | undefined): string[] | undefined {
  return joined(value)?.split(",");
}

/** The `for` of each element of RFC 7239; an element without one is a hop nobody can read. */
function hopsOfForwarded(value: string | string[] | undefined): string[] | undefined {
  const text = joined(value);
  if (text === undefined) return undefined;
  return splitUnquoted(text, ",").flatMap((element) => {
    if (element === "") return [];
    const pairs = splitUnquoted(element, ";").map((pair) => pair.trim());
    const given = pairs.find((pair) => /^for=/i.test(pair))?.slice("for=".length);
    return [given?.trim().replace(/^"([^"]*)"$/, "$1") ?? ""];
  });
}

/** Parts between separators that stand in no quoted string; a quote that is never closed lasts to the end. One pass, whatever the text: it comes from anybody. */
function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = [];
  let [start, isQuoted] = [0, false];
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted && char === "\\") i += 1;
    else if (!isQuoted && char === separator) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

/** `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`; undefined for `unknown`, hidden names and anything else. */
function addressOfHop(hop: string): string | undefined {
  const text = hop.trim();
  const inner = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1];
  return plainAddress(inner ?? text);
}
