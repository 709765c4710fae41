import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../../sdk/testing/eventually.ts";
import { BareSocket, connectParams, type Frame } from "../kernel/_ws.ts";
import { allMethods } from "../tools/protocol-tables.ts";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

/**
 * Seeded fuzz of the whole port of a real process: three properties share `SVC_FUZZ_SECONDS` (default 6; the long form has 600). A failure names its seed and
 * shrinks; `SVC_FUZZ_SEED` plays it again.
 */
const seconds = Number(process.env.SVC_FUZZ_SECONDS ?? "6");
const seed = Number(process.env.SVC_FUZZ_SEED ?? Date.now() % 2 ** 31);
const budget = {
  seed,
  numRuns: 1_000_000,
  interruptAfterTimeLimit: (seconds * 1_000) / 3,
  markInterruptAsFailure: false,
  endOnFailure: seconds > 300,
};
const limitMs = (seconds / 3) * 1_000 + 90_000;

let home: Home;
let gateway: Running;
let token: string;
let control: BareSocket;
let asked = 0;

beforeAll(async () => {
  home = await createHome();
  expect(await svcCommand(home, ["setup", "--non-interactive"])).toMatchObject({ code: 0 });
  gateway = await startGateway(home);
  token = JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8")).gateway.auth.token;
  control = await greeted();
});
afterAll(async () => {
  await control?.close();
  await gateway?.kill("SIGKILL");
  await home?.remove();
});

async function open(): Promise<BareSocket> {
  const socket = new BareSocket(`ws://127.0.0.1:${gateway.port}`);
  await socket.frame((f) => f.event === "connect.challenge");
  return socket;
}

async function greeted(): Promise<BareSocket> {
  const socket = await open();
  const scopes = ["operator.admin"];
  const res = await socket.request("connect", "connect", connectParams(token, { scopes }));
  expect(res.ok, JSON.stringify(res.error)).toBe(true);
  return socket;
}

/** The process lives, serves others, and has not polluted what all objects share. */
async function isWell(): Promise<void> {
  expect(gateway.child.exitCode).toBeNull();
  asked += 1;
  const answer = await control.request(`health ${asked}`, "health", {});
  expect(answer).toMatchObject({ ok: true, payload: { ok: true } });
  expect(answer.payload).not.toHaveProperty("polluted");
  expect(gateway.out.stderr).not.toMatch(/uncaught|unhandled|FATAL/i);
}

const hostileKeys = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "", "\u0000", "a".repeat(300)];
const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.constantFrom(
    "",
    "\u0000",
    "\ud800",
    "\u202e",
    "../../etc/passwd",
    "agent:main:main",
    "$(x)",
    "{{x}}",
    "%00",
    "\r\n",
    "a".repeat(5_000),
  ),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    hostileText,
    fc.double(),
    fc.integer(),
    fc.constantFrom(null, true, false, Number.MAX_SAFE_INTEGER, -1, 1e308),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...hostileKeys), fc.string({ maxLength: 12 })), tie("any"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).any as fc.Arbitrary<unknown>;

const frame = fc.oneof(
  fc.record({ type: fc.constant("req"), id: hostileText, method: hostileText, params: value }, { requiredKeys: [] }),
  fc.record({ type: hostileText, id: value, method: value, params: value, ok: value, payload: value }, { requiredKeys: [] }),
  value,
);
const frameText = fc.oneof(
  frame.map((one) => JSON.stringify(one)),
  hostileText,
  fc.tuple(frame, fc.nat(60)).map(([one, at]) => (JSON.stringify(one) ?? "").slice(0, at)),
  fc.integer({ min: 1, max: 60_000 }).map((depth) => "[".repeat(depth)),
  fc.constant('{"__proto__":{"polluted":1},"type":"req","id":"1","method":"health"}'),
);

test(`any frames before the handshake end in a refusal and nothing else (seed ${seed})`, { timeout: limitMs }, async () => {
  const frames = fc.array(fc.oneof(frameText, fc.uint8Array({ maxLength: 200 })), { minLength: 1, maxLength: 5 });
  const property = fc.asyncProperty(frames, async (sent) => {
    const socket = await open();
    for (const one of sent) socket.ws.send(typeof one === "string" ? one : Buffer.from(one));
    const end = await socket.end();
    expect([1003, 1007, 1008, 1009]).toContain(end.code);
    expect(Buffer.byteLength(end.reason)).toBeLessThanOrEqual(123);
    expect(socket.frames.filter((f) => f.type === "res" && f.ok)).toEqual([]);
    await isWell();
  });
  await fc.assert(property, budget);
});

/** Everything but what would end the gateway or its config by design. */
const callable = Object.entries(allMethods).filter(([name]) => !name.startsWith("gateway.restart"));
const call = fc.constantFrom(...callable).chain(([method, spec]) => {
  const { properties = {} } = z.toJSONSchema(spec.params, { io: "input", unrepresentable: "any" }) as {
    properties?: Record<string, object>;
  };
  const fields = Object.entries(properties).map(([name, schema]) => [name, plausible(schema as Record<string, unknown>)] as const);
  const params = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  return fc.record({ method: fc.constant(method), params: fc.oneof({ weight: 4, arbitrary: params }, { weight: 1, arbitrary: value }) });
});

