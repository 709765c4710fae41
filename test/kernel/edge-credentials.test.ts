import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { door, seen } from "./_door.ts";
import { bodyOf, closeRawSockets, dial, headerOf, sendRaw, statusesOf, statusOf, upgradeRequest } from "./_raw.ts";
import { edit, quickReload } from "./_reload.ts";
import { BareSocket, challenged, connectParams } from "./_ws.ts";

const TOKEN = "test-token-5f2d9a";
const get = (path: string, lines = "") => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${lines}\r\n`;
const bearer = (secret: string) => `Authorization: Bearer ${secret}\r\n`;
const codeOf = (answer: string) => JSON.parse(bodyOf(answer)).error.code;

beforeEach(() => {
  seen.requests = [];
});
afterEach(closeRawSockets);

describe("credentials", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({
      plugins: [door],
      config: { gateway: { auth: { token: TOKEN, rateLimit: { maxAttempts: 1_000 } } } },
    });
  });
  afterAll(() => gateway.close());
  const send = (request: string) => sendRaw(gateway.gateway.port, request);
  // A success forgets the failures before it, whose answers would be delayed more and more.
  beforeEach(async () => {
    expect(statusOf(await send(get("/door", bearer(TOKEN))))).toBe(200);
    seen.requests = [];
  });

  test.each([
    ["nothing", "", "token_missing"],
    ["a blank bearer", "Authorization: Bearer  \r\n", "token_missing"],
    ["another scheme", `Authorization: Basic ${TOKEN}\r\n`, "token_missing"],
    ["no scheme", `Authorization: ${TOKEN}\r\n`, "token_missing"],
    ["another case", bearer(TOKEN.toUpperCase()), "token_mismatch"],
    ["a prefix", bearer(TOKEN.slice(0, -1)), "token_mismatch"],
    ["a suffix", bearer(`${TOKEN}x`), "token_mismatch"],
    ["it twice", bearer(`${TOKEN} ${TOKEN}`), "token_mismatch"],
    ["it in quotes", bearer(`"${TOKEN}"`), "token_mismatch"],
    ["ten thousand letters", bearer("x".repeat(10_000)), "token_mismatch"],
  ])(
    "%s is 401 with its reason in machine form",
    async (_, lines, reason) => {
      const answer = await send(get("/door", lines));
      expect([statusOf(answer), headerOf(answer, "www-authenticate"), codeOf(answer)]).toEqual([401, "Bearer", reason]);
      expect(seen.requests).toEqual([]);
    },
    30_000,
  );

  test("the scheme's case and blanks around it do not matter", async () => {
    for (const line of [`authorization: bEaReR ${TOKEN}\r\n`, `Authorization: Bearer   ${TOKEN}  \r\n`]) {
      expect(statusOf(await send(get("/door", line)))).toBe(200);
    }
  });

  test("of two Authorization lines only the first counts", async () => {
    expect(statusOf(await send(get("/door", `${bearer("wrong")}${bearer(TOKEN)}`)))).toBe(401);
  });

  test.each([[["x"]], [{ a: 1 }], [7], [true]])("a token that is no string is a schema error: %j", async (token) => {
    const socket = await challenged(gateway);
    const res = await socket.request("1", "connect", connectParams(TOKEN, { auth: { token } }));
    expect(res.error.message).toMatch(/^invalid connect params: at auth\.token: /);
  });

  test.each(["token", "access_token", "auth", "key"])(
    "in the query as %s, in a cookie, in a subprotocol it opens nothing",
    async (name) => {
      expect(statusOf(await send(get(`/door?${name}=${TOKEN}`, `Cookie: ${name}=${TOKEN}\r\n`)))).toBe(401);
      const socket = new BareSocket(`${gateway.wsUrl}/?${name}=${TOKEN}`, { headers: { cookie: `${name}=${TOKEN}` } });
      await socket.frame((f) => f.event === "connect.challenge");
      const res = await socket.request("1", "connect", connectParams("", { auth: {} }));
      expect(res.error.details).toMatchObject({ code: "AUTH_TOKEN_MISSING", authReason: "token_missing" });
      const offered = await dial(gateway.gateway.port);
      offered.write(upgradeRequest("/", `Sec-WebSocket-Protocol: ${name}, ${TOKEN}\r\n`));
      await eventually(() => offered.received().includes("connect.challenge"));
      expect(headerOf(offered.received(), "sec-websocket-protocol")).toBeUndefined();
      expect(gateway.logs.some((line) => JSON.stringify(line).includes(TOKEN))).toBe(false);
    },
  );

  test("no header asks for scopes where a secret proves a full operator", async () => {
    const all = ["operator.admin", "operator.approvals", "operator.pairing", "operator.read", "operator.write"];
    const answer = await send(get("/door", `${bearer(TOKEN)}X-Svc-Scopes: operator.read\r\n`));
    expect([...JSON.parse(bodyOf(answer)).scopes].sort()).toEqual(all);
    const socket = await challenged(gateway, { "x-svc-scopes": "operator.admin" });
    const res = await socket.request("1", "connect", connectParams(TOKEN, { scopes: [] }));
    expect(res.payload.auth.scopes).toEqual([]);
    await socket.close();
  });

  test("a wrong token is answered before the body comes, and then the connection ends", async () => {
    const { write, received, ended } = await dial(gateway.gateway.port);
    write(`POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer("wrong")}Content-Length: 50000000\r\n\r\n{`);
    await ended;
    expect(statusesOf(received())).toEqual([401]);
    expect(headerOf(received(), "connection")).toBe("close");
  });
});

test("a request behind a body that was refused never runs, and the client reads its refusal first", async () => {
  const gateway = await createTestGateway({ plugins: [door] });
  try {
    const { write, received, ended, closed } = await dial(gateway.gateway.port);
    const body = "x".repeat(100_000);
    write(`POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer("wrong")}Content-Length: ${body.length}\r\n\r\n${body.slice(1)}`);
    await ended;
    expect(statusesOf(received())).toEqual([401]);
    write(`x${get("/door", bearer(gateway.token))}`);
    const push = setInterval(() => write("x"), 20); // a connection that is gone says so to whoever writes
    await closed;
    clearInterval(push);
    expect(statusesOf(received())).toEqual([401]);
    expect(seen.requests).toEqual([]);
  } finally {
    await gateway.close();
  }
});

describe("a body that never ends", () => {
  afterEach(() => void vi.useRealTimers());

  test("is 408 after 30 s, and the connection with it", async () => {
    const gateway = await createTestGateway({ plugins: [door] });
    try {
      const { write, received, ended } = await dial(gateway.gateway.port);
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      write(`POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer(gateway.token)}Content-Length: 100\r\n\r\n{`);
      while (!seen.requests.includes("/door")) await new Promise((resolve) => setImmediate(resolve));
      await vi.advanceTimersByTimeAsync(29_900);
      expect(received()).toBe("");
      await vi.advanceTimersByTimeAsync(200);
      await ended;
      expect(statusesOf(received())).toEqual([408]);
      expect(headerOf(received(), "connection")).toBe("close");
    } finally {
      vi.useRealTimers();
      await gateway.close();
    }
  });
});

describe("guessing", () => {
  const far = "X-Forwarded-For: 192.0.2.7\r\n";
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await createTestGateway({
      plugins: [door],
      config: { gateway: { trustedProxies: ["127.0.0.1"], auth: { token: TOKEN, rateLimit: { maxAttempts: 10 } } } },
    });
  });
  afterEach(() => gateway.close());
  const send = (request: string) => sendRaw(gateway.gateway.port, request);

  test("ten wrong tokens are 401, the eleventh is 429 with the seconds to wait, and so is the right one, on HTTP and WebSocket", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push(statusOf(await send(get("/door", far + bearer(`guess-${i}`)))));
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    const right = await send(get("/door", far + bearer(TOKEN)));
    expect([statusOf(right), codeOf(right)]).toEqual([429, "rate_limited"]);
    expect(headerOf(right, "retry-after")).toMatch(/^(29\d|300)$/);
    const socket = await challenged(gateway, { "x-forwarded-for": "192.0.2.7" });
    const res = await socket.request("1", "connect", connectParams(TOKEN));
    expect(res.error).toMatchObject({ retryable: true, details: { code: "AUTH_RATE_LIMITED", authReason: "rate_limited" } });
  });

  test.each([
    ["from elsewhere", far],
    ["on this machine", ""],
  ])("guesses in parallel %s are counted before any of them is answered", async (_, lines) => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => send(get("/door", lines + bearer(`guess-${i}`)))));
    expect(answers.filter((answer) => statusOf(answer) === 401)).toHaveLength(10);
    const limited = answers.filter((answer) => statusOf(answer) === 429);
    expect(limited).toHaveLength(190);
    for (const answer of limited) expect(headerOf(answer, "retry-after")).toMatch(/^(29\d|300)$/);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  test("wrong methods, unknown paths and missing credentials burn nothing", async () => {
    for (let i = 0; i < 20; i++) {
      expect(statusOf(await send(get("/door", bearer("wrong")).replace("GET", "PUT")))).toBe(405);
      expect(statusOf(await send(get("/nowhere", bearer("wrong"))))).toBe(404);
      expect(statusOf(await send(get("/door")))).toBe(401);
    }
    expect(statusOf(await send(get("/door", bearer(TOKEN))))).toBe(200);
  });
});

test("guesses on this machine are answered with 429 by default, and its operator gets in all the same, on HTTP and WebSocket", async () => {
  const clock = { now: () => Date.now(), monotonic: () => performance.now() + passed };
  let passed = 0;
  const gateway = await createTestGateway({
    plugins: [door],
    clock,
    config: { gateway: { auth: { token: TOKEN, rateLimit: { maxAttempts: 2 } } } },
  });
  const status = async (secret: string) => statusOf(await sendRaw(gateway.gateway.port, get("/door", bearer(secret))));
  try {
    const guesses = Array.from({ length: 20 }, (_, i) => status(`guess-${i}`));
    expect((await Promise.all(guesses)).sort()).toEqual([401, 401, ...Array(18).fill(429)]);
    passed += 1_000;
    expect(await status(TOKEN)).toBe(200);

    expect(await Promise.all([status("wrong"), status("wrong")])).toEqual([401, 401]);
    passed += 1_000;
    const socket = await challenged(gateway);
    expect((await socket.request("1", "connect", connectParams(TOKEN))).ok).toBe(true);
    await socket.close();
  } finally {
    await gateway.close();
  }
});

test("with exemptLoopback this machine is never locked out; its wrong guesses are answered later and later", async () => {
  const gateway = await createTestGateway({
    plugins: [door],
    config: { gateway: { auth: { token: TOKEN, rateLimit: { maxAttempts: 2, exemptLoopback: true } } } },
  });
  try {
    for (let i = 0; i < 3; i++) expect(statusOf(await sendRaw(gateway.gateway.port, get("/door", bearer("wrong"))))).toBe(401);
    expect(statusOf(await sendRaw(gateway.gateway.port, get("/door", bearer(TOKEN))))).toBe(200);
  } finally {
    await gateway.close();
  }
});

describe("a change on the fly that would leave the port open", () => {
  test.each<[string, (gateway: { auth: Record<string, unknown> }) => void]>([
    ["no authentication at all", ({ auth }) => Object.assign(auth, { mode: "none" })],
    ["a secret that is gone", ({ auth }) => void delete auth.token],
    ["a mode without its secret", ({ auth }) => Object.assign(auth, { mode: "password" })],
  ])("%s is not followed, the old secret goes on, and a restart is not begun", async (_, change) => {
    const gateway = await createTestGateway({
      plugins: [door],
      config: { gateway: { bind: "lan", auth: { token: TOKEN }, reload: quickReload } },
    });
    try {
      const before = gateway.logs.length;
      await edit(gateway, (c) => change(c.gateway));
      await eventually(() => gateway.logs.slice(before).some(({ message }) => /config (reload skipped|change requires)/.test(message)));
      expect((await gateway.fetch("/door")).status).toBe(200);
      expect((await fetch(`${gateway.url}/door`)).status).toBe(401);
      await expect(gateway.rpc("gateway.restart.request", {})).rejects.toThrow(/without auth|is not valid|is gone/);
      expect((await gateway.fetch("/door")).status).toBe(200);
    } finally {
      await gateway.close();
    }
  });
});
