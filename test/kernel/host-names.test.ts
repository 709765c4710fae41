import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { door } from "./_door.ts";
import { bodyOf, closeRawSockets, sendRaw, statusOf, upgradeRequest } from "./_raw.ts";

afterEach(closeRawSockets);
const TOKEN = "test-token-5f2d9a";
const get = (path: string, host: string, lines = "") =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n${lines}\r\n`;
const upgradeTo = (host: string) => `${upgradeRequest("/").replace("Host: 127.0.0.1", `Host: ${host}`)}`;
const start = (gateway: object = {}) =>
  createTestGateway({ plugins: [door, "control-ui"], config: { gateway: { auth: { token: TOKEN }, ...gateway } } });

describe("a gateway on loopback that is reached by a host name that is not its own", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway.close());
  const send = (request: string) => sendRaw(gateway.gateway.port, request);
  const refused = ["evil.example", "evil.example:18789", "127.0.0.1.evil.example", "localhost.evil.example", "x@127.0.0.1", "nas", ""];

  test.each(refused)("answers 421, and names the key to set: %j", async (host) => {
    const answer = await send(get("/door", host));
    expect([statusOf(answer), JSON.parse(bodyOf(answer)).error.type]).toEqual([421, "misdirected_request"]);
    expect(bodyOf(answer)).toContain("gateway.publicOrigin");
    expect(bodyOf(answer)).toContain("gateway.controlUi.allowedOrigins");
  });

  test("answers so before it says that a path is unknown, a method wrong or a credential missing, and for the page", async () => {
    const statuses = ["/nowhere", "/", "/assets/x.js", "/v1/models"].map(async (path) => statusOf(await send(get(path, "evil.example"))));
    expect(await Promise.all(statuses)).toEqual([421, 421, 421, 421]);
    expect(statusOf(await send(get("/door", "evil.example").replace("GET", "PUT")))).toBe(421);
    expect(statusOf(await send(get("/door", "evil.example").replace(TOKEN, "wrong")))).toBe(421);
    const nowhere = await send(get("/nowhere", "evil.example:1"));
    expect(bodyOf(nowhere)).toMatch(/^the host name "evil\.example:1" does not belong to this gateway; .*gateway\.publicOrigin/);
  });

  test("takes no upgrade either, with the same words", async () => {
    const answer = await send(upgradeTo("evil.example"));
    expect(statusOf(answer)).toBe(421);
    expect(bodyOf(answer)).toContain("gateway.publicOrigin");
  });

  test.each(["/healthz", "/readyz", "/ingress"])("answers %s all the same", async (path) => {
    expect(statusOf(await send(get(path, "evil.example")))).toBe(200);
  });

  test("leaves the webhook paths to those who own them, also when nobody does", async () => {
    expect(statusOf(await send(get("/hooks/wake", "evil.example")))).toBe(404);
  });

  test.each(["127.0.0.1", "127.8.8.8:1", "[::1]:18789", "localhost:9", "LOCALHOST", "localhost.", "svc.localhost", "192.0.2.1"])(
    "serves the name %s, which no foreign name server can give",
    async (host) => {
      expect(statusOf(await send(get("/door", host)))).toBe(200);
    },
  );

  test("serves HTTP/1.0 without a name", async () => {
    expect(statusOf(await send(`GET /door HTTP/1.0\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`))).toBe(200);
  });

  test("repeats of a name only what can stand in a name", async () => {
    const answer = await send(get("/nowhere", `'b!${"x".repeat(300)}`));
    expect(bodyOf(answer)).toContain(`"?b?${"x".repeat(97)}" does not belong`);
  });
});

test("a configured name is served: allowed origins, gateway.publicOrigin, and any name by way of a listed proxy", async () => {
  const gateway = await start({
    publicOrigin: "https://gw.example",
    controlUi: { allowedOrigins: ["http://ui.example:8080"] },
    trustedProxies: ["127.0.0.1"],
  });
  try {
    const status = async (host: string, lines = "") => statusOf(await sendRaw(gateway.gateway.port, get("/door", host, lines)));
    expect(await Promise.all(["gw.example", "GW.example:443", "ui.example", "other.example"].map((host) => status(host)))).toEqual([
      200, 200, 200, 421,
    ]);
    expect(await status("other.example", "X-Forwarded-For: 192.0.2.7\r\n")).toBe(200);
  } finally {
    await gateway.close();
  }
});

test("a gateway that listens beyond loopback serves any name: it cannot know its own", async () => {
  const gateway = await start({ bind: "lan" });
  try {
    expect(statusOf(await sendRaw(gateway.gateway.port, get("/door", "nas.local")))).toBe(200);
  } finally {
    await gateway.close();
  }
});
