import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import type { FakeOpenAi } from "../fakes/openai-server.ts";
import { databasePassword, needsPostgres, type PgCluster, startCluster } from "../servers/postgres.ts";
import { loadPostgres } from "../servers/postgres-store.ts";
import { startTcpRelay, type TcpRelay } from "../servers/tcp-relay.ts";
import { aroundMessages, configured, freshHome, json, stopAll, token } from "./_cli.ts";
import { hookToken, markCounts, postHook, startModel } from "./_hooks.ts";
import { type Home, type Running, startGateway, svcCommand } from "./_process.ts";

const { test } = await needsPostgres();

/** Each wait for something that takes a second or two where the machine does nothing else. */
const LIMIT_MS = 30_000;
/** A hook whose run failed with its storage twice is tried again after 5 s and then after 60 s: all of that, and what the runs of some thirty take on a slow machine. */
const RETRIED_MS = 65_000 + 120_000;
/** For tests that wait for it. */
const TEST_MS = RETRIED_MS + 240_000;

let cluster: PgCluster;
let relay: TcpRelay;
let model: FakeOpenAi;
let home: Home;
let gateway: Running;

beforeAll(async () => {
  [cluster, model] = [await startCluster(), await startModel()];
  relay = await startTcpRelay(cluster.port);
  home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token } },
    store: { backend: "postgres", postgres: { tls: "off" }, lease: { ttlMs: 4_000 } },
    hooks: { enabled: true, token: hookToken },
    models: { providers: { lab: { baseUrl: model.url, apiKey: model.apiKey, models: [{ id: "ok" }] } } },
    agents: { defaults: { model: "lab/ok", skipBootstrap: true } },
    plugins: aroundMessages("store-postgres", "webhooks", "model-openai-compatible", "openai-http"),
  });
  // Its gateways are killed on purpose.
  home.env.SVC_SAFE_MODE = "off";
  home.env.SVC_POSTGRES_URL = cluster.url.replace(`:${cluster.port}/`, `:${relay.port}/`);
  gateway = await startGateway(home);
});
afterAll(async () => {
  await gateway?.kill("SIGTERM");
  await stopAll();
  await relay?.close();
  await model?.close();
  cluster?.remove();
});

/** Senders of webhooks and chat: each sends the next one when the one before was answered. */
function startLoad(name: string) {
  const acknowledged = { hooks: new Set<string>(), chat: new Set<string>() };
  let isEnding = false;
  const hooks = async (sender: number) => {
    for (let n = 0; !isEnding; n++) {
      const key = `${name}-h${sender}-${n}`;
      const answer = await postHook(gateway.url, { key, body: { message: `mark:${key}: what is new?`, name: key, deliver: false } });
      if (answer !== "unknown" && answer.status === 200) acknowledged.hooks.add(key);
      else await sleep(20);
    }
  };
  const chat = async (sender: number) => {
    for (let n = 0; !isEnding; n++) {
      const mark = `${name}-c${sender}-${n}`;
      const answer = await ask(`mark:${mark}: hello`, `${name}-${sender}`).catch(() => undefined);
      if (answer?.status === 200) acknowledged.chat.add(mark);
      else await sleep(20);
    }
  };
  const all = Promise.all([hooks(0), hooks(1), chat(0)]);
  return {
    acknowledged,
    async stop() {
      isEnding = true;
      await all;
    },
  };
}

async function ask(content: string, user: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "svc/default", user, messages: [{ role: "user", content }] }),
    signal: AbortSignal.timeout(20_000),
  });
  return { status: answer.status, text: await answer.text() };
}

const readiness = async () => (await fetch(`${gateway.url}/readyz`)).status;

/** Everything that was acknowledged: hooks have run or will, and messages of chats are in a transcript. */
async function expectAllFound({ hooks, chat }: { hooks: Set<string>; chat: Set<string> }): Promise<void> {
  expect(hooks.size).toBeGreaterThan(0);
  expect(chat.size).toBeGreaterThan(0);
  // A run that the crash cut off is tried again some twenty seconds later.
  const missing = () => [...hooks].filter((key) => !markCounts(model).has(key));
  await eventually(() => {
    expect(missing()).toEqual([]);
    return true;
  }, RETRIED_MS);
  const sql = (await loadPostgres())(cluster.url, { max: 1 });
  const stored = (await sql.unsafe("SELECT body FROM svc.messages WHERE role = 'user'")).map(({ body }) => String(body)).join("\n");
  await sql.end({ timeout: 1 });
  expect([...chat].filter((mark) => !stored.includes(`mark:${mark}:`))).toEqual([]);
}

test("chat and webhooks are kept in the database, and a kill loses nothing that was acknowledged", { timeout: TEST_MS }, async () => {
  const load = startLoad("kill");
  await eventually(() => load.acknowledged.hooks.size > 4 && load.acknowledged.chat.size > 1, LIMIT_MS);
  await gateway.kill("SIGKILL");
  await load.stop();

  gateway = await startGateway(home);

  await expectAllFound(load.acknowledged);
  expect(await readdir(home.stateDir)).not.toContain("state.sqlite");
});

test("a crash of the database loses nothing that was acknowledged, and the gateway is ready again after its return", {
  timeout: TEST_MS,
}, async () => {
  const load = startLoad("crash");
  await eventually(() => load.acknowledged.hooks.size > 4 && load.acknowledged.chat.size > 1, LIMIT_MS);

  cluster.stop("immediate");
  await eventually(async () => (await readiness()) === 503, LIMIT_MS);
  const before = load.acknowledged.hooks.size;
  cluster.start();
  await eventually(async () => (await readiness()) === 200, LIMIT_MS);
  await eventually(() => load.acknowledged.hooks.size > before, LIMIT_MS);

  await load.stop();
  await expectAllFound(load.acknowledged);
});

test("connections that are cut come back by themselves", { timeout: TEST_MS }, async () => {
  const load = startLoad("cut");
  for (let n = 1; n <= 3; n++) {
    const before = load.acknowledged.hooks.size;
    await eventually(() => load.acknowledged.hooks.size > before + 1 && load.acknowledged.chat.size > 0, LIMIT_MS);
    relay.cut();
  }

  await eventually(async () => (await readiness()) === 200, LIMIT_MS);
  await load.stop();
  await expectAllFound(load.acknowledged);
});

test("operators see the store, and nobody sees its password", async () => {
  const health = await json(home, ["health"]);
  const doctor = await svcCommand(home, ["doctor"]);
  const status = await svcCommand(home, ["status"]);

  const shown = JSON.stringify(health.value);
  expect(shown).toContain(`"backend":"postgres"`);
  expect(shown).toContain(`"endpoint":"postgres://127.0.0.1:${relay.port}/postgres#svc"`);
  expect(shown).toContain(`"roundTripMs":`);
  const logs = join(home.stateDir, "logs");
  const logged = (await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), "utf8")))).join("");
  const everything = [shown, doctor.stdout, doctor.stderr, status.stdout, status.stderr, gateway.out.stdout, gateway.out.stderr, logged];
  expect(everything.join("\n")).not.toContain(databasePassword);
});
