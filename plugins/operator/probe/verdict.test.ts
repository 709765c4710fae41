import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ProbeResult } from "../cli/probe.ts";
import { siblingGateways } from "./siblings.ts";
import { judge, type ProbedTarget } from "./verdict.ts";

const connection = { url: "ws://127.0.0.1:1", host: "127.0.0.1", port: 1, portSource: "config", secretSource: "none" } as const;
const target = (id: string, result: Partial<ProbeResult>, pid?: number): ProbedTarget => ({
  target: { id, connection, ...(pid === undefined ? {} : { pid }) },
  result: { ok: false, capability: "unknown", reason: null, portBusy: true, ...result },
});
const up = (bootId: string) => ({ ok: true, bootId, rpc: { ok: true, method: "health", result: "ok" } }) as const;
const down = { reason: "refused", portBusy: false };
const refused = { reason: "auth: token_mismatch" };

test.each<[string, ProbedTarget[], object]>([
  ["nothing answers", [target("local", down)], { ok: false, degraded: false, primary: null, warnings: [] }],
  ["one answers", [target("remote", down), target("local", up("a"))], { ok: true, degraded: false, primary: "local", warnings: [] }],
  ["one answers over two addresses", [target("explicit", up("a")), target("local", up("a"))], { primary: "explicit", warnings: [] }],
  ["a secret is refused", [target("local", refused)], { ok: true, degraded: true, primary: "local", warnings: [] }],
  [
    "two answer",
    [target("local", up("a")), target("profile:work", up("b"))],
    { ok: true, primary: "local", warnings: [{ code: "multiple_gateways", targets: ["local", "profile:work"] }] },
  ],
  [
    "a sibling refuses the secret, and its lock names another process",
    [target("local", up("a"), 7), target("profile:work", refused, 8)],
    { degraded: true, warnings: [{ code: "multiple_gateways" }] },
  ],
  ["a read is not allowed", [target("local", { ...up("a"), rpc: { ok: false, method: "health", result: "limited" } })], { degraded: true }],
])("when %s, probe says so", (_, probed, verdict) => expect(judge(probed)).toMatchObject(verdict));

test("gateways of other profiles are found by the locks of living processes", async () => {
  const home = await mkdtemp(join(tmpdir(), "svc-siblings-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const lock = async (name: string, content: unknown) => {
    await mkdir(join(home, name, "gateway"), { recursive: true });
    await writeFile(join(home, name, "gateway", "state.lock"), typeof content === "string" ? content : JSON.stringify(content));
  };
  const alive = { pid: process.pid, startTime: null, createdAt: 0 };
  await lock(".svc", { ...alive, port: 1 });
  await lock(".svc-work", { ...alive, port: 2 });
  await lock(".svc-starting", { ...alive, port: null });
  await lock(".svc-dead", { pid: 2 ** 22 + 1, startTime: "1", createdAt: 0, port: 3 });
  await lock(".svc-damaged", "{");
  await mkdir(join(home, ".svc-empty"));
  const paths = { stateDir: join(home, ".svc-work") } as Parameters<typeof siblingGateways>[0]["paths"];
  expect(await siblingGateways({ env: { HOME: home }, paths })).toEqual([{ profile: "default", pid: process.pid, port: 1 }]);
});
