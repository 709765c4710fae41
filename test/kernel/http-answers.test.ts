import { connect } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { definePlugin, type HttpAnswer, z } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

const returned: { make: () => unknown } = { make: () => undefined };

const clerk = definePlugin<unknown>({
  id: "clerk",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const handler = () => returned.make() as HttpAnswer;
    ctx.registerHttpRoute({ method: ["GET", "HEAD"], path: "/clerk", match: "exact", auth: "gateway", handler });
    const onError = () => undefined as never;
    ctx.registerHttpRoute({ method: "GET", path: "/mute", match: "exact", auth: "gateway", handler, onError });
    ctx.registerRpc({ method: "clerk.give", scope: "read", params: z.strictObject({}), handler: () => returned.make() as object });
  },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [clerk] });
});
afterAll(() => gateway.close());
beforeEach(() => void gateway.logs.splice(0));

async function answerTo(make: () => unknown, path = "/clerk") {
  returned.make = make;
  const answer = await gateway.fetch(path);
  const { status, headers } = answer;
  return { status, type: headers.get("content-type"), body: await answer.text() };
}

const errors = () => gateway.logs.filter((l) => l.level === "error").map((l) => l.message);
const json = "application/json; charset=utf-8";
const binary = "application/octet-stream";

describe("what a route handler returns is its answer:", () => {
  test.each<[string, () => unknown, string | null, string]>([
    ["an object", () => ({ temperature: 21 }), json, '{"temperature":21}'],
    ["an array", () => [1, "two"], json, '[1,"two"]'],
    ["null", () => null, json, "null"],
    ["a number", () => 21.5, json, "21.5"],
    ["a boolean", () => false, json, "false"],
    ["an object that is JSON although it has a status", () => ({ status: "ok", body: "text" }), json, '{"status":"ok","body":"text"}'],
    ["an object with a toJSON", () => ({ at: new Date(0) }), json, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["text", () => "grüße", "text/plain; charset=UTF-8", "grüße"],
    ["bytes", () => new TextEncoder().encode("bytes"), binary, "bytes"],
    ["a buffer", () => new TextEncoder().encode("buffer").buffer, binary, "buffer"],
    ["a blob", () => new Blob(["blob"], { type: "text/css" }), "text/css", "blob"],
    ["a web stream", () => new Blob(["web ", "stream"]).stream(), binary, "web stream"],
    ["a stream of Node", () => Readable.from([Buffer.from("node "), Buffer.from("stream")]), binary, "node stream"],
    ["a stream of texts", () => Readable.from(["text ", "stream"]), binary, "text stream"],
    ["an iterable", () => pieces("iter", "able"), binary, "iterable"],
    ["a reply", () => ({ status: 200, headers: { "Content-Type": "text/css" }, body: "reply" }), "text/css", "reply"],
    ["a Response", () => Response.json({ own: true }), "application/json", '{"own":true}'],
  ])("%s", async (_, make, type, body) => {
    expect(await answerTo(make)).toEqual({ status: 200, type, body });
    expect(errors()).toEqual([]);
  });
});

async function* pieces(...texts: string[]) {
  yield* texts;
}

const circular: { self?: object } = {};
circular.self = circular;
async function usedResponse() {
  const answer = new Response("once");
  await answer.text();
  return answer;
}
async function usedStream() {
  const stream = Readable.from(["once"]);
  for await (const _ of stream);
  return stream;
}

const expected = "expected a Response, text, bytes, a stream or a JSON value";
const mistakes: Array<[string, () => unknown]> = [
  ["nothing (undefined)", () => undefined],
  ["a function", () => () => "late"],
  ["a symbol", () => Symbol("x")],
  ["a bigint", () => 1n],
  ["NaN", () => Number.NaN],
  ["an object that has no JSON form (Do not know how to serialize a BigInt)", () => ({ big: 1n })],
  ["an object that has no JSON form (Converting circular structure to JSON)", () => circular],
  ["a Map", () => new Map([["a", 1]])],
  ["an error instead of throwing it (late)", () => new Error("late")],
  ["a Response whose body was used already", usedResponse],
  ['a Response of type "error"', () => Response.error()],
  ["a stream that was read or ended already", usedStream],
  ["a reply with status 7", () => ({ status: 7, body: "x" })],
];

describe("a mistake of a handler is a failure in JSON, and the log names plugin, route and what was returned:", () => {
  test.each(mistakes)("%s", async (what, make) => {
    const { status, type, body } = await answerTo(make);
    expect({ status, type }).toEqual({ status: 500, type: json });
    expect(JSON.parse(body)).toEqual({ error: { message: "internal error", type: "internal", param: null, code: null } });
    expect(errors()).toEqual([`route /clerk of plugin "clerk": its handler returned ${what}; ${expected}`]);
  });

  test("also when the route's own format of errors fails", async () => {
    expect(await answerTo(() => undefined, "/mute")).toMatchObject({ status: 500, type: json });
    expect(errors()).toEqual([
      `route /mute of plugin "clerk": its handler returned nothing (undefined); ${expected}`,
      'route /mute of plugin "clerk": its onError returned no Response',
    ]);
  });
});

test("bytes whose memory is gone when they are sent are a failure, and nothing follows them on the connection", async () => {
  returned.make = () => {
    const body = new Uint8Array(64);
    structuredClone(body.buffer, { transfer: [body.buffer] });
    return { body };
  };
  const answer = await gateway.fetch("/clerk");
  expect([answer.status, await answer.text()]).toEqual([500, "Internal Server Error"]);
  expect(errors()).toEqual(["an answer could not be sent"]);
  expect((await answerTo(() => "next")).body).toBe("next");
});

test("a stream that fails half-way ends its connection and nothing else", async () => {
  async function* broken() {
    yield "half";
    throw new Error("no more");
  }
  for (const make of [broken, () => Readable.from(broken()), () => new ReadableStream({ pull: (c) => c.error(new Error("no more")) })]) {
    await expect(answerTo(make)).rejects.toThrow();
    expect((await answerTo(() => "next")).body).toBe("next");
  }
});

test("a stream is read no faster than its client reads, and cancelled when the client goes away", async () => {
  const chunks = 4_096;
  const seen = { pulls: 0, cancelled: false };
  returned.make = () =>
    new ReadableStream({
      pull(controller) {
        seen.pulls += 1;
        if (seen.pulls > chunks) controller.close();
        else controller.enqueue(new Uint8Array(65_536));
      },
      cancel() {
        seen.cancelled = true;
      },
    });
  const { hostname, port } = new URL(gateway.url);
  const client = connect(Number(port), hostname);
  client.pause();
  client.write(`GET /clerk HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${gateway.token}\r\n\r\n`);

  await eventually(() => seen.pulls > 0);
  for (let before = -1; before !== seen.pulls; ) {
    before = seen.pulls;
    for (let turn = 0; turn < 200; turn++) await nextTurn();
  }
  expect(seen.pulls).toBeLessThan(chunks);
  client.destroy();

  await eventually(() => seen.cancelled);
});

test.each([204, 205, 304])("a Response with status %i has no body and keeps its headers", async (status) => {
  returned.make = () => new Response(null, { status, headers: { etag: '"a"', "set-cookie": "a=1" } });
  const answer = await gateway.fetch("/clerk");
  const { headers } = answer;
  expect([answer.status, headers.get("etag"), headers.getSetCookie(), await answer.text()]).toEqual([status, '"a"', ["a=1"], ""]);
});

test("HEAD has the headers of the answer, whatever kind it is of, and no body", async () => {
  for (const make of [
    () => ({ a: 1 }),
    () => "text",
    () => new Blob(["blob"]).stream(),
    () => Readable.from(["text"]),
    () => Response.json({ a: 1 }),
  ]) {
    returned.make = make;
    const answer = await gateway.fetch("/clerk", { method: "HEAD" });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  }
});

test.each<[string, () => unknown, string]>([
  ["a bigint", () => ({ big: 1n }), "Do not know how to serialize a BigInt"],
  ["a function", () => () => 1, "it is a function"],
])("a method that returns %s fails with its name, and the log names its plugin", async (_, make, why) => {
  returned.make = make;
  await expect(gateway.rpc("clerk.give")).rejects.toThrow("method clerk.give failed: its result cannot be sent");
  expect(errors()).toEqual([`method clerk.give of plugin "clerk" returned what has no JSON form: ${why}`]);
});
