import { plainAddress } from "../../../sdk/internal/addresses.ts";
import { addressRanges } from "../address-ranges.ts";
import { peerOf } from "../client-address.ts";
import type { Caller, RequestHead } from "../client-types.ts";
import { type LocalConnection, peerUid } from "./peer-uid.ts";
import type { Whois } from "./whois.ts";

/** Finds out who of the tailnet a caller is; undefined for everybody whose name is not proven. */
export type TailnetIdentity = (req: RequestHead, caller: Caller) => Promise<string | undefined>;

export interface TailnetOptions {
  /** `gateway.auth.allowTailscale` in force. */
  isAllowed(): boolean;
  whois: Whois;
  /** Default: the system's own word. */
  peerUid?: (connection: LocalConnection) => Promise<number | undefined>;
  /** Default: that of this process. */
  uid?: number | undefined;
}

const NAME_HEADER = "tailscale-user-login";
const MAX_NAME_CHARS = 320;
const isTailnetAddress = addressRanges(["100.64.0.0/10", "fd7a:115c:a1e0::/48"]);

/**
 * Proves the name in `Tailscale-User-Login`. The header alone proves nothing: it has to come over loopback from a proxy that speaks for somebody else, whose
 * process belongs to root or to the gateway's own user, and the tailnet's daemon has to know the named person behind the client's address.
 */
export function createTailnetIdentity(options: TailnetOptions): TailnetIdentity {
  const { isAllowed, whois, uid = process.getuid?.() } = options;
  const uidOf = options.peerUid ?? peerUid;
  return async (req, caller) => {
    const claimed = isAllowed() ? claimOf(req, caller) : undefined;
    if (!claimed) return undefined;
    const login = await whois(claimed.address);
    if (login?.toLowerCase() !== claimed.name.toLowerCase()) return undefined;
    const owner = await uidOf(claimed.connection);
    return owner === undefined || owner === 0 || owner === uid ? login : undefined;
  };
}

interface Claim {
  name: string;
  address: string;
  connection: LocalConnection;
}

/** Name and address that a request claims, if it came the way it has to come. */
function claimOf(req: RequestHead, caller: Caller): Claim | undefined {
  const { remotePort, localPort } = req.socket;
  if (!peerOf(req).loopback || caller.directLoopback || caller.unattributed) return undefined;
  if (remotePort === undefined || localPort === undefined) return undefined;
  const names = req.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === NAME_HEADER);
  const name = names[0]?.trim() ?? "";
  // A second line would be that of somebody in front of the proxy.
  if (names.length !== 1 || name === "" || name.length > MAX_NAME_CHARS || name.includes(",")) return undefined;
  if (req.headers["x-forwarded-proto"] !== "https") return undefined;
  // One hop, and so nothing that a client wrote itself.
  const address = plainAddress(String(req.headers["x-forwarded-for"] ?? "").trim());
  return address !== undefined && address === caller.address && isTailnetAddress(address)
    ? { name, address, connection: { remotePort, localPort } }
    : undefined;
}
