import type { Logger } from "svc/sdk";
import { fakeClock } from "svc/sdk/testing";
import { beforeEach, expect, test } from "vitest";
import type { Connection } from "./connection.ts";
import type { ListedTool } from "./library.ts";
import { ScopeRefusal } from "./scope.ts";
import { type LinkDeps, ServerLink } from "./server-link.ts";
import type { ServerSettings } from "./settings.ts";

const settings = {
  name: "s",
  kind: "http",
  url: "http://x",
  headers: {},
  timeoutMs: 1_000,
  startMs: 5_000,
  approval: "never",
  tools: { deny: [] },
  protocol: "auto",
} satisfies ServerSettings;
const reads: ListedTool = { name: "read", inputSchema: {}, annotations: { readOnlyHint: true } };
const writes: ListedTool = { name: "write", inputSchema: {} };
const coded = (code: string) => Object.assign(new Error(code), { code });
const options = () => ({ signal: AbortSignal.timeout(10_000) });

const clock = fakeClock();
let opened: number;
let called: string[];
let faults: Error[];
let failOpening: Error | undefined;
let lose: Parameters<LinkDeps["open"]>[0]["lost"];
let log: string[];
let scopes: string[];
let link: ServerLink;

beforeEach(() => {
  [opened, called, faults, failOpening, log, scopes] = [0, [], [], undefined, [], []];
  const logger = { info: () => undefined, warn: (text: string) => void log.push(text) } as unknown as Logger;
  link = new ServerLink(settings, {
    clock,
    timers: clock,
    logger,
    onTools: () => undefined,
    want: async (wanted) => {
      scopes.push(wanted.scope);
      return scopes.length === 1;
    },
    secrets: () => ["hunter2"],
    async open(events) {
      opened++;
      lose = events.lost;
      if (failOpening) throw failOpening;
      return connection();
    },
  });
});

function connection(): Connection {
  return {
    offers: { resources: false, prompts: false },
    listTools: async () => [reads, writes],
    async callTool({ name }) {
      called.push(name);
      const fault = faults.shift();
      if (fault) throw fault;
      return { content: [] };
    },
    request: async () => ({}),
    close: async () => undefined,
  };
}

test("a lost connection is opened again for the next call, and only what reads is called again", async () => {
  faults = [coded("CONNECTION_CLOSED")];
  await link.callTool(reads, {}, options());
  expect([called, opened]).toEqual([["read", "read"], 2]);
  faults = [coded("CONNECTION_CLOSED")];
  await expect(link.callTool(writes, {}, options())).rejects.toMatchObject({ code: "mcp-call-lost" });
  expect(called).toEqual(["read", "read", "write"]);
  await link.callTool(writes, {}, options());
  expect(called).toEqual(["read", "read", "write", "write"]);
  await link.close();
});

test("a call that was never sent is made again, whatever it does, but once", async () => {
  faults = [coded("NOT_CONNECTED"), coded("NOT_CONNECTED")];
  await expect(link.callTool(writes, {}, options())).rejects.toMatchObject({ code: "mcp-unavailable" });
  expect(called).toEqual(["write", "write"]);
  await link.close();
});

test("an answer with an error ends nothing, and a time-out is one of the call", async () => {
  faults = [new Error("no such file")];
  await expect(link.callTool(writes, {}, options())).rejects.toThrow("no such file");
  faults = [coded("REQUEST_TIMEOUT")];
  await expect(link.callTool(writes, {}, options())).rejects.toMatchObject({ code: "mcp-timeout" });
  faults = [coded("REQUEST_TIMEOUT")];
  await expect(link.callTool(writes, {}, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
  expect([opened, link.status.state]).toEqual([1, "ready"]);
  await link.close();
});

test("a server that does not start is tried after 1, 2, 4 s, and calls meanwhile are told why", async () => {
  failOpening = new Error("spawn failed with hunter2");
  link.start();
  await clock.advance(0);
  expect(link.status).toEqual({ state: "waiting", problem: "spawn failed with ***" });
  await expect(link.callTool(reads, {}, options())).rejects.toMatchObject({
    code: "mcp-unavailable",
    message: expect.stringContaining("***"),
  });
  expect(opened).toBe(1);
  for (const [ms, times] of [
    [1_000, 2],
    [1_999, 2],
    [1, 3],
    [4_000, 4],
  ] as const) {
    await clock.advance(ms);
    expect(opened).toBe(times);
  }
  expect(log).toEqual(['MCP server "s": not connected: spawn failed with ***']);
  failOpening = undefined;
  await clock.advance(8_000);
  expect(link.status.state).toBe("ready");
  await link.close();
});

test("a connection that ends by itself is opened again, and its tools stay meanwhile", async () => {
  link.start();
  await clock.advance(0);
  failOpening = new Error("down");
  lose("the connection was closed");
  expect([link.status.state, link.tools.length]).toEqual(["waiting", 2]);
  failOpening = undefined;
  await clock.advance(1_000);
  expect([link.status.state, opened]).toEqual(["ready", 2]);
  await link.close();
});

test("a server that wants a login is not tried again by itself", async () => {
  failOpening = Object.assign(new Error("401"), { status: 401 });
  link.start();
  await clock.advance(600_000);
  expect([link.status.state, opened]).toEqual(["login", 1]);
  await expect(link.callTool(reads, {}, options())).rejects.toMatchObject({ message: expect.stringContaining("svc mcp login s") });
  expect(opened).toBe(1);
  failOpening = undefined;
  await link.restart();
  await clock.advance(0);
  expect(link.status.state).toBe("ready");
  await link.close();
});

test("a call that wants more rights than the login has is told whether a person can give them, and the others go on", async () => {
  faults = [new ScopeRefusal({ scope: "files:write" }), new ScopeRefusal({ scope: "files:write" })];
  await expect(link.callTool(writes, {}, options())).rejects.toMatchObject({
    code: "mcp-rights",
    message: expect.stringMatching(/refused write: .*\(files:write\); the operator may allow them with svc mcp login s;/),
  });
  expect(link.status).toEqual({ state: "ready", problem: expect.stringContaining("svc mcp login s") });
  await expect(link.callTool(writes, {}, options())).rejects.toMatchObject({ message: expect.stringContaining("cannot be widened") });
  await link.callTool(reads, {}, options());
  expect([called, opened, scopes]).toEqual([["write", "write", "read"], 1, ["files:write", "files:write"]]);
  await link.close();
});

test("a server that wants more rights to be connected at all wants a login", async () => {
  failOpening = new ScopeRefusal({ scope: "base" });
  link.start();
  await clock.advance(600_000);
  expect([link.status.state, opened, scopes]).toEqual(["login", 1, ["base"]]);
  await link.restart();
  await clock.advance(0);
  expect(link.status).toEqual({ state: "waiting", problem: "it wants more rights: base, and the login cannot be widened" });
  await link.close();
});

test("a link that is closed connects no more", async () => {
  await link.close();
  link.start();
  await expect(link.callTool(reads, {}, options())).rejects.toMatchObject({ code: "mcp-unavailable" });
  expect(opened).toBe(0);
});
