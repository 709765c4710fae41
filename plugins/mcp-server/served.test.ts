import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let gw: TestGateway;
beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "mcp-server"],
    config: { gateway: { tools: { deny: ["sessions_history"] } } },
  });
});
afterAll(() => gw?.close());

test("mcp.served loads the plugin, and names the tools that policy gives to the caller's clients", async () => {
  const state = () => gw.gateway.plugins().find(({ id }) => id === "mcp-server")?.state;
  expect(state()).toBe("ready");
  const served = await gw.rpc<{ path: string; tools: Array<{ name: string; isReadOnly: boolean }> } & Record<string, unknown>>(
    "mcp.served",
  );
  expect(served.path).toBe("/mcp");
  const names = served.tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["sessions_list", "ask_agent"]));
  expect(names).not.toContain("sessions_history");
  expect(served.tools.find(({ name }) => name === "ask_agent")?.isReadOnly).toBe(false);
  expect(state()).toBe("active");
});
