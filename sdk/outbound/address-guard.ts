import { BlockList, isIP } from "node:net";

const refused = new BlockList();
const v4 = ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24"];
const more4 = ["192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"];
for (const range of [...v4, ...more4]) add(range, "ipv4");
/** The only IPv6 addresses of the public network; tunnels and translations within them reach private IPv4 addresses. */
const publicV6 = new BlockList();
publicV6.addSubnet("2000::", 3, "ipv6");
for (const range of ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]) add(range, "ipv6");

function add(range: string, family: "ipv4" | "ipv6"): void {
  const [net = "", bits = ""] = range.split("/");
  refused.addSubnet(net, Number(bits), family);
}

/** True for an address of the public network: not of this machine, a private net, a link, a group, or a form that stands for one of these. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, "ipv4");
  return family === 6 && publicV6.check(address, "ipv6") && !refused.check(address, "ipv6");
}
