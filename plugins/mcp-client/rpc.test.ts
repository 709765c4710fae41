import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let gw: TestGateway;
beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "mcp-client"],
    config: { mcp: { servers: { missing: { command: "/nowhere/mcp-server" }, away: { url: "http://127.0.0.1:9/mcp" } } } },
  });
});
afterAll(() => gw?.close());

const failures = (server: string) => gw.logs.filter(({ message }) => message.startsWith(`MCP server "${server}": not connected`)).length;

test("mcp.reconnect tries a server at once that would be tried later, and knows those of the config only", async () => {
  await eventually(() => failures("missing") === 1);
  expect(await gw.rpc("mcp.reconnect", { server: "missing" })).toEqual({ ok: true });
  await eventually(() => failures("missing") === 2);
  await expect(gw.rpc("mcp.reconnect", { server: "other" })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringContaining("those of the config are: missing, away"),
  });
});

test("mcp.reconnect is for administrators", async () => {
  const socket = await gw.ws({ scopes: ["operator.read", "operator.write"] });
  await expect(socket.request("mcp.reconnect", { server: "missing" })).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("mcp.status says of addresses whether a login is kept, and nothing of programs", async () => {
  const { servers } = await gw.rpc<{ servers: Array<{ name: string; loggedIn?: boolean }> } & Record<string, unknown>>("mcp.status");
  expect(servers.map(({ name, loggedIn }) => [name, loggedIn])).toEqual([
    ["missing", undefined],
    ["away", false],
  ]);
});
