import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type SvcClient } from "svc/sdk/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { watchClient } from "../../sdk/testing/wire-check.ts";
import type { FakeOpenAi } from "../fakes/openai-server.ts";
import { aroundMessages, configured, gatewayIn, removeLater, stopAll, token } from "./_cli.ts";
import { hookToken, type Posted, postHook, readState, startModel } from "./_hooks.ts";
import { createHome, type Home, type Running } from "./_process.ts";

let model: FakeOpenAi;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model.close());

/** A way in which the disk under the state folder stops taking writes. */
interface Disk {
  what: string;
  reason: "full" | "readonly" | "io";
  /** Size of its own file system in MiB; unset: none. */
  sizeMiB?: number;
  spoil(home: Home): Promise<void>;
  mend(home: Home): Promise<void>;
}

const faultFile = (home: Home) => join(home.stateDir, "..", "fault");
const ballast = (home: Home) => join(home.stateDir, "ballast");

function injected(reason: Disk["reason"], what: string): Disk {
  return { what, reason, spoil: (home) => writeFile(faultFile(home), reason), mend: (home) => rm(faultFile(home)) };
}

const fullFileSystem: Disk = {
  what: "a file system without a free byte",
  reason: "full",
  sizeMiB: 48,
  async spoil(home) {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
      while (await appendFile(ballast(home), Buffer.alloc(size)).then(() => true, isFull));
    }
  },
  mend: (home) => rm(ballast(home)),
};

function isFull(error: NodeJS.ErrnoException): false {
  if (error.code !== "ENOSPC") throw error;
  return false;
}