/** Mostly what the schema asks for, so that calls get past its gate, and sometimes anything. */
function plausible(schema: Record<string, unknown>): fc.Arbitrary<unknown> {
  const own =
    schema.enum !== undefined
      ? fc.constantFrom(...(schema.enum as unknown[]))
      : schema.type === "string"
        ? fc.oneof(hostileText, fc.constantFrom("main", "agent:main:main", "agents", "x", "MEMORY.md"))
        : schema.type === "integer"
          ? fc.integer({ min: 0, max: 1_000 })
          : schema.type === "boolean"
            ? fc.boolean()
            : value;
  return fc.oneof({ weight: 5, arbitrary: own }, { weight: 1, arbitrary: value });
}

test(`any params of any method are answered, with an error of the closed set or a result (seed ${seed})`, {
  timeout: limitMs,
}, async () => {
  let socket = await greeted();
  let ids = 0;
  const codes = ["INVALID_REQUEST", "FORBIDDEN", "NOT_PAIRED", "APPROVAL_NOT_FOUND", "UNAVAILABLE"];
  const property = fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), async (calls) => {
    if (socket.closed) socket = await greeted();
    const answers = calls.map(({ method, params }) => {
      ids += 1;
      return socket.request(`f${ids}`, method, params);
    });
    for (const outcome of await Promise.allSettled(answers)) {
      if (outcome.status === "rejected") {
        // Params that are no object make a bad frame, and twenty of those in a minute end the connection.
        expect(socket.closed).toEqual({ code: 1008, reason: "too many invalid frames" });
        continue;
      }
      const answer: Frame = outcome.value;
      expect(typeof answer.ok).toBe("boolean");
      if (!answer.ok) expect(codes).toContain(answer.error.code);
      expect(JSON.stringify(answer)).not.toContain(token);
    }
    await isWell();
  });
  await fc.assert(property, budget);
  await socket.close();
});

const methodWord = fc.oneof(
  fc.constantFrom("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "PRI"),
  fc.string({ maxLength: 8 }),
);
const target = fc.oneof(
  fc.constantFrom(
    "/",
    "/healthz",
    "//v1/models",
    "/v1/../healthz",
    "/%2e%2e/",
    "/v1%2fmodels",
    "*",
    "http://evil.example/",
    "/?token=x",
    "/a;b",
  ),
  fc.string({ maxLength: 60 }).map((text) => `/${text}`),
);
const header = fc.oneof(
  fc.constantFrom(
    "Host: 127.0.0.1",
    "Host: evil.example",
    "Content-Length: 5",
    "Content-Length: 0005, 6",
    "Content-Length: -1",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: xchunked",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Key: x",
    "Sec-WebSocket-Version: 13",
    "X-Forwarded-For: 1.2.3.4",
    "Authorization: Bearer x",
    "Content-Encoding: gzip",
    "Expect: 100-continue",
    " folded: line",
    "Bad Header : x",
  ),
  fc.tuple(fc.string({ maxLength: 20 }), fc.string({ maxLength: 200 })).map(([name, text]) => `${name}: ${text}`),
);
const request = fc
  .record({
    methodWord,
    target,
    version: fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/9.9", ""),
    headers: fc.array(header, { maxLength: 12 }),
  })
  .chain((head) => fc.oneof(fc.constant(""), fc.string({ maxLength: 300 })).map((body) => ({ ...head, body })))
  .map(
    ({ methodWord, target, version, headers, body }) => `${[`${methodWord} ${target} ${version}`, ...headers].join("\r\n")}\r\n\r\n${body}`,
  );

test(`any bytes on the HTTP side get an HTTP answer or a closed socket (seed ${seed})`, { timeout: limitMs }, async () => {
  const property = fc.asyncProperty(fc.oneof(request, fc.string({ unit: "binary", maxLength: 2_000 })), async (bytes) => {
    const answer = await exchange(bytes);
    if (answer !== "") expect(answer).toMatch(/^HTTP\/1\.1 [1-5]\d\d /);
    expect(answer).not.toContain(token);
    expect(answer).not.toMatch(/ at .*\.(js|ts):\d+/);
    await isWell();
  });
  await fc.assert(property, budget);
});

/** Sends, ends the sending side, and reads to the end; what waits for more bytes than come is cut by the sender. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(gateway.port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  const closed = once(socket, "close");
  socket.end(bytes);
  await closed;
  return text;
}

test("after all of that the gateway stops as if nothing had happened", async () => {
  const fresh = await eventually(async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
  expect(fresh).toBe(true);
  expect(await gateway.kill("SIGTERM")).toBe(0);
});
