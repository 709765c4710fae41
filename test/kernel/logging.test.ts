import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { openLogs } from "../../kernel/cli/gateway-logs.ts";

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

const plain = (text: string) => text;
const color = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

test("patterns to mask take effect with a reload of the config, without a restart", async () => {
  gateway = await createTestGateway({ plugins: [] });
  const failing = () => Promise.reject(new Error("acme-1"));
  gateway.gateway.hooks.tap("config.changed", { plugin: "x", order: 0, fn: failing });
  await gateway.reload({ logging: { level: "debug" } });
  expect(JSON.stringify(gateway.logs)).toContain("acme-1");

  gateway.logs.length = 0;
  expect(await gateway.reload({ logging: { redactPatterns: ["acme-\\d"] } })).toMatchObject({ action: "hot", pendingRestart: [] });
  expect(JSON.stringify(gateway.logs)).not.toContain("acme-1");
  expect(JSON.stringify(gateway.logs)).toContain("[redacted]");
});

test("console and file follow the config of the gateway that runs", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "svc-logging-"));
  gateway = await createTestGateway({ plugins: [] });
  let shown = "";
  const write = (text: string) => {
    shown += text;
  };
  const stderr = { write, line: write, isTTY: false };
  const logs = openLogs(
    { env: {}, paths: { stateDir } as never, stderr, color },
    { level: undefined, verbose: false, configured: undefined },
  );
  try {
    logs.follow(gateway.gateway);
    logs.logger.debug("too fine");
    await gateway.reload({ logging: { level: "debug", consoleLevel: "silent", file: "own.log" } });
    logs.logger.debug("fine enough");
    await logs.close();
    expect(shown).toBe("");
    expect(JSON.parse(await readFile(join(stateDir, "own.log"), "utf8"))).toMatchObject({ level: "debug", msg: "fine enough" });
  } finally {
    await logs.close();
    await rm(stateDir, { recursive: true, force: true });
  }
});
