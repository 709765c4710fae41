import { readFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { bodyOf, closeRawSockets, dial, headerOf, statusOf } from "../kernel/_raw.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { gatewayHere } from "./_gateway-here.ts";
import type { Home, Running } from "./_process.ts";

const HOOK_TOKEN = "hook-token-of-the-e2e-suite-0123456789";
const hooks = {
  enabled: true,
  token: HOOK_TOKEN,
  mappings: [
    {
      id: "shop",
      match: { path: "shop" },
      messageTemplate: "m",
      verify: { provider: "stripe", secret: "whsec_demo", mode: "instead" },
    },
  ],
};

let home: Home;
let gateway: Running;

beforeAll(async () => {
  home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token }, trustedProxies: ["127.0.0.1"] },
    hooks,
  });
  gateway = await gatewayIn(home);
});
afterAll(stopAll, 60_000);
afterEach(closeRawSockets);

const bearer = `Authorization: Bearer ${HOOK_TOKEN}\r\n`;
const wake = JSON.stringify({ text: "hello", mode: "next-heartbeat" });
const post = (path: string, headers: string, body = "") => `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n${body}`;
const sized = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n`;
const from = (client: string) => `X-Forwarded-For: ${client}\r\n`;

/** Statuses on one connection, the interim ones included. */
const statuses = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));

/** Writes one request after the other on one connection, each after the answer to the one before. */
async function converse(requests: string[]): Promise<number[]> {
  const { write, received } = await dial(gateway.port);
  for (const [i, one] of requests.entries()) {
    write(one);
    await eventually(() => statuses(received()).length > i);
  }
  return statuses(received());
}

/** The answer to one request whose connection the gateway ends. */
async function untilEnd(data: string): Promise<string> {
  const { write, received, ended } = await dial(gateway.port);
  write(data);
  await ended;
  return received();
}

describe("a sender", () => {
  test("keeps its connection over every answer to a whole request", async () => {
    const client = from("192.0.2.1");
    const said = await converse([
      post("/hooks/wake?token=x", client + bearer + sized(wake), wake),
      `GET /hooks/wake HTTP/1.1\r\nHost: localhost\r\n${client}\r\n`,
      post("/hooks/wake", client + sized(wake), wake),
      post("/hooks", client + bearer + sized("{}"), "{}"),
      post("/hooks/nobody", client + bearer + sized("{}"), "{}"),
      post("/hooks/wake", client + bearer + sized("{oops"), "{oops"),
      post("/hooks/wake", client + bearer + sized("{}"), "{}"),
      post("/hooks/wake", client + bearer + sized(wake), wake),
    ]);
    expect(said).toEqual([400, 405, 401, 404, 404, 400, 400, 200]);
  });

  test("reaches by spellings of a path nothing that its plain form does not own", async () => {
    const client = from("192.0.2.10");
    const spelled = (path: string) => post(path, client + bearer + sized(wake), wake);
    const outside = [
      "//hooks/wake",
      "/HOOKS/wake",
      "/hooks/../hooks/wake",
      "/hooks/%2e%2e/wake",
      "/hooks/wake;x",
      "/hooks/WAKE",
      "/hooksx/wake",
    ];
    const said = await converse(outside.map(spelled));
    expect(said.every((status) => status === 404 || status === 405)).toBe(true);
    // A signed path stays signed, however it is written.
    expect(await converse(["/hooks/shop", "/hooks/sh%6fp", "/hooks/shop/", "/hooks//shop"].map(spelled))).toEqual([401, 401, 401, 401]);
  });

  test("that asks before it sends hears 100 only when its body is wanted", async () => {
    const expectation = "Expect: 100-continue\r\n";
    const { write, received } = await dial(gateway.port);
    write(post("/hooks/wake", from("192.0.2.2") + bearer + expectation + sized(wake)));
    await eventually(() => received().startsWith("HTTP/1.1 100 Continue"));
    write(wake);
    await eventually(() => statuses(received()).length === 2);
    expect(statuses(received())).toEqual([100, 200]);

    const refused = await Promise.all([
      untilEnd(post("/hooks/wake", from("192.0.2.2") + expectation + sized(wake))),
      untilEnd(post("/hooks/wake", `${from("192.0.2.2") + bearer + expectation}Content-Length: 999999999\r\n`)),
    ]);
    expect(refused.map(statuses)).toEqual([[401], [413]]);
  });

  test("may send in chunks, whatever their size, and declare no length", async () => {
    const chunks = [...wake].map((char) => `1\r\n${char}\r\n`).join("");
    const said = await converse([post("/hooks/wake", `${from("192.0.2.3") + bearer}Transfer-Encoding: chunked\r\n`, `${chunks}0\r\n\r\n`)]);
    expect(said).toEqual([200]);
  });

  test("whose chunks grow past the limit reads 413 first, then the connection ends", async () => {
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const answer = await untilEnd(post("/hooks/wake", `${from("192.0.2.3") + bearer}Transfer-Encoding: chunked\r\n`, chunk.repeat(5)));
    expect([statusOf(answer), bodyOf(answer)]).toEqual([413, '{"ok":false,"error":"payload too large"}']);
    expect(headerOf(answer, "connection")).toBe("close");
  });

  test("with a wrong token and an endless body is answered 401 at once, ten of them as well", async () => {
    const one = () =>
      untilEnd(post("/hooks/agent", `${from("192.0.2.4")}X-SVC-Token: no\r\nContent-Length: 50000000\r\n`, "x".repeat(1_000)));
    const answers = await Promise.all(Array.from({ length: 10 }, one));
    expect(answers.map(statusOf)).toEqual(Array(10).fill(401));
  });

  test("with a user agent of 15 KB is served, and its words are in no log", async () => {
    const said = await converse([
      post("/hooks/wake", `${from("192.0.2.5") + bearer}User-Agent: ${"zq".repeat(7_500)}\r\n${sized(wake)}`, wake),
    ]);
    expect(said).toEqual([200]);
    expect(gateway.out.stdout + gateway.out.stderr).not.toContain("zqzqzqzq");
  });
});

test("a body that never ends is 408 after 30 s, one that only its signature vouches for after 10 s", async () => {
  const order: string[] = [];
  const slow = async (path: string, headers: string) => {
    const answer = await untilEnd(post(path, `${from("192.0.2.6") + headers}Content-Length: 100\r\n`, "{"));
    order.push(path);
    return answer;
  };
  const answers = await Promise.all([slow("/hooks/wake", bearer), slow("/hooks/shop", "")]);

  for (const answer of answers) {
    expect([statusOf(answer), bodyOf(answer)]).toEqual([408, '{"ok":false,"error":"request body timeout"}']);
    expect(headerOf(answer, "connection")).toBe("close");
  }
  expect(order).toEqual(["/hooks/shop", "/hooks/wake"]);
});

test("the 17th body of one address that only a signature vouches for is 503; others, and those with a token, are served", async () => {
  const shop = (client: string) => post("/hooks/shop", `${from(client)}Content-Length: 100\r\n`, "{");
  const waiting = await Promise.all(Array.from({ length: 16 }, () => dial(gateway.port)));
  for (const { write } of waiting) write(shop("192.0.2.7"));
  // Each of them is inside as soon as a request behind it is answered.
  await eventually(async () => statusOf(await untilEnd(shop("192.0.2.7"))) === 503);

  const answer = await untilEnd(shop("192.0.2.7"));

  expect(statusOf(answer)).toBe(503);
  expect(headerOf(answer, "retry-after")).toBe("1");
  expect(await converse([post("/hooks/shop", from("192.0.2.8") + sized("{}"), "{}")])).toEqual([401]);
  expect(await converse([post("/hooks/wake", from("192.0.2.7") + bearer + sized(wake), wake)])).toEqual([200]);
});

describe("whose attempts are counted", () => {
  const attempts = async (port: number, clientOf: (i: number) => string, times: number) => {
    const said: number[] = [];
    for (let i = 0; i < times; i++) said.push(await bad(port, clientOf(i)));
    return said;
  };

  test("behind a listed proxy each client's own", async () => {
    const said = await attempts(gateway.port, () => "198.51.100.1", 21);
    expect(said).toEqual([...Array(20).fill(401), 429]);
    expect(await bad(gateway.port, "198.51.100.2")).toBe(401);
  });

  test("without one everybody's together, whatever the headers say; the API is not shut with it", async () => {
    const other = await configured(await freshHome(), { gateway: { mode: "local", auth: { token } }, hooks });
    const own = await gatewayHere(other);
    const said = await attempts(own.port, (i) => `198.51.100.${i}`, 21);
    expect(said).toEqual([...Array(20).fill(401), 429]);
    expect((await fetch(`${own.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    const passes = await fetch(`${own.url}/hooks/wake`, { method: "POST", headers: { "x-svc-token": HOOK_TOKEN }, body: wake });
    expect(passes.status).toBe(200);
  });
});

test("neither the token nor a signature is in a log or in the state folder's text files", async () => {
  await converse([post("/hooks/shop", `${from("192.0.2.9")}Stripe-Signature: t=1,v1=${"ab".repeat(32)}\r\n${sized("{}")}`, "{}")]);
  const written = gateway.out.stdout + gateway.out.stderr + (await readFile(join(home.stateDir, "gateway", "runtime.json"), "utf8"));
  for (const secret of [HOOK_TOKEN, "ab".repeat(32), "whsec_demo"]) expect(written).not.toContain(secret);
});

function bad(port: number, client: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "x-forwarded-for": client, "x-svc-token": "wrong" };
    const asked = httpRequest({ port, host: "127.0.0.1", path: "/hooks/agent", method: "POST", headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    asked.on("error", reject).end();
  });
}
