import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { HttpRoute } from "../../sdk/types/http.ts";
import { prefix, route, tableOf } from "../../test/tools/routes.ts";
import { createRouter } from "./router.ts";

const page = { ...prefix, auth: "plugin", fallback: true } as const;

const servers = new Set<Server>();
afterEach(() => {
  for (const server of servers) server.close();
  servers.clear();
});

/** A port that answers which route a request came to, and the way to ask it with a target as it is written. */
async function portOf(routes: Array<[HttpRoute, string]>, load: (path: string) => Promise<void> | undefined = () => undefined) {
  const table = tableOf(...routes);
  const router = createRouter({
    routes: table,
    load,
    answer: (_, match) =>
      match ? `${match.entry ? match.entry.owner : `not ${match.group.allow}`} ${match.group.path} ${match.rest}`.trim() : "nobody",
    onError: (error) => `failed: ${error.message}`,
  });
  const server = createServer(router);
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const found = (target: string, method = "GET") =>
    new Promise<string>((resolve, reject) => {
      let answer = "";
      const socket = connect(port, "127.0.0.1").on("error", reject);
      socket.on("data", (piece) => (answer += piece.toString("latin1"))).on("close", () => resolve(answer.split("\r\n\r\n")[1] ?? ""));
      socket.write(Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, "latin1"));
    });
  return { table, found };
}

const routes: Array<[HttpRoute, string]> = [
  [route("/a"), "x"],
  [route("/a", { method: ["POST", "HEAD"] }), "x"],
  [route("/a", prefix), "x"],
  [route("/a/b/c", prefix), "x"],
  [route("/v1/models"), "api"],
  [route("/v1/models", prefix), "api"],
  [route("/lone"), "z"],
  [route("/", page), "ui"],
];

describe("a path is answered by", () => {
  test.each([
    ["the exact route", "/a", "x /a"],
    ["the exact route, whatever the query", "/a?b=/lone", "x /a"],
    ["the prefix below it", "/a/b", "x /a b"],
    ["the longest prefix", "/a/b/c/d", "x /a/b/c d"],
    ["a prefix at its own path", "/a/b/c", "x /a/b/c"],
    ["no prefix that is only the same letters", "/ab", "ui / ab"],
    ["the fallback otherwise", "/deep/er", "ui / deep/er"],
    ["the fallback at the root", "/", "ui /"],
  ])("%s: %s", async (_, path, expected) => {
    const { found } = await portOf(routes);
    expect(await found(path)).toBe(expected);
  });

  test("nobody when it is an API path without an owner", async () => {
    const { found } = await portOf(routes);
    for (const path of ["/v1", "/v1/x", "/api", "/api/x", "/tools/x", "/hooks", "/hooks/x", "/healthz/x", "/ready/x"]) {
      expect([path, await found(path)]).toEqual([path, "nobody"]);
    }
  });

  test("a plugin that its first request loads, before the fallback, wherever its path lies", async () => {
    const waiting = new Set(["/figures"]);
    const { table, found } = await portOf([[route("/", page), "ui"]], (path) =>
      waiting.delete(path) ? Promise.resolve(void table.add(route("/figures"), "late")) : undefined,
    );
    expect(await found("/figures")).toBe("late /figures");
    expect(await found("/other")).toBe("ui / other");
  });

  test("a fallback below its own base path only", async () => {
    const { found } = await portOf([[route("/ui", page), "ui"]]);
    expect([await found("/ui/x"), await found("/ui"), await found("/other")]).toEqual(["ui /ui ui/x", "ui /ui ui", "nobody"]);
  });

  test("a prefix of everything, API paths included", async () => {
    const { found } = await portOf([[route("/", prefix), "all"]]);
    expect([await found("/"), await found("/v1/x"), await found("//x")]).toEqual(["all /", "all / v1/x", "all / /x"]);
  });
});

