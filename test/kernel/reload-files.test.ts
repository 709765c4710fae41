import { execFileSync } from "node:child_process";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { edit, editAndApply, line, quickReload, reloadStatus } from "./_reload.ts";

let gateway: TestGateway;
const config = { gateway: { reload: quickReload }, tools: { profile: "full" as const } };

beforeEach(async () => {
  gateway = await createTestGateway({ plugins: [], config });
});
afterEach(() => gateway.close());

const file = () => join(gateway.stateDir, "svc.json");
const profile = () => gateway.gateway.config().tools.profile;
const minimal = (c: { tools?: object }) => {
  c.tools = { profile: "minimal" };
};

describe("a changed config file", () => {
  test("is applied by itself, and the health event tells it", async () => {
    const ws = await gateway.ws();
    expect(await editAndApply(gateway, minimal)).toBe("config reload applied (tools.profile)");
    expect(profile()).toBe("minimal");
    expect(await reloadStatus(gateway, "active")).toMatchObject({ status: "active", issues: [], pendingRestart: [], restart: [] });
    const { hash } = await gateway.rpc<{ hash: string }>("config.get");
    expect(await ws.event("config.changed")).toEqual({ path: file(), hash, ts: expect.any(Number) });
    expect(ws.client.state).toMatchObject({ state: "connected" });
  });

  test("is applied when an editor replaces it, and when it stands behind a link", async () => {
    const text = (await readFile(file(), "utf8")).replace("full", "minimal");
    await mkdir(join(gateway.stateDir, "elsewhere"));
    const target = join(gateway.stateDir, "elsewhere", "real.json");
    await writeFile(target, text);
    await symlink(target, join(gateway.stateDir, "temp-link"));
    await rename(join(gateway.stateDir, "temp-link"), file());
    await line(gateway, "config reload applied (tools.profile)");
    expect(profile()).toBe("minimal");

    const from = gateway.logs.length;
    await writeFile(target, text.replace("minimal", "full"));
    await line(gateway, "config reload applied (tools.profile)", from);
    expect(profile()).toBe("full");
  });

  test("that is a FIFO for a while is refused by name, and what takes its place is applied", async () => {
    const text = (await readFile(file(), "utf8")).replace("full", "minimal");
    await rm(file());
    execFileSync("mkfifo", [file()]);
    await line(gateway, "is not a regular file");
    await rm(file());
    await writeFile(file(), text);
    await line(gateway, "config reload applied (tools.profile)");
    expect(profile()).toBe("minimal");
  });

  test("of an include is applied, from the moment it is included until it no longer is", async () => {
    const part = join(gateway.stateDir, "tools.json5");
    await writeFile(part, "{ profile: 'minimal' } // notes");
    await editAndApply(gateway, (c) => {
      c.tools = { $include: "./tools.json5" };
    });
    expect(profile()).toBe("minimal");

    const from = gateway.logs.length;
    await writeFile(part, "{ profile: 'full' }");
    await line(gateway, "config reload applied (tools.profile)", from);
    expect(profile()).toBe("full");

    await rm(part);
    expect(await reloadStatus(gateway, "invalid")).toMatchObject({ issues: [{ message: expect.stringContaining("tools.json5") }] });
    expect(profile()).toBe("full");

    await writeFile(part, "{ profile: 'minimal' }");
    await reloadStatus(gateway, "active");
    expect(profile()).toBe("minimal");
  });

  test("that says the same in other bytes is silent, and its hash is known", async () => {
    const { hash } = await gateway.rpc<{ hash: string }>("config.get");
    await writeFile(file(), `${JSON.stringify(gateway.gateway.plan.loaded.authored, null, 2)}\n`);
    const from = gateway.logs.length;
    const outcome = await gateway.gateway.reload("rpc");
    expect(outcome).toMatchObject({ action: "none", changedPaths: [] });
    expect((await gateway.rpc<{ hash: string }>("config.get")).hash).not.toBe(hash);
    expect(gateway.logs.slice(from).filter((l) => l.message.includes("config reload"))).toEqual([]);
  });
});

describe("a file that cannot be used", () => {
  const rows: Array<[string, () => Promise<void>, string]> = [
    ["empty", () => writeFile(file(), ""), "svc.json:1:1  invalid end of input"],
    ["tiny", () => writeFile(file(), '{"meta":{"lastTouchedVersion":"0.1.0"}}'), "gateway.mode: key missing: the file may be damaged"],
    ["cut off", () => writeFile(file(), '{ "gateway": { "mode": "loc'), "svc.json:1:28  invalid end of input"],
    ["with an unknown key", () => edit(gateway, (c) => (c.gateway.bogus = 1)), "bogus"],
    ["with a wrong value", () => edit(gateway, (c) => (c.tools.profile = "galaxy")), "tools.profile"],
    ["missing", () => rm(file()), "is gone; put it back"],
    ["a folder", () => rm(file()).then(() => mkdir(file())), "svc.json:1:1  cannot be read: is not a regular file"],
  ];

  test.each(rows)("%s: the running config stays, log and health say so until it is mended", async (_, damage, said) => {
    const running = gateway.gateway.config();
    const from = gateway.logs.length;
    await damage();
    const warning = await line(gateway, "config reload skipped (invalid config): ", from);
    expect(warning).toContain(said);
    expect(await reloadStatus(gateway, "invalid")).toMatchObject({
      status: "invalid",
      issues: [expect.anything()],
      since: expect.any(Number),
    });
    expect(gateway.gateway.config()).toBe(running);

    await rm(file(), { recursive: true, force: true });
    await writeFile(file(), JSON.stringify(gateway.gateway.plan.loaded.authored));
    await reloadStatus(gateway, "active");
  });

  test("the health event tells of it, and of its end, without being asked", async () => {
    const ws = await gateway.ws();
    const tells = (status: string) =>
      ws.event("health", (p) => (p.configReload as { status: string } | undefined)?.status === status, 15_000);
    await edit(gateway, (c) => (c.gateway.bogus = 1));
    await tells("invalid");
    const { length } = ws.events;
    await edit(gateway, (c) => delete c.gateway.bogus);
    await eventually(() =>
      ws.events.slice(length).some((e) => e.event === "health" && JSON.stringify(e.payload).includes('"status":"active"')),
    );
  });

  test("a second fault is told too, in one line each", async () => {
    const from = gateway.logs.length;
    await edit(gateway, (c) => (c.gateway.bogus = 1));
    await line(gateway, "bogus", from);
    await edit(gateway, (c) => (c.gateway.rubbish = 1));
    await line(gateway, "rubbish", from);
    expect(gateway.logs.slice(from).filter((l) => l.message.includes("config reload skipped"))).toHaveLength(2);
  });
});

test("the age of the last poll stands in health", async () => {
  const health = await gateway.rpc<{ jobs: Record<string, { lastRanAgeMs: number; intervalMs: number }> }>("health", { probe: true });
  expect(Object.keys(health.jobs).sort()).toEqual(["configPoll", "health", "lock", "memory", "slowConsumers", "tick"]);
  for (const { lastRanAgeMs, intervalMs } of Object.values(health.jobs)) expect(lastRanAgeMs).toBeLessThan(3 * intervalMs);
});
