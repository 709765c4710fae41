import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { closeRawSockets, dial, headerOf, statusesOf } from "./_raw.ts";

const TOKEN = "hook-token-of-this-test-0123456789";
const QUERY = "Hook token must be provided via Authorization: Bearer <token> or X-SVC-Token header (query parameters are not allowed).";

const mappings = [
  { id: "gh", match: { path: "github" }, messageTemplate: "Push by {{sender}}", verify: { provider: "github", secret: "gh-secret" } },
  {
    id: "st",
    match: { path: "stripe" },
    messageTemplate: "{{type}}",
    sessionKey: "hook:stripe",
    verify: { provider: "stripe", secret: "whsec_demo", mode: "instead" },
  },
  { id: "big", match: { path: "big" }, action: "wake", textTemplate: "big {{a}}", maxBodyBytes: 4_096 },
  { id: "wide", match: { path: "wide" }, action: "wake", textTemplate: "{{text}}", maxBodyBytes: 200_000 },
  { id: "list", match: { path: "list" }, messageTemplate: "{{items[0].text}}", forEach: "items", deliver: false },
] as const;
const config = {
  hooks: { enabled: true, token: TOKEN, maxBodyBytes: 2_048, mappings: [...mappings] },
  gateway: { trustedProxies: ["127.0.0.1"] },
};

let gateway: TestGateway;
let address = 0;

beforeAll(async () => {
  gateway = await createTestGateway({ plugins: ["store", "agents", "webhooks"], config, models: [fakeModel(Array(200).fill("done"))] });
});
afterAll(() => gateway?.close());
afterEach(closeRawSockets);

/** A client of its own: what one test fails at, another must not be locked out for. */
function newClient(): string {
  address += 1;
  return `192.0.2.${address}`;
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  client?: string;
}

const bearer = { authorization: `Bearer ${TOKEN}` };

async function ask(path: string, { method = "POST", headers = bearer, body, client = newClient() }: Asked = {}) {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { "x-forwarded-for": client, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text(), type: response.headers.get("content-type") };
}

const wake = (text = "hello", more: object = {}) => JSON.stringify({ text, mode: "next-heartbeat", ...more });

