import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin, z } from "svc/sdk";
import { createTestGateway, eventually, fakeClock, type TestGateway, type TestGatewayOptions } from "svc/sdk/testing";
import { expect, onTestFinished, test } from "vitest";
import { readRepositoryFiles } from "../tools/source/tree.ts";

const minute = 60_000;

/** State folder that two unclean ends leave behind, with a third gateway that never wrote its end. */
function crashedThrice(): string {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-safe-mode-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  mkdirSync(join(stateDir, "gateway"));
  const now = Date.now();
  const boots = { version: 1, running: { bootId: "gone", startedAt: now - 2 * minute }, unclean: [now - 4 * minute, now - 3 * minute] };
  writeFileSync(join(stateDir, "gateway", "boots.json"), JSON.stringify(boots));
  return stateDir;
}

const guest = () =>
  definePlugin<unknown>({
    id: "guest",
    version: "1.0.0",
    svc: { api: "*" },
    setup(ctx) {
      ctx.registerRpc({ method: "guest.go", scope: "read", params: z.object({}), handler: () => "gone" });
    },
  });
const readied: number[] = [];
const tapped = () =>
  definePlugin<unknown>({
    id: "tapped",
    version: "1.0.0",
    svc: { api: "*" },
    setup(ctx) {
      ctx.on("gateway.ready", () => void readied.push(1));
    },
  });

async function boot(options: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await createTestGateway({ plugins: ["store", guest()], ...options });
  onTestFinished(() => gateway.close());
  return gateway;
}

const ready = async (gateway: TestGateway) => {
  const answer = await fetch(`${gateway.url}/readyz`);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const state = async (gateway: TestGateway) => {
  const { plugins } = await gateway.rpc<{ plugins: Array<{ id: string; runtime: object }> }>("plugins.list");
  return plugins.find(({ id }) => id === "guest")?.runtime;
};

test("after three unclean ends within five minutes the gateway is up without what may have ended it, and says so", async () => {
  const gateway = await boot({ stateDir: crashedThrice() });

  const health = await gateway.rpc("health");
  expect(health).toMatchObject({
    phase: "safe-mode",
    safeMode: { uncleanEnds: [expect.any(Number), expect.any(Number), expect.any(Number)] },
    problems: { safeMode: expect.stringContaining("gateway.exitSafeMode") },
  });
  expect(await gateway.rpc("status")).toMatchObject({
    phase: "safe-mode",
    problems: { safeMode: expect.stringContaining("3 times within 5 minutes") },
  });
  expect(await state(gateway)).toMatchObject({ state: "blocked", code: "safe-mode" });
  await expect(gateway.rpc("guest.go")).rejects.toThrow();
  expect(await ready(gateway)).toMatchObject({ status: 503, body: { ready: false, phase: "safe-mode", failing: ["safeMode"] } });
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${gateway.url}/no/such/path`)).status).toBe(404);
  const notice = await eventually(() =>
    JSON.parse(readFileSync(join(gateway.stateDir, "gateway", "notices", "boot-crash-loop.json"), "utf8")),
  );
  expect(notice).toMatchObject({ id: "boot/crash-loop", severity: "error" });
});

test("gateway.exitSafeMode starts what was kept off, and the ends are forgiven", async () => {
  const stateDir = crashedThrice();
  const gateway = await boot({ stateDir });

  expect(await gateway.rpc("gateway.exitSafeMode")).toEqual({ ok: true, left: true });

  expect(await gateway.rpc("guest.go")).toBe("gone");
  expect(await ready(gateway)).toMatchObject({ status: 200, body: { ready: true, phase: "ready" } });
  expect(JSON.parse(readFileSync(join(stateDir, "gateway", "boots.json"), "utf8"))).toMatchObject({ unclean: [] });
  expect(() => readFileSync(join(stateDir, "gateway", "notices", "boot-crash-loop.json"))).toThrow("ENOENT");
  expect(await gateway.rpc("gateway.exitSafeMode")).toEqual({ ok: true, left: false });
});

test("ten quiet minutes end it; the hook gateway.ready runs then, and only once", async () => {
  const clock = fakeClock();
  const gateway = await boot({ stateDir: crashedThrice(), clock, plugins: ["store", guest(), tapped()] });
  await clock.advance(10 * minute - 1);
  expect((await ready(gateway)).body.phase).toBe("safe-mode");
  expect(readied).toEqual([]);

  await clock.advance(1);

  await expect.poll(() => readied).toEqual([1]);
  expect(await gateway.rpc("guest.go")).toBe("gone");
});

test("a stop that was asked for is no crash: the next start is an ordinary one", async () => {
  const stateDir = crashedThrice();
  const first = await createTestGateway({ plugins: ["store"], stateDir });
  await first.rpc("gateway.exitSafeMode");
  await first.close();

  const gateway = await boot({ stateDir });

  expect(await gateway.rpc("health")).toMatchObject({ phase: "ready" });
  expect(await gateway.rpc("health")).not.toHaveProperty("safeMode");
});

test("SVC_SAFE_MODE=off is for tests that kill on purpose: nothing that we ship sets it", async () => {
  const gateway = await boot({ stateDir: crashedThrice(), env: { SVC_SAFE_MODE: "off" } });
  expect(await gateway.rpc("health")).toMatchObject({ phase: "ready" });

  const files = readRepositoryFiles((path) => !path.startsWith("test/") && !path.includes("node_modules"));
  const naming = [...files].filter(([, text]) => text.includes("SVC_SAFE_MODE")).map(([path]) => path);
  expect(naming.filter((path) => !path.startsWith("kernel/"))).toEqual([]);
});
