import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./native.ts";
import { append, put, session } from "./testing/temp-store.ts";

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-store-boot-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function boot(stateDir: string): Promise<TestGateway> {
  const gateway = await createTestGateway({ plugins: ["store"], stateDir });
  onTestFinished(() => gateway.close());
  return gateway;
}

test("the service is there after boot, writes into the state directory, and the next boot reads it", async () => {
  const stateDir = stateFolder();
  const first = await boot(stateDir);
  await first.service("store@1").commit([put(session("agent:main:main")), append("m1")]);
  await first.close();

  const store = (await boot(stateDir)).service("store@1");

  expect(store.status()).toEqual({ ok: true, queued: 0, path: join(stateDir, "state.sqlite") });
  expect(store.sessions.get("agent:main:main")).toEqual(session("agent:main:main"));
  expect(store.messages.count("s")).toBe(1);
});

test("a stop closes the database: no log is left beside it", async () => {
  const stateDir = stateFolder();
  const gateway = await boot(stateDir);
  await gateway.service("store@1").commit([append("m1")]);
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
  await gateway.service("store@1").commit([append("m1")]);
});

test("with the database of a newer program the gateway comes up without the store and says why", async () => {
  const stateDir = stateFolder();
  const newer = await openConnection(join(stateDir, "state.sqlite"), {});
  newer.pragma("user_version = 99");
  newer.close();

  const gateway = await boot(stateDir);

  expect(() => gateway.service("store@1")).toThrowError(expect.objectContaining({ code: "service-unavailable" }));
  expect(JSON.stringify(gateway.logs)).toContain("schema version 99");
});
