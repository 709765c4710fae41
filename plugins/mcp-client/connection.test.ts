import type { Logger } from "svc/sdk";
import { eventually, vendorIn } from "svc/sdk/testing";
import { expect, onTestFinished } from "vitest";
import { everythingOverStdio, needsMcp, scripted, startEverything } from "../../test/servers/mcp-peers.ts";
import { type ConnectionDeps, openConnection } from "./connection.ts";
import { loadMcpLibrary, type Progress } from "./library.ts";
import type { ServerSettings } from "./settings.ts";
import { progressLine } from "./tool-set.ts";

const { test } = await needsMcp("mcp-client");

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined } as unknown as Logger;
const settings = (mode: string): ServerSettings => ({
  name: "s",
  kind: "stdio",
  ...scripted(mode),
  env: {},
  cwd: process.cwd(),
  tools: { deny: [] },
  approval: "never",
  timeoutMs: 10_000,
  startMs: 10_000,
  protocol: "legacy",
});

async function connect(mode: string | ServerSettings, deps: Partial<ConnectionDeps> = {}) {
  const library = await loadMcpLibrary(vendorIn(new URL(".", import.meta.url)));
  const rest = {
    version: "0",
    fetch,
    logger: quiet,
    monotonic: () => performance.now(),
    onClosed: () => undefined,
    onToolsChanged: () => undefined,
  };
  return openConnection(typeof mode === "string" ? settings(mode) : mode, { library, ...rest, ...deps }, AbortSignal.timeout(20_000));
}

test("progress of a call comes as the server tells it, and people see it on one clean line", async () => {
  const connection = await connect("plain");
  const tools = await connection.listTools(AbortSignal.timeout(10_000));
  const tool = tools.find(({ name }) => name === "progress");
  const seen: Progress[] = [];
  await connection.callTool(
    tool as (typeof tools)[number],
    {},
    { signal: AbortSignal.timeout(10_000), onProgress: (one) => seen.push(one) },
  );
  await connection.close();
  expect(seen.map(progressLine)).toEqual(["1/2 half [2J way"]);
});

test("twenty notices of a changed list are one, and a connection that is closed here tells nobody of its end", async () => {
  const told = { changed: 0, closed: 0 };
  const connection = await connect("plain", { onToolsChanged: () => told.changed++, onClosed: () => told.closed++ });
  const tools = await connection.listTools(AbortSignal.timeout(10_000));
  const grow = tools.find(({ name }) => name === "grow") as (typeof tools)[number];
  await connection.callTool(grow, {}, { signal: AbortSignal.timeout(10_000) });
  await eventually(() => told.changed > 0);
  await connection.close();
  expect(told).toEqual({ changed: 1, closed: 0 });
});

const transports: Record<string, () => Promise<ServerSettings>> = {
  stdio: async () => ({ ...settings("plain"), ...everythingOverStdio }),
  async http() {
    const { url, stop } = await startEverything();
    onTestFinished(stop);
    const { name, tools, approval, timeoutMs, startMs } = settings("plain");
    return { kind: "http", url, headers: {}, name, tools, approval, timeoutMs, startMs, protocol: "auto" };
  },
};

test.each(Object.keys(transports))("the reference server tells of progress, and reads the answer of a person: %s", async (name) => {
  const asked: string[] = [];
  const elicit: ConnectionDeps["elicit"] = async ({ params }) => {
    asked.push(String(params.message));
    return { action: "accept", content: { name: "Ada of the test" } };
  };
  const connection = await connect((await transports[name]?.()) as ServerSettings, { elicit });
  const signal = AbortSignal.timeout(20_000);
  const tools = await connection.listTools(signal);
  const toolOf = (wanted: string) => tools.find((tool) => tool.name === wanted) as (typeof tools)[number];
  const seen: Progress[] = [];
  const options = { signal, onProgress: (one: Progress) => void seen.push(one) };
  await connection.callTool(toolOf("trigger-long-running-operation"), { duration: 0.3, steps: 3 }, options);
  // The last one may come behind the result.
  expect(seen.map(progressLine).slice(0, 2)).toEqual(["1/3", "2/3"]);
  const answer = await connection.callTool(toolOf("trigger-elicitation-request"), {}, { signal });
  await connection.close();
  expect(asked).toEqual(["Please provide inputs for the following fields:"]);
  expect(JSON.stringify(answer)).toContain("Ada of the test");
});
