import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createGateway } from "../../kernel/boot/gateway.ts";
import { createLogger } from "../../kernel/process/logger.ts";
import { resolvePaths } from "../../kernel/process/paths.ts";
import { gate, sharedWithPlugins, writePlugin } from "./_plugins.ts";
import { challenged, connectParams } from "./_ws.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-starting-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("a gateway that is still starting says so and closes with 1013, also to a right secret", async () => {
  const { opened, open } = gate();
  sharedWithPlugins({ opened });
  const folder = await writePlugin(root, "slow", { setup: "await shared.opened;" });
  const stateDir = join(root, "state");
  await mkdir(stateDir, { mode: 0o700 });
  const plugins = { load: { paths: [folder] }, entries: { slow: { enabled: true } } };
  await writeFile(join(stateDir, "svc.json"), JSON.stringify({ gateway: { mode: "local", auth: { token: "the-token" } }, plugins }));
  const env = { SVC_STATE_DIR: stateDir, SVC_GATEWAY_PORT: "0" };
  const gateway = await createGateway({
    ...{ paths: resolvePaths({ env }), env, version: "1", logger: createLogger([]), only: ["slow"], stragglerMs: 60_000 },
  });
  try {
    const target = { wsUrl: `ws://127.0.0.1:${gateway.port}` };
    const socket = await challenged(target);
    const res = await socket.request("1", "connect", connectParams("the-token"));
    expect(res.error).toEqual({
      code: "UNAVAILABLE",
      message: "gateway starting; retry shortly",
      details: { reason: "startup-sidecars" },
      retryable: true,
      retryAfterMs: 500,
    });
    expect(await socket.end()).toEqual({ code: 1013, reason: "gateway starting" });

    open();
    await gateway.ready;

    const later = await challenged(target);
    expect((await later.request("1", "connect", connectParams("the-token"))).ok).toBe(true);
    await later.close();
  } finally {
    open();
    await gateway.close("test over");
  }
});
