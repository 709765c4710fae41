import { definePlugin, type HttpCall, isSvcError } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { closeRawSockets, dial, headerOf, statusesOf, statusOf } from "./_raw.ts";

const faults: string[] = [];
const begun: string[] = [];
const copies: HttpCall[] = [];

/** A route that reads its body as the address says. */
const reader = definePlugin<unknown>({
  id: "reader",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    ctx.registerHttpRoute({
      method: "POST",
      path: "/read",
      match: "prefix",
      auth: "plugin",
      maxBodyBytes: 1_000,
      async handler(call) {
        begun.push(call.rest);
        try {
          if (call.rest === "copied") return await untilGone({ ...call });
          if (call.rest === "unread") return { status: 403, body: "no" };
          if (call.rest === "short") return { body: await call.bytes({ maxBytes: 10, timeoutMs: 50 }) };
          if (call.rest === "more") return { body: await call.bytes({ maxBytes: 1e9, timeoutMs: 1e9 }) };
          if (call.rest === "twice") return { body: `${await call.text()}|${JSON.stringify(await call.json())}` };
          const bytes = await call.bytes();
          return { body: JSON.stringify([...bytes]) };
        } catch (error) {
          if (isSvcError(error)) faults.push(error.code);
          throw error;
        }
      },
    });
  },
});

function untilGone(copy: HttpCall): Promise<string> {
  copies.push(copy);
  return new Promise((resolve) => copy.signal?.addEventListener("abort", () => resolve("gone")));
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [reader] });
});
afterAll(() => gateway?.close());
afterEach(closeRawSockets);

const send = async (path: string, body?: string | Uint8Array<ArrayBuffer>) => {
  const response = await fetch(`${gateway.url}/read/${path}`, { method: "POST", ...(body === undefined ? {} : { body }) });
  return [response.status, await response.text()];
};

test("bytes come as they were sent, and a request without a body has none", async () => {
  expect(await send("bytes", new Uint8Array([0, 255, 13, 10, 195, 40]))).toEqual([200, "[0,255,13,10,195,40]"]);
  expect(await send("bytes")).toEqual([200, "[]"]);
});

test("a copy of the call has all of its members, and its signal aborts when the client goes away", async () => {
  const { socket, write } = await dial(gateway.gateway.port);
  write("POST /read/copied HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
  const copy = await eventually(() => copies[0]);
  expect(copy.signal).toBeInstanceOf(AbortSignal);
  expect(await copy.json()).toEqual({});

  socket.destroy();
  await eventually(() => copy.signal.aborted);
});

test("the same body is read once, in whatever form it is asked for", async () => {
  expect(await send("twice", '{"a":1}')).toEqual([200, '{"a":1}|{"a":1}']);
});

test("a handler may want less than its route allows, never more", async () => {
  expect(await send("short", "x".repeat(10))).toEqual([200, "x".repeat(10)]);
  expect((await send("short", "x".repeat(11)))[0]).toBe(413);
  expect(await send("more", "x".repeat(1_000))).toEqual([200, "x".repeat(1_000)]);
  expect((await send("more", "x".repeat(1_001)))[0]).toBe(413);
});

test("a body that stalls ends at the handler's own time: 408, then the end of the connection", async () => {
  const { write, received, ended } = await dial(gateway.gateway.port);
  write("POST /read/short HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab");
  await ended;
  expect(statusesOf(received())).toEqual([408]);
  expect(headerOf(received(), "connection")).toBe("close");
});

test("a client that goes in the middle ends the read with client-gone, and is no error of the gateway", async () => {
  const { socket, write } = await dial(gateway.gateway.port);
  write("POST /read/leaving HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab");
  await eventually(() => begun.includes("leaving"));
  socket.destroy();
  await eventually(() => faults.includes("client-gone"));
  expect(gateway.logs.filter((line) => line.level === "error")).toEqual([]);
});

test("a short body that nobody reads costs no connection, a long one does", async () => {
  const request = (bytes: number, sent: number) =>
    `POST /read/unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n${"x".repeat(sent)}`;
  const { write, received } = await dial(gateway.gateway.port);
  write(request(5, 5));
  await eventually(() => received().endsWith("no"));
  write(request(5, 5));
  await eventually(() => received().split("HTTP/1.1 403").length === 3);

  const long = await dial(gateway.gateway.port);
  long.write(request(500, 5));
  await long.ended;
  expect(statusOf(long.received())).toBe(403);
});

test("who asks before it sends hears 100 only when the body is wanted", async () => {
  const head = (path: string) => `POST /read/${path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
  const { write, received } = await dial(gateway.gateway.port);
  write(head("twice"));
  await eventually(() => received().includes("100 Continue"));
  write("{}");
  await eventually(() => received().endsWith("{}|{}"));

  const refused = await dial(gateway.gateway.port);
  refused.write(head("unread"));
  await refused.ended;
  expect(statusesOf(refused.received())).toEqual([403]);
});
