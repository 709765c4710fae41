import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";

let workspace: string;
const gateways: TestGateway[] = [];
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), "svc-shared-"));
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close();
  await rm(workspace, { recursive: true, force: true });
});

async function start(): Promise<TestGateway> {
  const config = { agents: { defaults: { skipBootstrap: true, workspace } } };
  const gateway = await createTestGateway({ plugins: ["store", "agents"], config });
  gateways.push(gateway);
  return gateway;
}
const findings = async (gateway: TestGateway) => (await gateway.rpc<{ findings: Array<{ id: string }> }>("gateway.doctor")).findings;
const shared = (stateDir: string) => ({
  id: "workspace/shared",
  severity: "warning",
  message: `workspace of agent "main" is shared with another gateway (pid ${process.pid}, state directory ${stateDir}): ${workspace}`,
});

test("two gateways that share a workspace both say so in doctor and health, until one of them stops", async () => {
  const first = await start();
  expect(await findings(first)).toEqual([]);
  const second = await start();

  expect(await findings(first)).toMatchObject([shared(second.stateDir)]);
  expect(await findings(second)).toMatchObject([shared(first.stateDir)]);
  const { problems } = await second.rpc<{ problems: Record<string, string> }>("health", { probe: true });
  expect(problems.agents).toBe(shared(first.stateDir).message);
  expect(second.logs.filter(({ level, message }) => level === "warn" && message.includes("is shared with"))).toHaveLength(1);

  await gateways.pop()?.close();
  expect(await findings(first)).toEqual([]);
  await gateways.pop()?.close();
  expect(await readdir(workspace)).toEqual([]);
});

test("what a gateway left in a workspace when it was killed is no finding, and is removed", async () => {
  const left = join(workspace, ".svc-gateway.0123abcd.lock");
  const host = (await import("node:os")).hostname();
  await writeFile(left, JSON.stringify({ pid: process.pid, startTime: "1", createdAt: 1, stateDir: "/gone", host, instance: "x" }));
  expect(await findings(await start())).toEqual([]);
  expect(await readdir(workspace)).toHaveLength(1);
});
