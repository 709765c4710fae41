import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SvcConfigInput, ToolResult } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway, type TestSocket } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { conformanceOfClient, conformanceOfServer, type ScenarioResult } from "../servers/mcp-conformance.ts";
import { filesystemOverStdio, inspectorCli, needsMcp } from "../servers/mcp-peers.ts";

const { test } = await needsMcp("mcp-client", "mcp-server");

/** Scenarios of the suite that fail, by the reason; every other one passes. The tables in the READMEs of both plugins say the same. */
const servedElsewhere = {
  "tools that only the suite's own server has": [
    ...["image", "audio", "embedded-resource", "mixed-content", "with-logging", "with-progress", "sampling", "elicitation"].map(
      (kind) => `tools-call-${kind}`,
    ),
    ...["json-schema-2020-12", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"],
  ],
  "no resources, prompts, completions or levels of logging": [
    ...["list", "read-text", "read-binary", "templates-read", "subscribe", "unsubscribe"].map((what) => `resources-${what}`),
    ...["list", "get-simple", "get-with-args", "get-embedded-resource", "get-with-image"].map((what) => `prompts-${what}`),
    ...["completion-complete", "logging-set-level"],
  ],
  "no sessions": ["server-sse-polling", "server-sse-multiple-streams"],
};
const notDone = {
  "logins without a person": ["client-credentials-jwt", "client-credentials-basic", "cross-app-access-complete-flow"],
  "no public address that could name the client": ["basic-cimd"],
  "metadata of 2025-03-26 whose issuer is another one are refused": ["2025-03-26-oauth-metadata-backcompat"],
};

let gw: TestGateway;
let approver: TestSocket;
const open: Server[] = [];
const servers: Record<string, object> = {};

beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "approvals", "memory-core", "mcp-client", "mcp-server"],
    workspace: { "memory/boats.md": "# Boats\n\nThe boat of Ann is called Wanderer.\n" },
  });
  approver = await gw.ws({ scopes: ["operator.approvals"], caps: ["approvals"] });
});
afterAll(async () => {
  for (const server of open) server.close();
  await gw?.close();
});

test("the conformance suite finds nothing wrong with what the server offers", async () => {
  const results = await conformanceOfServer(`${await listen(createServer(passOn))}/mcp`);
  expect(results.size).toBe(32);
  expect(failing(results)).toEqual(Object.values(servedElsewhere).flat().sort());
}, 120_000);

test("the conformance suite finds nothing wrong with what the client does", async () => {
  const saysYes = setInterval(sayYes, 20);
  const results = await conformanceOfClient(await listen(createServer(drive))).finally(() => clearInterval(saysYes));
  expect(results.size).toBe(26);
  const expected = Object.values(notDone).flat();
  expect(failing(results)).toEqual(expected.map((name) => `auth/${name}`).sort());
}, 120_000);

test("the inspector lists the server's tools and calls one", async () => {
  const url = `${await listen(createServer(passOn))}/mcp`;
  const inspect = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [inspectorCli, url, ...args], { timeout: 60_000 });
    return JSON.parse(stdout);
  };
  const { tools } = await inspect("--method", "tools/list");
  expect(tools.map(({ name }: { name: string }) => name)).toContain("memory_search");
  const found = await inspect("--method", "tools/call", "--tool-name", "memory_search", "--tool-arg", "query=Wanderer");
  expect(JSON.stringify(found)).toContain("The boat of Ann is called Wanderer.");
}, 120_000);

test("the reference server for files is read from, and nothing outside of its folder", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-mcp-files-")));
  await writeFile(join(folder, "a.txt"), "the kettle boils");
  await configure("files", { ...filesystemOverStdio(folder), approval: "never" });
  expect(await toolsOf("files")).toContain("mcp_files_read_text_file");
  const read = async (path: string) => JSON.stringify(await call("mcp_files_read_text_file", { path }));
  expect(await read(join(folder, "a.txt"))).toContain("the kettle boils");
  expect(await read("/etc/hostname")).toContain("Access denied");
  await configure("files", undefined);
  await rm(folder, { recursive: true });
}, 120_000);

function failing(results: ReadonlyMap<string, ScenarioResult>): string[] {
  return [...results].flatMap(([name, { failed }]) => (failed.length > 0 ? [name] : [])).sort();
}