describe("the first check that fails answers, whatever else is wrong", () => {
  const huge = `{"a": ${"x".repeat(5_000)}`;
  const text = "text/plain; charset=utf-8";
  const json = "application/json; charset=utf-8";

  test.each([
    ["a token in the address, before the method", "/hooks/agent?token=x", { method: "PUT", headers: {}, body: huge }, 400, QUERY, text],
    ["a token in the address, beside a right one", "/hooks/wake?access_token=x", { body: wake() }, 400, QUERY, text],
    ["the method, before the token", "/hooks/agent", { method: "PUT", headers: {}, body: huge }, 405, "Method Not Allowed", text],
    ["the method, on the base path too", "/hooks", { method: "GET", headers: {} }, 405, "Method Not Allowed", text],
    ["a missing token, before the body", "/hooks/agent", { headers: {}, body: huge }, 401, "Unauthorized", text],
    ["a wrong token, before the body", "/hooks/agent", { headers: { authorization: "Bearer no" }, body: huge }, 401, "Unauthorized", text],
    ["a wrong token, before the path", "/hooks", { headers: { authorization: "Bearer no" } }, 401, "Unauthorized", text],
    ["the base path, after the token", "/hooks/", { body: huge }, 404, "Not Found", text],
    ["a body that is too large, before its syntax", "/hooks/agent", { body: huge }, 413, '{"ok":false,"error":"payload too large"}', json],
    ["a list where an object must stand", "/hooks/agent", { body: "[1]" }, 400, '{"ok":false,"error":"body must be a JSON object"}', json],
    ["a text where an object must stand", "/hooks/wake", { body: '"x"' }, 400, '{"ok":false,"error":"body must be a JSON object"}', json],
    ["null where an object must stand", "/hooks/wake", { body: "null" }, 400, '{"ok":false,"error":"body must be a JSON object"}', json],
    ["a blank body, which is {}", "/hooks/wake", { body: "  " }, 400, '{"ok":false,"error":"text required"}', json],
    ["no body at all, which is {}", "/hooks/agent", {}, 400, '{"ok":false,"error":"message required"}', json],
    ["a path that nothing is mapped to", "/hooks/unknown", { body: "{}" }, 404, "Not Found", text],
    [
      "waitForCompletion that is no boolean",
      "/hooks/agent",
      { body: '{"message":"m","waitForCompletion":"yes"}' },
      400,
      '{"ok":false,"error":"waitForCompletion must be boolean"}',
      json,
    ],
    ["a path that is too long, before the token", `/hooks/a${"/".repeat(1_024)}`, { headers: {} }, 414, "URI Too Long", text],
    ["a query that is too long, before the token", `/hooks/agent?${"a".repeat(8_192)}`, { headers: {} }, 414, "URI Too Long", text],
    ["the longest path, after the token", `/hooks/${"a".repeat(1_024)}`, { body: "{}" }, 404, "Not Found", text],
  ] as Array<[string, string, Asked, number, string, string]>)("%s", async (_name, path, asked, status, body, type) => {
    const answer = await ask(path, asked);
    expect([answer.status, answer.text, answer.type]).toEqual([status, body, type]);
    if (status === 405) expect(answer.headers.get("allow")).toBe("POST");
  });

  test("JSON that cannot be read is 400 with the words of the parser", async () => {
    const answer = await ask("/hooks/wake", { body: "{oops" });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toEqual({ ok: false, error: expect.stringContaining("JSON") });
  });

  test("JSON that is nested too deep, or has too many keys, is 400", async () => {
    const deep = `{"text":"x","a":${"[".repeat(70)}${"]".repeat(70)}}`;
    const wide = JSON.stringify({ text: "x", ...Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [i.toString(36), 0])) });
    for (const [body, why] of [
      [deep, "nested deeper than 64 levels"],
      [wide, "more than 10000 keys"],
    ] as const) {
      const answer = await ask("/hooks/wide", { body });
      expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, expect.stringContaining(why)]);
    }
  });

  test("the content type does not matter", async () => {
    const answer = await ask("/hooks/wake", { body: wake("typed"), headers: { ...bearer, "content-type": "application/xml" } });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { ok: true, mode: "next-heartbeat", eventOutcome: "queued" }]);
  });

  test("a compressed body is refused, because nothing is inflated", async () => {
    const answer = await ask("/hooks/wake", { body: wake(), headers: { ...bearer, "content-encoding": "gzip" } });
    expect([answer.status, JSON.parse(answer.text).ok]).toEqual([400, false]);
  });
});

describe("a caller is let in", () => {
  test.each([
    ["by its bearer token", bearer],
    ["by x-svc-token", { "x-svc-token": TOKEN }],
    ["by x-svc-token beside an empty bearer", { authorization: "Bearer ", "x-svc-token": TOKEN }],
  ] as Array<[string, Record<string, string>]>)("%s", async (name, headers) => {
    expect((await ask("/hooks/wake", { headers, body: wake(name) })).status).toBe(200);
  });

  test("never by the gateway's own token, and the hook token does not open the API", async () => {
    expect((await ask("/hooks/wake", { headers: { authorization: `Bearer ${gateway.token}` }, body: wake() })).status).toBe(401);
    expect((await ask("/v1/models", { method: "GET" })).status).not.toBe(200);
  });

  test("not by a bearer that is wrong, though the other header is right", async () => {
    expect((await ask("/hooks/wake", { headers: { authorization: "Bearer no", "x-svc-token": TOKEN }, body: wake() })).status).toBe(401);
  });
});

