import { BlockList, isIP } from "node:net";
import { plainAddress } from "../../sdk/internal/addresses.ts";

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
