import type { SrvRecord } from "node:dns";
import { resolveSrv } from "node:dns/promises";
import type { XmppAccount } from "./accounts.ts";

/** A place where the account's server may be. */
export interface Server {
  host: string;
  port: number;
  /** TLS from the first byte. */
  direct: boolean;
}

const PORTS = { starttls: 5222, direct: 5223 };
/** Servers of one domain that are tried. */
const MAX_SERVERS = 8;
const DNS_MS = 5_000;

type Lookup = (name: string) => Promise<SrvRecord[]>;

/**
 * Servers of an account in the order in which they are tried: the configured one, or those of the DNS (RFC 6120, 3.2; XEP-0368), or else the domain itself.
 * @throws {Error} for a domain that says it has none
 */
export async function serversOf({ host, port, tls, domain }: XmppAccount, lookup: Lookup = srv): Promise<Server[]> {
  const direct = tls?.direct === true;
  const ownPort = port ?? (direct ? PORTS.direct : PORTS.starttls);
  if (host !== undefined) return [{ host, port: ownPort, direct }];
  const [secure, plain] = await Promise.all([
    tls ? lookup(`_xmpps-client._tcp.${domain}`) : [],
    direct ? [] : lookup(`_xmpp-client._tcp.${domain}`),
  ]);
  const isNone = (records: readonly SrvRecord[]) => records.length === 1 && (records[0]?.name === "." || records[0]?.name === "");
  if (isNone(plain) && (secure.length === 0 || isNone(secure))) throw new Error(`${domain} has no server for clients, says the DNS`);
  const all = [
    ...(isNone(plain) ? [] : plain.map((record) => ({ ...record, direct: false }))),
    ...(isNone(secure) ? [] : secure.map((record) => ({ ...record, direct: true }))),
  ];
  if (all.length === 0) return [{ host: domain, port: ownPort, direct }];
  return all
    .sort((a, b) => a.priority - b.priority || b.weight - a.weight)
    .slice(0, MAX_SERVERS)
    .map((record) => ({ host: record.name, port: record.port, direct: record.direct }));
}

/** Records of a name; none where there are none, or nobody answers. */
async function srv(name: string): Promise<SrvRecord[]> {
  let late: NodeJS.Timeout | undefined;
  const limit = new Promise<SrvRecord[]>((resolve) => {
    late = setTimeout(() => resolve([]), DNS_MS);
  });
  return Promise.race([resolveSrv(name).catch(() => []), limit]).finally(() => clearTimeout(late));
}
