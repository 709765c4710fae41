import { createClient, type SvcClient } from "svc/sdk/client";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { configured, freshHome, gatewayIn, stopAll, stopLater, token } from "./_cli.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import type { Home, Running } from "./_process.ts";

const MESSAGES = 120;

afterAll(stopAll);

async function start(home: Home, env: Record<string, string> = {}): Promise<{ gateway: Running; client: SvcClient }> {
  const gateway = await gatewayIn(home, [], env);
  const client = createClient({
    url: gateway.url.replace("http", "ws"),
    auth: { token },
    client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
    scopes: ["operator.admin", "operator.read", "operator.write"],
  });
  stopLater(client.close.bind(client));
  await client.connect();
  return { gateway, client };
}

test("a gateway that is killed while it copies a conversation leaves the old one alone and no half new one", async () => {
  const home = await freshHome();
  home.program = await buildFailing();
  home.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
  await configured(home, {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true } },
    plugins: { allow: ["store", "agents", "model-recall"] },
  });
  let { gateway, client } = await start(home, failingAt("sessions.fork.after-page=kill@2"));
  await client.request("sessions.create", { key: "long" });
  for (let i = 1; i <= MESSAGES; i++) await client.request("chat.inject", { sessionKey: "long", message: `message ${i}` });

  for (const next of ["sessions.fork.before-session=kill", ""]) {
    await expect(client.request("sessions.fork", { key: "long", seq: MESSAGES })).rejects.toMatchObject({ code: "connection-closed" });
    const { child } = gateway;
    await eventually(() => child.signalCode === "SIGKILL");
    await client.close();
    ({ gateway, client } = await start(home, next === "" ? {} : failingAt(next)));
    expect((await client.request("sessions.list", {})).sessions.map(({ key }) => key)).toEqual(["agent:main:long"]);
    expect(await client.request("sessions.branches", { key: "long" })).toMatchObject({ points: [] });
    expect(await client.request("chat.history", { sessionKey: "long", limit: 1 })).toMatchObject({ totalMessages: MESSAGES });
  }
  const made = await client.request("sessions.fork", { key: "long", seq: MESSAGES });
  expect(made.copied).toBe(MESSAGES - 1);
  expect(await client.request("chat.history", { sessionKey: made.key, limit: 1 })).toMatchObject({ totalMessages: MESSAGES - 1 });
});
