import { BlockList, isIP, SocketAddress } from "node:net";

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

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Is this an address that only this machine has: 127.0.0.0/8 or `::1`, mapped forms included? False for anything that is no address. */
export function isLoopback(address: string): boolean {
  return isIn(loopback, address);
}

/**
 * Reads a list of addresses and ranges such as `10.0.0.0/8` or `::1`, as the config schema lets them through, into one question.
 *
 * @returns is this address, in any of its forms, in one of them?
 */
export function addressRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [given = "", bits] = range.split("/");
    // A range written in the mapped form means the IPv4 range that it maps.
    const address = plainAddress(given) as string;
    const folded = isIP(given) === 6 && isIP(address) === 4 ? 96 : 0;
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    const full = family === "ipv4" ? 32 : 128;
    list.addSubnet(address, bits === undefined ? full : Math.max(0, Number(bits) - folded), family);
  }
  return (address) => isIn(list, address);
}

function isIn(list: BlockList, address: string): boolean {
  const plain = plainAddress(address);
  return plain !== undefined && list.check(plain, isIP(plain) === 4 ? "ipv4" : "ipv6");
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