describe("a route is reached by its path as it is written, not as a URL would be read:", () => {
  test.each([
    ["/lone/", "ui / lone/"],
    ["/LONE", "ui / LONE"],
    ["//lone", "ui / /lone"],
    ["/%6cone", "ui / %6cone"],
    ["/x/../lone", "ui / x/../lone"],
    ["/x/%2e%2E/lone", "ui / x/%2e%2E/lone"],
    ["/./lone", "ui / ./lone"],
    ["/\\lone", "ui / \\lone"],
    ["/lone#x", "ui / lone#x"],
    ["/lone;x", "ui / lone;x"],
    ["/lone%2f", "ui / lone%2f"],
    ["/v1/%6dodels", "nobody"],
    ["/v1//models", "nobody"],
    ["/v1/x/../models", "nobody"],
    ["/v1/models/../../lone", "api /v1/models ../../lone"],
    ["/a/../nowhere", "x /a ../nowhere"],
    ["/%", "ui / %"],
    ["/lone%zz", "ui / lone%zz"],
  ])("%s", async (target, expected) => {
    const { found } = await portOf(routes);
    expect(await found(target)).toBe(expected);
  });

  test("below a prefix every spelling is the plugin's to read", async () => {
    const { found } = await portOf(routes);
    const targets = ["/v1/models/svc%2Fmain", "/v1/models/svc%3Amain", "/v1/models/a//b", "/v1/models/%zz", "/v1/models/x/"];
    expect(await Promise.all(targets.map((target) => found(target)))).toEqual([
      "api /v1/models svc%2Fmain",
      "api /v1/models svc%3Amain",
      "api /v1/models a//b",
      "api /v1/models %zz",
      "api /v1/models x/",
    ]);
  });

  test("a slash at the end belongs to the prefix, not to the exact path", async () => {
    const { found } = await portOf([
      [route("/a", { method: "PUT" }), "x"],
      [route("/a", prefix), "x"],
    ]);
    expect([await found("/a/"), await found("/a")]).toEqual(["x /a", "not PUT /a"]);
  });

  test("an absolute target and an asterisk reach no route but the fallback", async () => {
    const { found } = await portOf(routes);
    expect([await found("http://localhost/lone"), await found("*", "OPTIONS")]).toEqual(["ui / ttp://localhost/lone", "not GET /"]);
    const { found: alone } = await portOf(routes.slice(0, -1));
    expect([await alone("http://localhost/lone"), await alone("*", "OPTIONS")]).toEqual(["nobody", "nobody"]);
  });
});

test("a method that no route of the path has is told which ones there are; HEAD is not answered by GET", async () => {
  const { found, table } = await portOf(routes);
  expect([await found("/a", "PUT"), await found("/a/b", "OPTIONS")]).toEqual(["not GET, POST, HEAD /a", "not GET /a b"]);
  expect(table.groups().find(({ path }) => path === "/lone")?.allow).toBe("GET");
  expect(await found("/lone", "PROPFIND")).toBe("not GET /lone");
});

test("letters that mean something in a pattern mean themselves in the path of a route", async () => {
  for (const path of ["/a:b", "/a*", "/**", "/:id", "/(x)", "/{x}", "/a+", "/%3Aid", "/%2a", "/x(.*)y"]) {
    const { found } = await portOf([[route(path), "x"]]);
    expect([path, await found(path), await found("/other")]).toEqual([path, `x ${path}`, "nobody"]);
  }
});

test("a path of any characters can be looked up without harm to the others", async () => {
  const odd = [
    "/\ud800",
    "/\uffff",
    "/a\tb",
    "/é",
    "/%C3%A9x",
    "/a/../lone2",
    "/a\\b",
    "/ ",
    "/a?b",
    "/[x",
    "/$^",
    "/<a>",
    "/::((",
    "/{x}?",
    "/:id?",
    "/{%2a",
    "/x?/**",
  ];
  const { found } = await portOf([...odd.map((path): [HttpRoute, string] => [route(path), "x"]), [route("/lone"), "z"]]);
  expect(await found("/lone")).toBe("z /lone");
});

test("routes that come and go are looked up in the table of the moment", async () => {
  const { found, table } = await portOf([[route("/a"), "x"]]);
  expect([await found("/a"), await found("/b")]).toEqual(["x /a", "nobody"]);

  const added = table.add(route("/b"), "y");
  expect(await found("/b")).toBe("y /b");
  added.dispose();
  expect(await found("/b")).toBe("nobody");
});

test("a path without a route is looked up again once when a plugin was loaded for it", async () => {
  const loads: string[] = [];
  const { found, table } = await portOf([[route("/a"), "x"]], async (path) => {
    loads.push(path);
    if (path === "/late") table.add(route("/late"), "late");
  });
  expect([await found("/late"), await found("/never")]).toEqual(["late /late", "nobody"]);
  expect(loads).toEqual(["/late", "/never"]);
});
