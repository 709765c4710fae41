import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, fakeModel } from "svc/sdk/testing";
import { expect, onTestFinished, test } from "vitest";

const token = "hooks-token-of-this-test-9c1f";

test("in safe mode an accepted action waits without being tried; it runs when that is over", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-hooks-safe-mode-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  mkdirSync(join(stateDir, "gateway"));
  const now = Date.now();
  const boots = { version: 1, running: { bootId: "gone", startedAt: now - 2 }, unclean: [now - 4, now - 3] };
  writeFileSync(join(stateDir, "gateway", "boots.json"), JSON.stringify(boots));
  const model = fakeModel(Array.from({ length: 5 }, () => ({ text: "noted" })));
  const gateway = await createTestGateway({
    stateDir,
    plugins: ["store", "agents", "messaging", "webhooks"],
    models: [model],
    config: { hooks: { enabled: true, token }, agents: { defaults: { skipBootstrap: true } } },
  });
  onTestFinished(() => gateway.close());
  const post = (path: string, body: object) =>
    fetch(`${gateway.url}/hooks/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  const answer = await post("agent", { message: "what is new?", wakeMode: "next-heartbeat" });
  expect((await post("wake", { text: "the build is red", mode: "now" })).status).toBe(200);
  const { runId } = (await answer.json()) as { runId: string };

  expect(answer.status).toBe(200);
  const { deliveries, systemEvents } = gateway.service("store@2");
  // A run that begins at once would have begun by the time another request is answered.
  expect(await gateway.rpc("health")).toMatchObject({ phase: "safe-mode" });
  expect(await deliveries.get(runId)).toMatchObject({ state: "accepted", attempt: 0 });
  expect(await systemEvents.waking()).toEqual(["agent:main:main"]);
  expect(await gateway.rpc("health", { probe: true })).toMatchObject({ problems: { safeMode: expect.any(String) } });

  await gateway.rpc("gateway.exitSafeMode");

  await expect.poll(async () => (await deliveries.get(runId))?.state, { timeout: 15_000 }).toBe("done");
});
