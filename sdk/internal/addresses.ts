import { isIP, SocketAddress } from "node:net";

/** Plain form of an IP address: IPv4-mapped IPv6 folded to IPv4, zone dropped, IPv6 in its shortest form. Undefined when the text is none. */
export function plainAddress(text: string | undefined): string | undefined {
  const bare = (text ?? "").split("%", 1)[0] as string;
  const version = isIP(bare);
  if (version === 0) return undefined;
  if (version === 4) return bare;
  const { address } = new SocketAddress({ address: bare, family: "ipv6" });
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  return mapped ?? address;
}

/** The key that rate limits and budgets count by: an IPv6 caller owns its whole /64. What is no address stays as it is. */
export function addressBucket(address: string): string {
  const plain = plainAddress(address);
  if (plain === undefined || isIP(plain) === 4 || plain === "::1") return plain ?? address;
  return `${groupsOf(plain).slice(0, 4).join(":")}::/64`;
}

/** The groups of an IPv6 address in plain form, zeros filled in. */
function groupsOf(address: string): string[] {
  const [head = "", tail] = address.split("::");
  const before = head.split(":").filter(Boolean);
  if (tail === undefined) return before;
  const after = tail.split(":").filter(Boolean);
  return [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0"), ...after];
}
