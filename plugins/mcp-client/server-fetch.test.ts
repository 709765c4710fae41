import { expect, test } from "vitest";
import type { Fetch } from "./library.ts";
import { publicFetch } from "./public-fetch.ts";
import { MAX_MESSAGE_BYTES, serverFetch } from "./server-fetch.ts";

const respond = (body: BodyInit | null, type = "application/json") => new Response(body, { headers: { "content-type": type } });

/** Requests that were sent, and a `fetch` for a server whose answers these are. */
function recorded(answer: () => Response = () => respond("{}")) {
  const sent: Array<{ url: string; key: string | null; redirect: string | undefined }> = [];
  const record =
    (kind: string): Fetch =>
    async (url, init) => {
      sent.push({ url: `${kind} ${url}`, key: new Headers(init?.headers).get("x-key"), redirect: init?.redirect });
      return answer();
    };
  const fetch = serverFetch({
    url: "https://mcp.example/mcp",
    headers: { "x-key": "k" },
    fetch: record("own"),
    elsewhere: record("public"),
  });
  return { sent, fetch };
}

test("headers of the config go to its origin only, and no redirect is followed", async () => {
  const { sent, fetch } = recorded();
  await fetch("https://mcp.example/other");
  await fetch("https://mcp.example/mcp", { headers: { "x-key": "mine" } });
  await fetch("https://mcp.example:8443/token");
  await fetch("https://login.example/token");
  expect(sent).toEqual([
    { url: "own https://mcp.example/other", key: "k", redirect: "manual" },
    { url: "own https://mcp.example/mcp", key: "mine", redirect: "manual" },
    { url: "own https://mcp.example:8443/token", key: null, redirect: "manual" },
    { url: "public https://login.example/token", key: null, redirect: undefined },
  ]);
});

test("a body has a limit", async () => {
  const body = (bytes: number) =>
    recorded(() => respond("x".repeat(bytes)))
      .fetch("https://mcp.example/mcp")
      .then((answer) => answer.text());
  expect(await body(MAX_MESSAGE_BYTES)).toHaveLength(MAX_MESSAGE_BYTES);
  await expect(body(MAX_MESSAGE_BYTES + 1)).rejects.toThrow("more than 4194304 bytes");
});

test("an event has the limit, and a stream of many has none", async () => {
  const events = (text: string, count: number) => {
    const stream = new ReadableStream({
      start(out) {
        for (let i = 0; i < count; i++) out.enqueue(new TextEncoder().encode(text));
        out.close();
      },
    });
    return recorded(() => respond(stream, "text/event-stream"))
      .fetch("https://mcp.example/mcp")
      .then((answer) => answer.text());
  };
  expect(await events(`data: ${"x".repeat(1_000_000)}\r\n\r\n`, 6)).toHaveLength(6_000_060);
  await expect(events(`data: ${"x".repeat(1_000_000)}\n`, 6)).rejects.toThrow("more than 4194304 bytes");
});

test.each([
  "http://login.example",
  "https://user@login.example",
  "https://127.0.0.1",
  "https://[::1]",
  "https://10.0.0.1",
  "https://localhost",
])("another host has to be in the public network: %s", async (address) => {
  await expect((async () => publicFetch(address))()).rejects.toThrow(/expected an https address|not one of the public network/);
});
