import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createTestGateway, eventually, fakeModel, type TestGateway, vendorIn } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { firstClient, needsMcp } from "../../test/servers/mcp-peers.ts";
import { type PumpEnd, pump } from "./pump.ts";

const { describe, test } = await needsMcp("mcp-server");

interface ToolAnswer {
  content: Array<{ type: string; text?: string }>;
  isError?: boolean;
}

/** The part of both generations of clients that the tests use. */
interface McpClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ tools: Array<{ name: string; annotations?: { readOnlyHint?: boolean } }> }>;
  callTool(params: object, ...rest: object[]): Promise<ToolAnswer>;
}

type Kind = "v1" | "v2 legacy" | "v2 modern" | "v2 by way of svc mcp";
const kinds: Kind[] = ["v1", "v2 legacy", "v2 modern", "v2 by way of svc mcp"];

let gw: TestGateway;
const open = new Set<McpClient>();

const answer = (request: object) =>
  JSON.stringify(request).includes("wait for me") ? { text: "one moment", hang: true as const } : "The boat is blue.";

beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "memory-core", "mcp-server", "audit"],
    models: [fakeModel(Array.from({ length: 200 }, () => answer))],
    workspace: { "memory/boats.md": "# Boats\n\nThe boat of Ann is called Wanderer.\n" },
    config: { agents: { list: [{ id: "main" }, { id: "narrow", tools: { deny: ["group:sessions"] } }] } },
  });
});
afterAll(() => gw?.close());

async function connect(kind: Kind): Promise<McpClient> {
  const url = new URL(`${gw.url}/mcp`);
  const requestInit = { headers: { Authorization: `Bearer ${gw.token}` } };
  if (kind === "v1") {
    const { Client } = await import(pathToFileURL(firstClient("client/index.js")).href);
    const { StreamableHTTPClientTransport } = await import(pathToFileURL(firstClient("client/streamableHttp.js")).href);
    return opened(new Client({ name: "test", version: "1" }), new StreamableHTTPClientTransport(url, { requestInit }));
  }
  const library = await vendorIn(join(import.meta.dirname)).load<Record<string, new (...args: unknown[]) => McpClient & PumpEnd>>(
    "@modelcontextprotocol/client",
  );
  const { Client, StreamableHTTPClientTransport } = library;
  const mode = kind === "v2 modern" ? { versionNegotiation: { mode: "auto" } } : {};
  const client = new (Client as NonNullable<typeof Client>)({ name: "test", version: "1" }, mode);
  const http = new (StreamableHTTPClientTransport as NonNullable<typeof Client>)(url, { requestInit });
  if (kind !== "v2 by way of svc mcp") return opened(client, http);
  const { InMemoryTransport } = library as unknown as { InMemoryTransport: { createLinkedPair(): [PumpEnd, PumpEnd] } };
  const [near, far] = InMemoryTransport.createLinkedPair();
  void pump(far, http, { signal: new AbortController().signal, report: () => undefined });
  return opened(client, near);
}

async function opened(client: McpClient, transport: unknown): Promise<McpClient> {
  await client.connect(transport);
  open.add(client);
  return client;
}

const textOf = ({ content }: ToolAnswer) => content.map(({ text = "" }) => text).join("\n");
/** The second generation has no schema of the result before the options. */
const call = (kind: Kind, client: McpClient, name: string, args: object, options?: object) =>
  kind === "v1"
    ? client.callTool({ name, arguments: args }, undefined as never, options as object)
    : client.callTool({ name, arguments: args }, options as object);
const activeRuns = async () => (await gw.service("store@2").runs.unfinished()).length;