describe("the throttle", () => {
  const bad = { headers: { "x-svc-token": "wrong" } };

  test("the 21st bad attempt is 429 with the seconds to wait, in one warning, and a valid token passes at once", async () => {
    const client = newClient();
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) statuses.push((await ask("/hooks/agent", { ...(i % 2 ? bad : { headers: {} }), client })).status);
    expect(statuses).toEqual(Array(20).fill(401));

    const locked = await ask("/hooks/agent", { ...bad, client });

    expect([locked.status, locked.text]).toEqual([429, "Too Many Requests"]);
    expect(Number(locked.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(Number(locked.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    expect((await ask(`/hooks/a${"/".repeat(15_000)}`, { ...bad, client })).status).toBe(414);
    expect((await ask("/hooks/wake", { body: wake("after a lockout"), client })).status).toBe(200);
    expect((await ask("/hooks/agent", { ...bad, client })).status).toBe(401);
    const warnings = gateway.logs.filter((line) => line.level === "warn" && line.fields?.client === client);
    expect(warnings.map((line) => line.message)).toEqual(["hook sender locked out for 60 s after 20 failed attempts"]);
  });

  test("wrong methods and tokens in the address burn nothing", async () => {
    const client = newClient();
    for (let i = 0; i < 42; i++) await ask(i % 2 ? "/hooks/agent?token=x" : "/hooks/agent", { method: i % 2 ? "POST" : "GET", client });
    expect((await ask("/hooks/agent", { ...bad, client })).status).toBe(401);
  });
});

describe("signatures", () => {
  const body = '{"id":"evt_1","type":"demo"}';
  const github = { "x-hub-signature-256": "sha256=0039613a53045c872a9cac2de7b2ec46c5e12798b7f7923ddcd96dd88301d804" };

  test("with-token: the token alone, and the signature alone, are not enough", async () => {
    expect((await ask("/hooks/github", { body })).status).toBe(401);
    expect((await ask("/hooks/github", { body, headers: github })).status).toBe(401);
    expect((await ask("/hooks/github", { body, headers: { ...bearer, ...github } })).status).toBe(200);
    expect((await ask("/hooks/github", { body: `${body} `, headers: { ...bearer, ...github } })).status).toBe(401);
  });

  test("a ping of GitHub is answered and runs nothing", async () => {
    const before = await newestDelivery();
    const answer = await ask("/hooks/github", { body, headers: { ...bearer, ...github, "x-github-event": "ping" } });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(before).toBeTypeOf("string");
    expect(await newestDelivery()).toBe(before);
  });

  test("instead: a plain token on that path is refused, stale signatures are too, and the log says why", async () => {
    const client = newClient();
    const stale = "t=1700000000,v1=1035ec7ab90b19e5489f42be5a83027a3149823658fc605010f50ad292b1494a";
    expect((await ask("/hooks/stripe", { body, client })).status).toBe(401);
    expect((await ask("/hooks/stripe", { body, client, headers: { "stripe-signature": stale } })).status).toBe(401);
    const lines = gateway.logs.filter((line) => line.message === "hook refused" && line.fields?.client === client);
    expect(lines.map((line) => line.fields)).toMatchObject([
      { path: "stripe", mapping: "st", reason: "missing_header", status: 401 },
      { path: "stripe", mapping: "st", reason: "timestamp_out_of_tolerance", status: 401 },
    ]);
    expect(JSON.stringify(gateway.logs)).not.toContain("1035ec7ab90b19e5489f42be5a83027a3149823658fc605010f50ad292b1494a");
  });

  test("a body that is too large is refused before its signature is looked at", async () => {
    expect((await ask("/hooks/stripe", { body: "x".repeat(2_049), headers: {} })).status).toBe(413);
  });
});

describe("bodies", () => {
  const sized = (bytes: number) => {
    const rest = wake("", { mode: "next-heartbeat", a: "" }).length;
    return wake("x", { mode: "next-heartbeat", a: "y".repeat(bytes - rest - 1) });
  };

  test("of exactly the limit are taken, one byte more is 413", async () => {
    expect(sized(2_048)).toHaveLength(2_048);
    expect((await ask("/hooks/wake", { body: sized(2_048) })).status).toBe(200);
    expect((await ask("/hooks/wake", { body: sized(2_049) })).status).toBe(413);
  });

  test("of a mapping have its own limit", async () => {
    expect((await ask("/hooks/big", { body: JSON.stringify({ a: "y".repeat(4_000) }) })).status).toBe(200);
    expect((await ask("/hooks/big", { body: JSON.stringify({ a: "y".repeat(4_090) }) })).status).toBe(413);
  });

  test("without a declared length are counted; the answer comes first, then the end of the connection", async () => {
    const head = `POST /hooks/wake HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const { write, received, ended } = await dial(gateway.gateway.port);
    write(`${head}1000\r\n${"y".repeat(2_049)}`);
    await ended;
    expect(statusesOf(received())).toEqual([413]);
    expect(received()).toContain('{"ok":false,"error":"payload too large"}');
    expect(headerOf(received(), "connection")).toBe("close");
  });
});

describe("what is accepted", () => {
  test("a repeat under the same key is the same run, marked; another message under it is a run of its own", async () => {
    const send = (message: string) =>
      ask("/hooks/agent", { body: JSON.stringify({ message, deliver: false }), headers: { ...bearer, "idempotency-key": " k1 " } });
    const [first, again, other] = [await send("one"), await send("one"), await send("two")];

    expect(JSON.parse(first.text)).toEqual({ ok: true, runId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(again.text).toBe(first.text);
    expect([first, again, other].map(({ headers }) => headers.get("idempotent-replay"))).toEqual([null, "true", null]);
    expect(other.text).not.toBe(first.text);
  });

  test("8 identical requests at once are one run", async () => {
    const body = JSON.stringify({ message: "at once", deliver: false, idempotencyKey: "k8" });
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask("/hooks/agent", { body })));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  test("waitForCompletion tells how the run ended, and the repeat tells the same", async () => {
    const body = JSON.stringify({ message: "wait", deliver: false, waitForCompletion: true, idempotencyKey: "kw" });
    const [first, again] = [await ask("/hooks/agent", { body }), await ask("/hooks/agent", { body })];
    expect(JSON.parse(first.text)).toMatchObject({ ok: true, completion: { status: "ok", replyDisposition: "visible" } });
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-replay")).toBe("true");
  });

  test("an agent that is not there is the default one, told by header and log", async () => {
    const client = newClient();
    const answer = await ask("/hooks/agent", { body: JSON.stringify({ message: "m", agentId: "Nobody", deliver: false }), client });
    expect([answer.status, answer.headers.get("x-svc-agent")]).toEqual([200, "main"]);
    expect(gateway.logs.some((line) => line.level === "warn" && line.fields?.client === client && line.message.includes('"main"'))).toBe(
      true,
    );
  });

  test("a list becomes one run for each item; none is 204, one is answered like a single action", async () => {
    const send = async (items: unknown[]) => ask("/hooks/list", { body: JSON.stringify({ items }) });
    const [none, one, two] = [await send([]), await send([{ text: "a" }]), await send([{ text: "a" }, { text: "b" }])];

    expect([none.status, none.text]).toEqual([204, ""]);
    expect(JSON.parse(one.text)).toEqual({ ok: true, runId: expect.any(String) });
    const told = JSON.parse(two.text);
    expect(told).toEqual({ ok: true, runId: told.runIds[0], runIds: [expect.any(String), expect.any(String)], dispatched: 2 });
  });

  test("items that say the same are runs of their own, under one key too, and the whole batch again is marked", async () => {
    const body = JSON.stringify({ items: [{ text: "same" }, { text: "same" }], idempotencyKey: "twins" });
    const [first, again] = [await ask("/hooks/list", { body }), await ask("/hooks/list", { body })];
    expect(new Set(JSON.parse(first.text).runIds).size).toBe(2);
    expect([first.headers.get("idempotent-replay"), again.headers.get("idempotent-replay"), again.text]).toEqual([
      null,
      "true",
      first.text,
    ]);
  });

  test("items that are refused do not keep the others from being stored; the same batch again re-uses them", async () => {
    const body = JSON.stringify({ items: [{ text: "fine" }, {}, { text: "fine too" }], idempotencyKey: "batch" });
    const first = await ask("/hooks/list", { body });
    expect([first.status, JSON.parse(first.text)]).toEqual([
      400,
      {
        ok: false,
        error: "hook fan-out incomplete: 2/3 dispatched, 1 failed",
        runIds: [expect.any(String), expect.any(String)],
        errors: ["hook mapping requires message"],
      },
    ]);
    expect(JSON.parse((await ask("/hooks/list", { body })).text).runIds).toEqual(JSON.parse(first.text).runIds);
  });

  test("whoever owns the token finds in the log why a sender was turned away, and no word of its body", async () => {
    const client = newClient();
    const bodies = [
      ["agent", '{"word": mallow'],
      ["agent", '["mallow"]'],
      ["agent", '{"message": "m", "waitForCompletion": "mallow"}'],
      ["nobody", "{}"],
      ["agent", "x".repeat(2_049)],
      ["list", '{"items": []}'],
    ] as const;
    for (const [path, body] of bodies) await ask(`/hooks/${path}`, { body, client });
    await ask("/hooks", { client });

    const lines = gateway.logs.filter((line) => line.fields?.client === client);
    expect(lines.map(({ level, message, fields }) => [level, message, fields?.path, fields?.status, fields?.reason])).toEqual([
      ["info", "hook refused", "agent", 400, "not JSON"],
      ["info", "hook refused", "agent", 400, "body must be a JSON object"],
      ["info", "hook refused", "agent", 400, "waitForCompletion must be boolean"],
      ["info", "hook refused", "nobody", 404, "no mapping"],
      ["info", "hook refused", "agent", 413, "payload too large"],
      ["info", "hook skipped: nothing to do", "list", undefined, undefined],
      ["info", "hook refused", "", 404, "the base path has no action"],
    ]);
    expect(JSON.stringify(gateway.logs)).not.toContain("mallow");
  });

  test("of a caller that nobody vouches for yet there is no line: a body that is too large cannot fill the log", async () => {
    const client = newClient();
    expect((await ask("/hooks/stripe", { body: "x".repeat(2_049), headers: {}, client })).status).toBe(413);
    expect(gateway.logs.filter((line) => line.fields?.client === client)).toEqual([]);
  });

  test("what comes from outside stands in the log on one line, clipped, and tokens nowhere", async () => {
    const client = newClient();
    await ask(`/hooks/${"p".repeat(600)}%0a%1b%5b2J`, { headers: { ...bearer, "user-agent": "u".repeat(15_000) }, client });
    await ask(`/hooks/${"p".repeat(600)}%0a%1b%5b2J`, { headers: { "x-svc-token": "not-the-token" }, client });
    const lines = gateway.logs.filter((line) => line.fields?.client === client);
    expect(lines.map((line) => line.fields?.path)).toEqual(["p".repeat(256), "p".repeat(256)]);
    for (const secret of [TOKEN, "not-the-token", "u".repeat(300)]) expect(JSON.stringify(gateway.logs)).not.toContain(secret);
  });
});

/** Id of the newest delivery: it stays the same while earlier ones are carried out. */
async function newestDelivery(): Promise<unknown> {
  const { deliveries } = (await gateway.rpc("webhooks.recent", { limit: 1 })) as { deliveries: Array<{ uid: string }> };
  return deliveries[0]?.uid;
}
