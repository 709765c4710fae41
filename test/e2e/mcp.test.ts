import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { eventually, vendorIn } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { type FakeMcpOAuth, startMcpOAuth } from "../fakes/mcp-oauth.ts";
import { okText } from "../fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { everythingOverStdio, needsMcp } from "../servers/mcp-peers.ts";
import { freePort } from "../servers/ports.ts";
import { configured, freshHome, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere, type RunningHere } from "./_gateway-here.ts";
import type { Home } from "./_process.ts";

const { describe, test } = await needsMcp("mcp-client", "mcp-server");
const svc = fileURLToPath(new URL("../../bin/svc.mjs", import.meta.url));
const plugin = fileURLToPath(new URL("../../plugins/mcp-server", import.meta.url));

interface StdioClient {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ tools: Array<{ name: string }> }>;
  callTool(params: object, options?: object): Promise<{ content: Array<{ text?: string }>; isError?: boolean }>;
}

let home: Home;
let gateway: RunningHere;
let guarded: FakeMcpOAuth;
let vendor: FakeOpenAi;

describe("a gateway with MCP", () => {
  beforeAll(async () => {
    guarded = await startMcpOAuth();
    vendor = await startFakeOpenAi();
    home = await configured(await freshHome(), {
      gateway: { mode: "local", auth: { token } },
      models: { providers: { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey, models: [{ id: "ok" }, { id: "hang" }] } } },
      agents: {
        defaults: { skipBootstrap: true },
        list: [
          { id: "main", model: "lab/ok" },
          { id: "slow", model: "lab/hang" },
        ],
      },
      mcp: {
        servers: {
          everything: { ...everythingOverStdio, approval: "never" },
          guarded: { url: guarded.url },
          gone: { command: "/nowhere/mcp-server", startSeconds: 2 },
        },
      },
    });
    gateway = await gatewayHere(home);
    home.env.SVC_GATEWAY_PORT = `${gateway.port}`;
  });
  afterAll(async () => {
    await stopAll();
    await guarded?.close();
    await vendor?.close();
  });

  test("serves a client that starts svc mcp: tools, an answer and progress", async () => {
    const client = await overStdio();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("ask_agent");
    const seen: unknown[] = [];
    // An answer that comes at once may be there before its progress is told.
    for (let calls = 0; calls < 10 && seen.length === 0; calls++) {
      const { content } = await client.callTool(
        { name: "ask_agent", arguments: { message: "hello" } },
        { onprogress: (one: unknown) => seen.push(one) },
      );
      expect(content[0]?.text).toBe(okText);
    }
    expect(seen.length).toBeGreaterThan(0);
    await client.close();
  });

  test("a call that a client of svc mcp cancels ends the run, up to the request at the model", async () => {
    const client = await overStdio();
    const arrived = vendor.nextRequest();
    const stop = new AbortController();
    const asked = client.callTool({ name: "ask_agent", arguments: { message: "wait", agentId: "slow" } }, { signal: stop.signal });
    asked.catch(() => undefined);
    const { ended } = await arrived;
    const isAtWork = async () => JSON.stringify((await commandJson(home, ["sessions", "list"])).value).includes('"hasActiveRun":true');
    expect(await isAtWork()).toBe(true);
    stop.abort();
    await expect(asked).rejects.toThrow();
    expect(await ended).toEqual({ aborted: true });
    await eventually(async () => !(await isAtWork()));
    // The program goes on, and serves the next call.
    const { content } = await client.callTool({ name: "ask_agent", arguments: { message: "hello" } });
    expect(content[0]?.text).toBe(okText);
    await client.close();
  });

  test("shows its servers and their tools, and doctor names those that agents cannot use", async () => {
    await eventually(async () => (await command(home, ["mcp", "status"])).stdout.includes("mcp_everything_echo"));
    const { code, value } = await commandJson(home, ["mcp", "status"]);
    const states = (value.servers as Array<{ name: string; state: string }>).map(({ name, state }) => [name, state]);
    expect(states).toEqual([
      ["everything", "ready"],
      ["guarded", "login"],
      ["gone", "waiting"],
    ]);
    expect(code).toBe(1);
    const doctor = await command(home, ["doctor", "--only", "mcp/server"]);
    expect(doctor.stdout).toContain('the MCP server "gone" is not available');
    expect(doctor.stdout).toContain("svc mcp login guarded");
  });

  test("logs in at a server when the browser comes back to svc mcp login, and forgets that with svc mcp logout", async () => {
    const port = await freePort();
    const login = [svc, "mcp", "login", "guarded", "--port", `${port}`];
    const child = spawn(process.execPath, login, { env: home.env, stdio: ["ignore", "pipe", "pipe"] });
    const closed = once(child, "close");
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    const address = await eventually(() => /http:\/\/127\.0\.0\.1:\d+\/authorize\S+/.exec(said)?.[0]);
    expect(new URL(address).searchParams.get("redirect_uri")).toBe(`http://127.0.0.1:${port}/callback`);
    expect((await fetch(address)).status).toBe(200);
    expect(await closed).toEqual([0, null]);
    expect(guarded.faults).toEqual([]);
    await eventually(async () => (await command(home, ["mcp", "status"])).stdout.includes("mcp_guarded_whoami"));
    expect((await command(home, ["mcp", "logout", "guarded"])).stdout).toContain("The login at guarded is forgotten.");
    expect((await command(home, ["mcp", "revoke", "everything"])).stdout).toContain("0 approvals taken back.");
    expect((await command(home, ["mcp", "logout", "nobody"])).code).toBe(1);
  });
});

/** A client that has started svc mcp, as a program of its own. */
async function overStdio(): Promise<StdioClient> {
  const entry = await vendorIn(plugin).resolve("@modelcontextprotocol/client");
  const { Client } = (await import(entry)) as { Client: new (info: object) => StdioClient };
  const { StdioClientTransport } = (await import(new URL("stdio.mjs", entry).href)) as {
    StdioClientTransport: new (options: object) => object;
  };
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [svc, "mcp"], env: home.env, stderr: "ignore" }));
  return client;
}
