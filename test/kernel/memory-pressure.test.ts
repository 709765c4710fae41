import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { definePlugin } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { createGateway } from "../../kernel/boot/gateway.ts";
import { createLogger } from "../../kernel/process/logger.ts";
import { resolvePaths } from "../../kernel/process/paths.ts";
import { freshHome, stopAll } from "../e2e/_cli.ts";

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await stopAll();
});

const memory = { rssBytes: () => memory.share * 1_000_000_000, limitBytes: 1_000_000_000, share: 0, minUptimeMs: 0 };
/** Health shows the memory of now. */
const health = () => (gateway as TestGateway).rpc<Record<string, unknown>>("health", { probe: true });
const run = () => (gateway as TestGateway).rpc("agent", { message: "hello", sessionKey: "main", idempotencyKey: `k${memory.share}` });

async function upgradeFrom(address: string): Promise<number | undefined> {
  const { port } = (gateway as TestGateway).gateway;
  const key = { "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-version": "13" };
  const headers = { connection: "Upgrade", upgrade: "websocket", "x-forwarded-for": address, ...key };
  const asked = request({ port, host: "127.0.0.1", path: "/", headers }).end();
  const [answer] = (await Promise.race([once(asked, "response"), once(asked, "upgrade")])) as [IncomingMessage];
  answer.destroy();
  return answer.statusCode;
}

test("short of memory the gateway refuses new runs and connections from elsewhere, says why, and takes them again; gateway.pressure tells of each stage", async () => {
  const stages: string[] = [];
  const follower = definePlugin<unknown>({
    id: "follower",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup: (ctx) => void ctx.on("gateway.pressure", ({ stage }) => void stages.push(stage)),
  });
  memory.share = 0.1;
  gateway = await createTestGateway({
    plugins: ["store", "agents", "model-recall", "memory-core", follower],
    config: { gateway: { trustedProxies: ["127.0.0.1"] }, agents: { defaults: { memorySearch: { provider: "none" } } } },
    workspace: { "MEMORY.md": "the kettle is green\n" },
    memory,
  });
  const statusOf = async (path: string) => (await (gateway as TestGateway).fetch(path)).status;

  memory.share = 0.75;
  expect(await health()).toMatchObject({ ok: true, problems: { memoryPressure: expect.stringContaining("indexing of notes pauses") } });
  const indexed = gateway.rpc("memory.index", { force: true });
  expect([await statusOf("/readyz"), await upgradeFrom("203.0.113.9")]).toEqual([200, 101]);
  await run();

  memory.share = 0.85;
  expect(await health()).toMatchObject({ memoryPressure: { stage: "work" } });
  await expect(run()).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: true, details: { code: "MEMORY_PRESSURE" } });
  expect([await statusOf("/readyz"), await upgradeFrom("203.0.113.9"), await upgradeFrom("127.0.0.1")]).toEqual([503, 503, 101]);

  expect(await gateway.rpc("memory.status", {})).toMatchObject({ syncing: true });
  memory.share = 0.95;
  await health();
  memory.share = 0.1;
  expect(await health()).not.toHaveProperty("memoryPressure");
  await indexed;
  await run();
  expect([await statusOf("/readyz"), await upgradeFrom("203.0.113.9")]).toEqual([200, 101]);
  await eventually(() => stages.length === 4);
  expect(stages).toEqual(["background", "work", "restart", "none"]);
  expect(gateway.logs.filter(({ level, message }) => level === "warn" && message.startsWith("the process uses "))).toHaveLength(3);
});

test.each([
  ["supervised restarts", { SVC_SERVICE_MARKER: "svc-gateway" }, ["restart"]],
  ["that nobody would start again stays, and says so", {}, ["nothing starts this gateway again"]],
])("out of memory a gateway %s", async (_, env, expected) => {
  const home = await freshHome();
  const said: string[] = [];
  memory.share = 0.95;
  const own = { ...home.env, ...env, SVC_STATE_DIR: home.stateDir };
  const running = await createGateway({
    paths: resolvePaths({ env: own }),
    env: own,
    version: "0",
    flags: { allowUnconfigured: true },
    only: [],
    logger: createLogger([({ message }) => said.push(message)]),
    memory: { ...memory, peakMs: 0 },
    onRestartDue: () => said.push("restart"),
  });
  try {
    await running.ready;
    await eventually(() => said.some((text) => text.startsWith(expected[0] ?? "")));
    expect(said.filter((text) => text === "restart")).toHaveLength(expected[0] === "restart" ? 1 : 0);
  } finally {
    await running.close("test over");
  }
});