async function listen(server: Server): Promise<string> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Passes a request on to the gateway with the token: neither the suite nor the inspector sends one. */
const passOn: NonNullable<Parameters<typeof createServer>[1]> = (req, res) => {
  const headers = { ...req.headers, authorization: `Bearer ${gw.token}` };
  const onward = request(`${gw.url}${req.url}`, { method: req.method, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(res);
  });
  onward.on("error", () => res.destroy());
  res.on("error", () => onward.destroy());
  req.pipe(onward);
};

/** Uses a server of the suite as an agent would. */
const drive: NonNullable<Parameters<typeof createServer>[1]> = async (req, res) => {
  const { server, context } = JSON.parse(await bodyOf(req)) as { server: string; context: { client_id?: string; client_secret?: string } };
  const name = `c${new URL(server).port}`;
  try {
    const { client_id: clientId, client_secret: clientSecret } = context;
    const isByHand = clientId !== undefined && clientSecret !== undefined;
    await configure(name, { url: server, approval: "never", ...(isByHand ? { oauth: { clientId, clientSecret } } : {}) });
    await use(name);
    res.end("done");
  } catch (error) {
    res.writeHead(500).end(String(error));
  } finally {
    // The suite waits for its connections to end.
    await configure(name, undefined);
  }
};

let change: Promise<unknown> = Promise.resolve();

/** Adds a server to the config, or takes it out; one change after the other. */
function configure(name: string, server: object | undefined): Promise<unknown> {
  change = change.then(() => {
    if (server) servers[name] = server;
    else delete servers[name];
    return gw.reload({ mcp: { servers: { ...servers } } } as SvcConfigInput);
  });
  return change;
}

interface ServerRow {
  name: string;
  state: string;
  tools: string[];
  problem?: string;
}

async function rowOf(name: string): Promise<ServerRow | undefined> {
  const { servers: rows } = await gw.rpc<{ servers: ServerRow[] } & Record<string, unknown>>("mcp.status");
  return rows.find((row) => row.name === name);
}

/** Logs in where the server wants it, but not for ever, and calls its tools. */
async function use(name: string): Promise<void> {
  for (let tries = 0; tries < 4; tries += 1) {
    const { state, problem } = await eventually(async () => {
      const row = await rowOf(name);
      return row !== undefined && row.state !== "connecting" && row;
    }, 20_000);
    if (state === "login") {
      await login(name);
      await eventually(async () => (await rowOf(name))?.state !== "login", 5_000).catch(() => undefined);
      continue;
    }
    if (state !== "ready") throw new Error(`${state}: ${problem}`);
    await Promise.allSettled((await toolsOf(name)).map((tool) => call(tool, tool.endsWith("add_numbers") ? { a: 5, b: 3 } : {})));
    const after = await rowOf(name);
    if (after?.state === "ready" && after.problem === undefined) return;
    if (after?.state === "ready") await login(name);
  }
}

/** Agrees in place of a person. */
async function login(server: string): Promise<void> {
  const where = { server, redirectUrl: "http://127.0.0.1:45678/callback" };
  const { authorizationUrl } = await gw.rpc<{ authorizationUrl?: string } & Record<string, unknown>>("mcp.login.start", where);
  if (authorizationUrl === undefined) return;
  const { headers } = await fetch(authorizationUrl, { redirect: "manual" });
  await gw.rpc("mcp.login.finish", { server, query: new URL(headers.get("location") ?? "").search.slice(1) });
}

/** Tools are registered a moment after they are listed; some servers of the suite have none. */
async function toolsOf(name: string): Promise<string[]> {
  const some = async () => {
    const { tools = [] } = (await rowOf(name)) ?? {};
    return tools.length > 0 && tools;
  };
  return eventually(some, 5_000).catch(() => []);
}

function call(tool: string, args: object): Promise<ToolResult> {
  const target = { ...gw.service("agents@1").resolve({}), signal: AbortSignal.timeout(20_000) };
  return gw.service("agents@1").invokeTool(tool, args, target);
}

const answered = new Set<unknown>();
function sayYes(): void {
  for (const { event, payload } of approver.events) {
    if (event !== "plugin.approval.requested" || answered.has(payload.id)) continue;
    answered.add(payload.id);
    void approver.request("plugin.approval.resolve", { id: payload.id, decision: "allow-once" });
  }
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of req) text += chunk;
  return text;
}
