import { BlockList, isIP } from "node:net";
import { kernelErrors } from "../../errors.ts";

/** Proxy that an environment names for an address. */
export interface EnvProxy {
  /** For people: without user and password. */
  name: string;
  /** Variable it comes from. */
  variable: string;
  origin: string;
  /** Value of `Proxy-Authorization`. */
  authorization?: string;
}

export type ProxyEnv = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for an address, by the variables that curl and most programs read: `https_proxy` or `http_proxy` by the scheme, unless `no_proxy` lists the
 * host. The name in lower case wins, also with an empty value. Addresses of this machine are never reached through a proxy.
 * @throws {SvcError} `proxy-failed` for a value that is no address of a proxy; the value is not repeated, since it may hold a password
 */
export function proxyFor(url: URL, env: ProxyEnv): EnvProxy | undefined {
  const found = variableOf(url.protocol === "https:" ? "https_proxy" : "http_proxy", env);
  if (found === undefined || isThisMachine(hostOf(url)) || isListed(url, variableOf("no_proxy", env)?.value ?? "")) return undefined;
  return toProxy(found);
}

/** The proxies that an environment names, for people: `https` → `http://proxy.example:3128`. A value that is none is named as such. */
export function namedProxies(env: ProxyEnv): Array<{ scheme: "http" | "https"; variable: string; proxy?: string }> {
  return (["https", "http"] as const).flatMap((scheme) => {
    const found = variableOf(`${scheme}_proxy`, env);
    if (!found) return [];
    try {
      return [{ scheme, variable: found.variable, proxy: toProxy(found).name }];
    } catch {
      return [{ scheme, variable: found.variable }];
    }
  });
}

interface Variable {
  variable: string;
  value: string;
}

function variableOf(name: string, env: ProxyEnv): Variable | undefined {
  for (const variable of [name, name.toUpperCase()]) {
    const value = env[variable]?.trim();
    if (value !== undefined) return value === "" ? undefined : { variable, value };
  }
  return undefined;
}

function toProxy({ variable, value }: Variable): EnvProxy {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const wrong = (problem: string) => kernelErrors.proxyFailed({ proxy: `of ${variable}`, problem, variable });
  if (!url || url.hostname === "") throw wrong("is not an address such as http://host:3128");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw wrong(`has the scheme ${url.protocol.slice(0, -1)}, expected http or https`);
  const isOpen = url.username === "" && url.password === "";
  return {
    name: url.origin,
    variable,
    origin: url.origin,
    ...(isOpen ? {} : { authorization: basic(url) }),
  };
}

function basic({ username, password }: URL): string {
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Is the host of an address in a list such as `example.com, .lab, 10.0.0.0/8, db:5432`? A domain stands for what is below it, too; `*` for everything. */
function isListed(url: URL, list: string): boolean {
  const host = hostOf(url);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== "" && fits(entry, host, port));
}

function fits(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInSubnet(entry, host);
  const [, name = entry, wantedPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const domain = name.replace(/^\[|\]$/g, "").replace(/^\*?\./, "");
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

function isInSubnet(entry: string, host: string): boolean {
  const [network = "", prefix = ""] = entry.split("/");
  const [family, bits] = [isIP(network), Number(prefix)];
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(prefix) || bits > (family === 4 ? 32 : 128)) return false;
  const subnet = new BlockList();
  const type = family === 4 ? "ipv4" : "ipv6";
  subnet.addSubnet(network, bits, type);
  return subnet.check(host, type);
}

/** Addresses of this machine; what IPv4 ones look like in IPv6 (`::ffff:7f00:1`) counts as them. */
const ownAddresses = new BlockList();
ownAddresses.addSubnet("127.0.0.0", 8, "ipv4");
ownAddresses.addAddress("0.0.0.0", "ipv4");
ownAddresses.addAddress("::1", "ipv6");
ownAddresses.addAddress("::", "ipv6");

function isThisMachine(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === "localhost" || host.endsWith(".localhost");
  return ownAddresses.check(host, family === 4 ? "ipv4" : "ipv6");
}

/** In lower case, without the brackets of an IPv6 address and the dot at the end of a name. */
function hostOf({ hostname }: URL): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