describe.each(kinds)("a client of the kind %s", (kind) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await connect(kind);
  });
  afterAll(() => client?.close());

  test("gets notes, sessions and agents", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ["memory_search", true],
      ["memory_get", true],
      ["sessions_list", true],
      ["sessions_history", true],
      ["ask_agent", false],
    ]);
    await eventually(async () => textOf(await call(kind, client, "memory_search", { query: "boat of Ann" })).includes("Wanderer"));
    expect(textOf(await call(kind, client, "memory_get", { path: "memory/boats.md" }))).toContain("Wanderer");
    const sessionKey = `agent:main:talk-${kinds.indexOf(kind)}`;
    const asked = await call(kind, client, "ask_agent", { message: "which colour has the boat?", sessionKey });
    expect(textOf(asked)).toBe("The boat is blue.");
    expect(textOf(await call(kind, client, "sessions_list", {}))).toContain(sessionKey);
    const history = textOf(await call(kind, client, "sessions_history", { sessionKey }));
    expect(history).toContain("which colour has the boat?");
    expect(history).toContain("The boat is blue.");
  });

  test("is told what is wrong in a way that its model reads", async () => {
    expect(await call(kind, client, "memory_search", { query: 1 })).toMatchObject({ isError: true });
    expect(textOf(await call(kind, client, "exec", { command: "ls" }))).toBe("Tool not available: exec");
    expect(textOf(await call(kind, client, "sessions_list", { agentId: "narrow" }))).toBe("Tool not available: sessions_list");
    expect(textOf(await call(kind, client, "ask_agent", { message: "x", agentId: "nobody" }))).toMatch(/nobody/);
  });

  test("sees progress of a run, and ends it by cancelling the call", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const onprogress = ({ message = "" }: { message?: string }) => void seen.push(message);
    const asked = call(kind, client, "ask_agent", { message: "wait for me" }, { signal: stop.signal, onprogress });
    asked.catch(() => undefined);
    await eventually(() => seen.some((message) => message.includes("one")));
    expect(await activeRuns()).toBe(1);
    stop.abort();
    await expect(asked).rejects.toThrow();
    await eventually(async () => (await activeRuns()) === 0);
  });
});

describe("POST /mcp", () => {
  const post = (body: unknown, init: RequestInit = {}) =>
    fetch(`${gw.url}/mcp`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...init,
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...init.headers },
    });
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const auth = () => ({ Authorization: `Bearer ${gw.token}` });

  test("is for operators, in JSON, and by POST", async () => {
    const status = async (response: Promise<Response>) => (await response).status;
    expect(await status(post(list))).toBe(401);
    expect(await status(post(list, { headers: { Authorization: "Bearer wrong" } }))).toBe(401);
    expect(await status(post(list, { headers: auth() }))).toBe(200);
    expect(await status(post(list, { headers: { ...auth(), "Content-Type": "text/plain" } }))).toBe(415);
    expect(await status(post(list, { headers: { ...auth(), Accept: "text/html" } }))).toBe(406);
    expect(await status(gw.fetch("/mcp"))).toBe(405);
    const broken = await post("{", { headers: auth() });
    expect([broken.status, await broken.json()]).toMatchObject([400, { jsonrpc: "2.0", id: null, error: { code: -32_700 } }]);
    expect(await status(post({ ...list, params: { x: "y".repeat(1_048_576) } }, { headers: auth() }))).toBe(413);
  });

  test("has names that it does not serve, and those that policy keeps back, in the audit log", async () => {
    const call = (name: string, args: object = {}) =>
      post({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: args } }, { headers: auth() });
    expect(await (await call("shell_of_mallory")).text()).toContain("Tool not available: shell_of_mallory");
    expect(await (await call("sessions_history", { agentId: "narrow", sessionKey: "agent:narrow:main" })).text()).toContain(
      "Tool not available",
    );
    await eventually(async () => {
      const { entries } = await gw.rpc<{ entries: Array<{ target: string; details: object }> }>("audit.list", { action: "tool.refused" });
      const ours = entries.filter(({ target }) => ["shell_of_mallory", "sessions_history"].includes(target));
      expect(ours.map(({ target, details }) => [target, details])).toEqual([
        ["sessions_history", expect.objectContaining({ origin: "operator", reason: "policy" })],
        ["shell_of_mallory", expect.objectContaining({ origin: "operator", reason: "policy" })],
      ]);
      return true;
    });
  });

  test("leaves out what gateway.tools denies, and is for no page of another origin where there is no secret", async () => {
    const own = await createTestGateway({
      plugins: ["store", "agents", "mcp-server"],
      config: { gateway: { auth: { mode: "none" }, tools: { deny: ["ask_agent", "group:memory"] } } },
    });
    const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    const asked = (more: object = {}) =>
      fetch(`${own.url}/mcp`, { method: "POST", body: JSON.stringify(list), headers: { ...headers, ...more } });
    const text = await (await asked()).text();
    const fromPage = await asked({ Origin: "https://evil.example" });
    await own.close();
    expect(text).toContain("sessions_list");
    expect(text).not.toMatch(/ask_agent|memory_search/);
    expect(fromPage.status).toBe(401);
  });
});