function mount(folder: string, sizeMiB: number): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${sizeMiB}m`, "none", folder]).status === 0;
}

/** Only root may, and not everywhere. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "svc-mount-"));
  const can = mount(folder, 1);
  if (can) spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true });
  return can;
}

/** Faults that come and go in one gateway. */
const faults: Disk[] = [
  injected("full", "a disk that has no page left"),
  injected("readonly", "a database that turned read-only"),
  injected("io", "a disk that fails every write"),
];

async function homeOn({ sizeMiB }: Pick<Disk, "sizeMiB">): Promise<Home> {
  const home = await createHome();
  mkdirSync(home.stateDir);
  if (sizeMiB !== undefined) expect(mount(home.stateDir, sizeMiB)).toBe(true);
  removeLater({
    async remove() {
      if (sizeMiB !== undefined) spawnSync("umount", ["-l", home.stateDir]);
      await home.remove();
    },
  });
  await mkdir(join(home.stateDir, "workspace", "memory"), { recursive: true });
  await writeFile(join(home.stateDir, "workspace", "memory", "key.md"), "The key of the greenhouse lies under the blue pot.\n");
  return configured(home, {
    gateway: { mode: "local", auth: { token } },
    hooks: { enabled: true, token: hookToken },
    models: { providers: { lab: { baseUrl: model.url, apiKey: model.apiKey, models: [{ id: "ok" }] } } },
    agents: { defaults: { model: "lab/ok", skipBootstrap: true, memorySearch: { provider: "none" } } },
    plugins: aroundMessages("webhooks", "memory-core", "model-openai-compatible"),
  });
}

async function connect(url: string): Promise<SvcClient> {
  const client = watchClient(
    createClient({
      url: url.replace("http", "ws"),
      auth: { token },
      client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
      scopes: ["operator.read", "operator.write"],
    }),
  );
  await client.connect();
  return client;
}

async function isKeyFound(client: SvcClient): Promise<boolean> {
  const { results } = (await client.request("memory.search", { query: "greenhouse key" })) as { results: Array<{ path: string }> };
  return results.some(({ path }) => path === "memory/key.md");
}

const agentHook = (url: string, key: string) =>
  postHook(url, { key, body: { message: `mark:${key}: what is new?`, deliver: false, wakeMode: "next-heartbeat" } });
const largeWake = (url: string, n: number) =>
  postHook(url, { path: "wake", body: { text: `${n} ${"x".repeat(100_000)}`, mode: "next-heartbeat" } });

/** Large ones until one is refused: what had room was rightly taken. */
async function untilRefused(url: string): Promise<{ taken: number; refused: Posted }> {
  for (let taken = 0; taken < 100; taken += 1) {
    const answer = await largeWake(url, taken);
    if (answer === "unknown" || answer.status !== 200) return { taken, refused: answer };
  }
  throw new Error("100 large hooks were taken");
}

function expectRefused(answer: Posted): void {
  expect(answer).toMatchObject({ status: 503, body: { ok: false, error: "storage unavailable" } });
  expect(answer !== "unknown" && answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
}

/** A gateway on that disk, with its notes indexed. */
interface Stage {
  home: Home;
  gateway: Running;
  client: SvcClient;
}

async function startOn(disk: Pick<Disk, "sizeMiB">): Promise<Stage> {
  const home = await homeOn(disk);
  const gateway = await gatewayIn(home, [], { SVC_TEST: "1", SVC_STORAGE_FAULT_FILE: faultFile(home) });
  const client = await connect(gateway.url);
  await eventually(() => isKeyFound(client));
  return { home, gateway, client };
}

const isDone = (home: Home) => readState(home).deliveries.every(({ state }) => state === "done");

async function expectRefusedAndTakenAgain(disk: Disk, { home, gateway, client }: Stage): Promise<void> {
  const [before, meanwhile] = [`before ${disk.reason}`, `while ${disk.reason}`];
  expect(await agentHook(gateway.url, before)).toMatchObject({ status: 200 });
  await eventually(() => isDone(home));
  const stored = readState(home).deliveries.length;

  await disk.spoil(home);
  const { taken, refused } = await untilRefused(gateway.url);

  expectRefused(refused);
  expectRefused(await agentHook(gateway.url, meanwhile));
  expectRefused(await agentHook(gateway.url, before));
  await expect(
    client.request("chat.send", { sessionKey: "main", message: "hello", idempotencyKey: `c ${disk.reason}` }),
  ).rejects.toMatchObject({ code: "UNAVAILABLE", details: { reason: disk.reason } });
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  // Health is collected anew when the store says so, which is a moment after the refusal.
  await eventually(async () => {
    expect(await client.request("health", {})).toMatchObject({ ok: false, store: { ok: false, reason: disk.reason } });
    return true;
  });
  const probe = await fetch(`${gateway.url}/readyz`);
  expect({ status: probe.status, body: await probe.json() }).toMatchObject({
    status: 503,
    body: {
      ready: false,
      failing: expect.arrayContaining(["store"]),
      problems: { store: expect.stringContaining("nothing can be stored") },
    },
  });
  expect(await isKeyFound(client)).toBe(true);
  expect(await client.request("chat.history", { sessionKey: "main" })).toMatchObject({ messages: expect.any(Array) });
  expect(readState(home).deliveries).toHaveLength(stored + taken);

  await disk.mend(home);
  const after = await eventually(async () => {
    const answer = await agentHook(gateway.url, meanwhile);
    return answer !== "unknown" && answer.status === 200 && answer;
  }, 20_000);

  expect(after.headers.get("idempotent-replay")).toBeNull();
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  const replay = await agentHook(gateway.url, meanwhile);
  expect(replay).toMatchObject({ status: 200, body: { runId: after.body.runId } });
  expect(await agentHook(gateway.url, before)).toMatchObject({ status: 200 });
  await eventually(() => isDone(home));
  const { deliveries, integrity } = readState(home);
  const keys = deliveries.filter(({ dir }) => dir === "hook-agent").map(({ key }) => key);
  expect(keys.filter((key) => key === before || key === meanwhile).toSorted()).toEqual([before, meanwhile]);
  expect(integrity).toBe("ok");
  expect(gateway.child.exitCode).toBeNull();
  expect(await client.request("health", {})).toMatchObject({ store: { ok: true } });
}

describe("hooks are answered 503 and nothing of them is stored, everything else goes on, and after it they are taken", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startOn({});
  });
  afterAll(async () => {
    await stage?.client.close();
    await stopAll();
  });

  test.each(faults)("with $what", (disk) => expectRefusedAndTakenAgain(disk, stage));

  test.each(canMount() ? [fullFileSystem] : [])("with $what", async (disk) => {
    const own = await startOn(disk);
    await expectRefusedAndTakenAgain(disk, own);
    await own.client.close();
  });
});
