import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dropNotice, readNotices } from "svc/sdk/internal";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { openConnection } from "./native.ts";
import { append, put, session } from "./testing/temp-store.ts";

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-store-boot-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

beforeAll(() => {
  vi.stubEnv("SVC_TEST", "1");
  vi.stubEnv("SVC_STORE_GUARD_MS", "50");
});
afterAll(() => {
  vi.unstubAllEnvs();
});

async function boot(stateDir: string): Promise<TestGateway> {
  const gateway = await createTestGateway({ plugins: ["store"], stateDir });
  onTestFinished(() => gateway.close());
  return gateway;
}

test("the service is there after boot, writes into the state directory, and the next boot reads it", async () => {
  const stateDir = stateFolder();
  const first = await boot(stateDir);
  await first.service("store@2").commit([put(session("agent:main:main")), append("m1")]);
  await first.close();

  const store = (await boot(stateDir)).service("store@2");

  expect(store.status()).toEqual({ ok: true, queued: 0, backend: "sqlite", endpoint: join(stateDir, "state.sqlite") });
  expect(await store.sessions.get("agent:main:main")).toEqual(session("agent:main:main"));
  expect(await store.messages.count("s")).toBe(1);
});

test("a stop closes the database: no log is left beside it", async () => {
  const stateDir = stateFolder();
  const gateway = await boot(stateDir);
  await gateway.service("store@2").commit([append("m1")]);
  expect(existsSync(join(stateDir, "state.sqlite-wal"))).toBe(true);

  await gateway.close();

  expect(existsSync(join(stateDir, "state.sqlite"))).toBe(true);
  expect(existsSync(join(stateDir, "state.sqlite-wal"))).toBe(false);
});

test("health has the store as a critical part", async () => {
  const gateway = await boot(stateFolder());

  expect(await gateway.rpc("health")).toMatchObject({ ok: true, store: { ok: true, queued: 0 } });
});

test("with a damaged database the gateway comes up, and health says where the damaged file is", async () => {
  const stateDir = stateFolder();
  writeFileSync(join(stateDir, "state.sqlite"), "not a database\n");
  const gateway = await boot(stateDir);

  expect(await gateway.rpc("health")).toMatchObject({ ok: true, store: { ok: true, damaged: expect.stringContaining(".corrupt.") } });
  await gateway.service("store@2").commit([append("m1")]);
});

test("with the database of a newer program the gateway does not start: exit code 78, the version that is needed, the file as it was", async () => {
  const stateDir = stateFolder();
  const path = join(stateDir, "state.sqlite");
  const newer = await openConnection(path, {});
  newer.pragma("user_version = 99");
  newer.close();
  const before = readFileSync(path);

  await expect(boot(stateDir)).rejects.toMatchObject({
    code: "store-too-new",
    spec: { exit: 78 },
    message: expect.stringContaining("needs a version of svc that knows 99"),
  });

  expect(readFileSync(path).equals(before)).toBe(true);
  expect(JSON.parse(readFileSync(join(stateDir, "gateway", "last-refusal.json"), "utf8"))).toMatchObject({ code: "store-too-new" });
});

test("after damage health and the readiness probe say what happened and what was lost, until the notice is taken away", async () => {
  const stateDir = stateFolder();
  writeFileSync(join(stateDir, "state.sqlite"), "not a database\n");
  const gateway = await boot(stateDir);
  const told = expect.stringMatching(
    /was damaged .* kept as .*\.corrupt\.\d+; there was no snapshot, .*everything that was stored before is lost/,
  );
  const ready = async () => (await fetch(`${gateway.url}/readyz`)).json();

  await expect.poll(() => gateway.rpc("health")).toMatchObject({ ok: true, problems: { stateHistory: told } });
  expect(await ready()).toMatchObject({ ready: true, failing: ["stateHistory"], problems: { stateHistory: told } });

  await dropNotice(stateDir, "state/restored");
  expect(await gateway.rpc("health", { probe: true })).not.toHaveProperty("problems");
  expect(await ready()).toMatchObject({ ready: true, failing: [] });
});

test("while another file is in the place of the database the gateway is not ready, and says how to choose", async () => {
  const stateDir = stateFolder();
  const path = join(stateDir, "state.sqlite");
  const gateway = await boot(stateDir);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);

  writeFileSync(`${path}.other`, "not a database\n");
  renameSync(`${path}.other`, path);
  await expect.poll(async () => (await fetch(`${gateway.url}/readyz`)).status, { timeout: 15_000 }).toBe(503);

  expect(await (await fetch(`${gateway.url}/readyz`)).json()).toMatchObject({
    ready: false,
    phase: "ready",
    failing: expect.arrayContaining(["store"]),
    problems: { store: expect.stringContaining("another file was put in the place of state.sqlite") },
  });
  await expect.poll(() => gateway.rpc("health")).toMatchObject({ ok: false, store: { ok: true } });
  await expect
    .poll(() => readNotices(stateDir, Date.now()))
    .toMatchObject([{ id: "state/detached", message: expect.stringContaining("to use the other file") }]);
  await gateway.service("store@2").commit([append("m1")]);
});
