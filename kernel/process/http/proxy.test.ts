import { expect, test } from "vitest";
import { namedProxies, proxyFor } from "./proxy.ts";

const proxy = "http://proxy.example:3128";
const name = (address: string, env: Record<string, string>) => proxyFor(new URL(address), env)?.name;

test("a proxy is chosen by the scheme, and a variable in lower case wins, also an empty one", () => {
  const table: Array<[string, Record<string, string>, string | undefined]> = [
    ["https://api.example/v1", {}, undefined],
    ["https://api.example/v1", { HTTPS_PROXY: proxy }, proxy],
    ["https://api.example/v1", { https_proxy: proxy, HTTPS_PROXY: "http://other.example" }, proxy],
    ["https://api.example/v1", { https_proxy: "", HTTPS_PROXY: proxy }, undefined],
    ["https://api.example/v1", { HTTP_PROXY: proxy }, undefined],
    ["http://api.example/v1", { HTTPS_PROXY: proxy }, undefined],
    ["http://api.example/v1", { http_proxy: proxy }, proxy],
    ["http://api.example/v1", { HTTP_PROXY: proxy }, proxy],
    ["https://api.example/v1", { HTTPS_PROXY: "proxy.example:3128" }, proxy],
    ["https://api.example/v1", { HTTPS_PROXY: "https://proxy.example" }, "https://proxy.example"],
  ];
  for (const [address, env, wanted] of table) expect(name(address, env), JSON.stringify([address, env])).toBe(wanted);
});

test("NO_PROXY lists hosts, domains, ports and subnets", () => {
  const table: Array<[string, string, boolean]> = [
    ["https://api.example", "*", true],
    ["https://api.example", "other.example, api.example", true],
    ["https://API.example.", "api.EXAMPLE", true],
    ["https://eu.api.example", "api.example", true],
    ["https://eu.api.example", ".api.example", true],
    ["https://eu.api.example", "*.api.example", true],
    ["https://notapi.example", "api.example", false],
    ["https://api.example", "api.example:443", true],
    ["https://api.example:8443", "api.example:443", false],
    ["https://10.1.2.3", "10.0.0.0/8", true],
    ["https://11.1.2.3", "10.0.0.0/8", false],
    ["https://10.1.2.3", "2.3", false],
    ["https://[fd00::1]", "fd00::/8", true],
    ["https://[fd00::1]:8443", "[fd00::1]:8443", true],
    ["https://api.example", "10.0.0.0/99, /, ::, :", false],
    ["https://api.example", "", false],
  ];
  for (const [address, list, isDirect] of table) {
    for (const variable of ["no_proxy", "NO_PROXY"]) {
      const found = name(address, { HTTPS_PROXY: proxy, [variable]: list });
      expect(found, JSON.stringify([address, list])).toBe(isDirect ? undefined : proxy);
    }
  }
});

test("this machine is never reached through a proxy", () => {
  const own = [
    "localhost",
    "models.localhost",
    "127.0.0.1",
    "127.8.9.1",
    "[::1]",
    "0.0.0.0",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f08:901]",
  ];
  for (const host of own) expect(name(`http://${host}:11434`, { HTTP_PROXY: proxy }), host).toBeUndefined();
  for (const host of ["localhost.example", "128.0.0.1", "0.0.0.1", "[::2]", "[::ffff:128.0.0.1]"])
    expect(name(`http://${host}`, { HTTP_PROXY: proxy }), host).toBe(proxy);
});

test("user and password are apart from the name that people see", () => {
  const found = proxyFor(new URL("https://api.example"), { HTTPS_PROXY: "http://me:p%40ss%ZZ@proxy.example:3128" });
  expect(found).toMatchObject({ name: proxy, origin: proxy, variable: "HTTPS_PROXY" });
  expect(Buffer.from(found?.authorization?.replace("Basic ", "") ?? "", "base64").toString()).toBe("me:p%40ss%ZZ");
  const escaped = proxyFor(new URL("https://api.example"), { HTTPS_PROXY: "http://me:p%40ss@proxy.example:3128" });
  expect(Buffer.from(escaped?.authorization?.replace("Basic ", "") ?? "", "base64").toString()).toBe("me:p@ss");
});

test.each([
  ["http://me:pass word@", "is not an address such as http://host:3128"],
  ["socks5://me:pass@proxy.example", "has the scheme socks5, expected http or https"],
])("a value that names no proxy is an error that does not repeat it: %s", (value, problem) => {
  const choose = () => proxyFor(new URL("https://api.example"), { HTTPS_PROXY: value });
  expect(choose).toThrow(
    expect.objectContaining({ code: "proxy-failed", message: `the proxy of HTTPS_PROXY ${problem}; check HTTPS_PROXY` }),
  );
  expect(namedProxies({ HTTPS_PROXY: value })).toEqual([{ scheme: "https", variable: "HTTPS_PROXY" }]);
});

test("the proxies in use are listed without user and password", () => {
  expect(namedProxies({})).toEqual([]);
  expect(namedProxies({ https_proxy: "http://me:pass@proxy.example:3128", HTTP_PROXY: "proxy.example" })).toEqual([
    { scheme: "https", variable: "https_proxy", proxy },
    { scheme: "http", variable: "HTTP_PROXY", proxy: "http://proxy.example" },
  ]);
});
