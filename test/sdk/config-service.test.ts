import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ConfigMethods, createConfigMethods } from "../../kernel/config/config-service.ts";
import { loadConfig } from "../../kernel/config/load.ts";
import { createLogger } from "../../kernel/process/logger.ts";
import type { ReloadOutcome } from "../../sdk/types/reload.ts";

let dir: string;
let path: string;
/** Outcome that the stubbed reload reports for the next change. */
let outcome: Partial<ReloadOutcome>;
let pending: string[];
let holds: string[];
let config: ConfigMethods;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-service-"));
  path = join(dir, "svc.json");
  await writeFile(path, "{ gateway: { mode: 'local' } }");
  const load = (overlay?: ReadonlyMap<string, string>) => loadConfig(path, { env: {}, overlay, secrets: "none" });
  const active = await load();
  outcome = {};
  pending = [];
  holds = [];
  config = createConfigMethods({
    host: { path, readonly: false, load },
    reloader: {
      current: () => active as never,
      pendingRestart: () => pending,
      reload: async () => ({ status: "applied", action: "hot", changedPaths: [], pendingRestart: [], issues: [], ...outcome }),
    },
    manifests: () => [],
    emit: () => undefined,
    hold: (reason) => {
      holds.push(reason);
      return { dispose: () => void holds.splice(holds.indexOf(reason), 1) };
    },
    version: "1",
    now: () => 0,
    logger: createLogger([]),
  });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const patch = async (value: object) => config.patch({ raw: JSON.stringify(value), baseHash: (await config.get()).hash as string });

test("what the gateway refused is written all the same, and the reasons are told", async () => {
  outcome = { status: "rejected", issues: [{ path: "logging.level", message: "a part refused" }] };
  expect(await patch({ logging: { level: "warn" } })).toMatchObject({ action: "persisted", issues: outcome.issues });
  expect(await readFile(path, "utf8")).toContain("warn");
});

test.each([
  ["restart", "restart", []],
  ["applied", "restart", ["gateway.port"]],
  ["applied", "hot", []],
] as const)("an outcome %s is told as %s when %j wait for a restart", async (status, action, waiting) => {
  outcome = { status };
  pending = [...waiting];
  expect(await patch({ gateway: { port: 1234 } })).toMatchObject({ action, pendingRestart: waiting });
});

test("a change that the watcher applied first is told as applied, or as waiting", async () => {
  outcome = { status: "unchanged", action: "none" };
  expect(await patch({ logging: { level: "warn" } })).toMatchObject({ action: "hot", changedPaths: ["logging.level"] });
  pending = ["gateway.port"];
  expect(await patch({ gateway: { port: 1234 } })).toMatchObject({ action: "restart" });
});

test("config.apply can hold the restart back for a while", async () => {
  const { raw, hash } = await config.get();
  const applied = config.apply({ raw: `${String(raw)} // more`, baseHash: hash as string, restartDelayMs: 30 });
  expect(holds).toHaveLength(1);
  await applied;
  await eventually(() => holds.length === 0);
});
