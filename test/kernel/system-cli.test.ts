import { createTestGateway, eventually, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommandLine } from "../../kernel/cli/run.ts";

const clock = fakeClock();
let gateway: TestGateway;
beforeAll(async () => {
  const models = [fakeModel(["The door stands open.", "HEARTBEAT_OK"])];
  gateway = await createTestGateway({ plugins: ["store", "agents", "operator"], workspace: { "HEARTBEAT.md": "" }, models, clock });
});
afterAll(() => gateway.close());

/** `svc` with this command line, as a program behind a pipe sees it. */
async function svc(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const stdout = { write: (part: string) => (out += part), isTTY: false };
  const stderr = { write: (part: string) => (err += part) };
  const interrupt = () => ({ signal: new AbortController().signal, exitCode: (code: number) => code, dispose: () => undefined });
  const env = { HOME: gateway.stateDir, SVC_STATE_DIR: gateway.stateDir };
  const code = await runCommandLine([...argv, "--url", gateway.wsUrl, "--token", gateway.token], {
    env,
    cwd: gateway.stateDir,
    stdout,
    stderr,
    interrupt,
  });
  return { code, out, err };
}

describe("svc system event", () => {
  test("wakes the agent, and svc system heartbeat last shows what came of it", async () => {
    expect(await svc("system", "heartbeat", "last")).toMatchObject({ code: 0, out: "No heartbeat yet.\n" });
    expect(await svc("system", "event", "--text", "Look at the door")).toMatchObject({ code: 0, out: "Queued for the agent.\n" });
    await clock.advance(250);
    await eventually(() => gateway.rpc("last-heartbeat").then((report) => report !== null));
    const { out } = await svc("system", "heartbeat", "last");
    expect(out).toMatch(/^2026-01-01 \d\d:\d\d {2}main {2}skipped: no-target {2}\(\d+\.\ds\) {2}The door stands open\.\n$/);
    const { out: json } = await svc("system", "heartbeat", "last", "--json");
    expect(JSON.parse(json)).toMatchObject({ status: "skipped", preview: "The door stands open." });
  });

  test("without hurry leaves it for the next prompt, says so when it waits already, and svc status shows it", async () => {
    const argv = ["system", "event", "--text", "The parcel\nhas come", "--mode", "next-heartbeat"];
    expect((await svc(...argv)).out).toBe("Queued for the agent.\n");
    expect((await svc(...argv)).out).toBe("Already queued: the same text is waiting to be read.\n");
    const again = await svc(...argv, "--json");
    expect(JSON.parse(again.out)).toEqual({ ok: true, mode: "next-heartbeat", eventOutcome: "coalesced" });
    await gateway.rpc("health", { probe: true });
    const { out } = await svc("status");
    expect(out).toMatch(/^Heartbeat +main every 30m$/m);
    expect(out).toContain("Waiting for the next prompt\n  The parcel has come\n");
  });

  test.each([
    [["--text", " "], "--text is required"],
    [[], "--text is required"],
    [["--text", "x", "--mode", "later"], "--mode"],
    [["--text", "x", "--mode", "next-heartbeat", "--session-key", "other"], "sessionKey requires mode=now"],
    [["--text", "x", "--agent", "nobody"], "nobody"],
  ])("with %j is refused", async (argv, message) => {
    const { code, err } = await svc("system", "event", ...argv);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });
});

test("svc system heartbeat disable and enable switch them, and svc health tells", async () => {
  expect(await svc("system", "heartbeat", "disable")).toMatchObject({
    code: 0,
    out: "Heartbeats are off until the gateway ends or they are enabled.\n",
  });
  expect((await svc("health", "--verbose")).out).toMatch(/^Agent main \(default\): \d+ sessions?, heartbeat off$/m);
  expect((await svc("system", "heartbeat", "enable")).out).toBe("Heartbeats are on.\n");
  const { out } = await svc("health", "--verbose");
  expect(out).toMatch(/^Agent main \(default\): \d+ sessions?, heartbeat every 30m$/m);
  expect(out).toMatch(/^Queues: 0 at work, 0 waiting in 0 lanes$/m);
});

test("svc system presence lists the gateway first", async () => {
  await gateway.rpc("system-event", { text: "Node: Shed (192.0.2.9) · app 1.4 · mode kiosk · reason boot" });
  const { code, out } = await svc("system", "presence");
  expect(code).toBe(0);
  const [head, self, shed] = out.split("\n");
  expect(head).toMatch(/^SEEN +WHO +ADDRESS +MODE +VERSION +REASON$/);
  expect(self).toMatch(/ gateway +0\.0\.0-test +self$/);
  expect(shed).toMatch(/ Shed +192\.0\.2\.9 +kiosk +1\.4 +boot$/);
  expect(JSON.parse((await svc("system", "presence", "--json")).out)).toHaveLength(2);
});
