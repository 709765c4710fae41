import type { Logger } from "svc/sdk";
import { eventually, vendorIn } from "svc/sdk/testing";
import { expect } from "vitest";
import { needsMcp, scripted } from "../../test/servers/mcp-peers.ts";
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

async function connect(mode: string, deps: Partial<ConnectionDeps> = {}) {
  const library = await loadMcpLibrary(vendorIn(new URL(".", import.meta.url)));
  const rest = {
    version: "0",
    fetch,
    logger: quiet,
    monotonic: () => performance.now(),
    onClosed: () => undefined,
    onToolsChanged: () => undefined,
  };
  return openConnection(settings(mode), { library, ...rest, ...deps }, AbortSignal.timeout(20_000));
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
