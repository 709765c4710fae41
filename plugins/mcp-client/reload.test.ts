import type { DoctorFinding, SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, expect } from "vitest";
import { needsMcp, scripted } from "../../test/servers/mcp-peers.ts";

const { test } = await needsMcp("mcp-client");

interface ServerRow {
  name: string;
  state: string;
  tools: string[];
  problem?: string;
}

let gw: TestGateway;
afterAll(() => gw?.close());

const program = { ...scripted("plain"), approval: "never" as const };
const withServers = (servers: NonNullable<SvcConfigInput["mcp"]>["servers"]): SvcConfigInput => ({ mcp: { servers } });
const rows = async () => (await gw.rpc<{ servers: ServerRow[] } & Record<string, unknown>>("mcp.status")).servers;
const isReady = (name: string, tool: string) =>
  eventually(async () => (await rows()).some((row) => row.name === name && row.state === "ready" && row.tools.includes(tool)));
const connections = (name: string) => gw.logs.filter(({ message }) => message.startsWith(`MCP server "${name}" is connected`)).length;

test("a changed config starts, changes and ends servers, and leaves the others alone", async () => {
  gw = await createTestGateway({ plugins: ["store", "agents", "mcp-client"], config: withServers({ stays: program, goes: program }) });
  await isReady("stays", "mcp_stays_read");
  await isReady("goes", "mcp_goes_read");
  const outcome = await gw.reload(withServers({ stays: program, comes: { ...program, tools: { allow: ["write"] } } }));
  expect(outcome).toMatchObject({ status: "applied", action: "hot" });
  await isReady("comes", "mcp_comes_write");
  expect((await rows()).find(({ name }) => name === "comes")?.tools).toEqual(["mcp_comes_write"]);
  const { groups } = await gw.rpc<{ groups: Array<{ id: string; tools: Array<{ id: string }> }> } & Record<string, unknown>>(
    "tools.catalog",
  );
  const ids = groups.find(({ id }) => id === "mcp")?.tools.map(({ id }) => id) ?? [];
  expect(ids).toContain("mcp_stays_read");
  expect(ids.filter((id) => id.startsWith("mcp_goes_"))).toEqual([]);
  expect([connections("stays"), connections("comes")]).toEqual([1, 1]);
});

test("a server whose secret cannot be resolved is not started, and doctor says which one", async () => {
  await gw.reload(withServers({ stays: program, poor: { ...program, env: { TOKEN: { source: "env", id: "NOWHERE_SET" } } } }));
  const poor = (await rows()).find(({ name }) => name === "poor");
  expect(poor).toMatchObject({ state: "misconfigured", tools: [], problem: expect.stringContaining("mcp.servers.poor.env.TOKEN") });
  const { findings } = await gw.rpc<{ findings: DoctorFinding[] } & Record<string, unknown>>("gateway.doctor");
  expect(findings.find(({ id }) => id === "mcp/server")).toMatchObject({ severity: "error", path: "mcp.servers.poor" });
  expect(connections("poor")).toBe(0);
});
