import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runCommandLine } from "../../kernel/cli/run.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: ["approvals"] });
});
afterAll(() => gateway.close());

interface Running {
  out(): string;
  err(): string;
  stop(): void;
  code: Promise<number>;
}

const watches: Running[] = [];
afterEach(async () => {
  for (const watch of watches.splice(0)) {
    watch.stop();
    await watch.code;
  }
});

/** Starts `svc` with this command line, as a program behind a pipe would. */
function start(...argv: string[]): Running {
  let out = "";
  let err = "";
  const controller = new AbortController();
  const code = runCommandLine([...argv, "--url", gateway.wsUrl, "--token", gateway.token], {
    env: { HOME: gateway.stateDir, SVC_STATE_DIR: gateway.stateDir },
    cwd: gateway.stateDir,
    stdout: { write: (part: string) => (out += part), isTTY: false },
    stderr: { write: (part: string) => (err += part) },
    interrupt: () => ({ signal: controller.signal, exitCode: (n: number) => n, dispose: () => undefined }),
  });
  return { out: () => out, err: () => err, stop: () => controller.abort(), code };
}

async function svc(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const running = start(...argv);
  const code = await running.code;
  return { code, out: running.out(), err: running.err() };
}

/** `svc approvals --watch`, connected. */
async function watch(...argv: string[]): Promise<Running> {
  const running = start("approvals", "--watch", ...argv);
  watches.push(running);
  await eventually(() => Promise.resolve(/watching/.test(running.err() + running.out())));
  return running;
}

const idIn = (text: string) => /svc approvals allow (\S+)/.exec(text)?.[1] ?? "";

describe("a request for approval", () => {
  test("that nobody could answer says why, and svc approvals list shows it with the way out", async () => {
    const outcome = await gateway.rpc("exec.approval.request", { command: "rm -rf /tmp/x" });
    expect(outcome).toMatchObject({ decision: null, terminalReason: "no-route" });
    expect(outcome.message).toContain("svc approvals --watch");

    const { code, out } = await svc("approvals", "list");
    expect(code).toBe(0);
    expect(out).toContain("No request waits for approval.");
    expect(out).toMatch(/[0-9a-f]{8} {2}\ds ago, no-route: rm -rf \/tmp\/x/);
    expect(out).toContain("keep the control UI open or run svc approvals --watch");
    expect(gateway.logs.filter(({ message }) => message.includes("svc approvals --watch"))).toHaveLength(1);
  });

  test("has a route while svc approvals --watch runs, which shows it, its expiry and how it ended", async () => {
    const watching = await watch();
    const answer = gateway.rpc("exec.approval.request", { command: "git push", cwd: "/srv/site", agentId: "main" });
    await eventually(() => Promise.resolve(watching.out().includes("git push")));
    expect(watching.out()).toMatch(/^[0-9a-f]{8} {2}command by agent main, expires in 30m$/m);
    expect(watching.out()).toContain("  in /srv/site\n");

    const { code, out } = await svc("approvals", "allow", idIn(watching.out()));
    expect({ code, out }).toEqual({ code: 0, out: "Allowed once: git push\n" });
    expect(await answer).toMatchObject({ decision: "allow-once" });
    await eventually(() => Promise.resolve(/allowed once by cli: git push/.test(watching.out())));
  });

  test("is listed with the beginning of its id, which answers it", async () => {
    await watch();
    const answer = gateway.rpc("plugin.approval.request", { title: "Send the mail?", description: "To ann@example.org", pluginId: "mail" });
    const listed = await eventually(async () => {
      const { out } = await svc("approvals", "list");
      return out.includes("Send the mail?") && out;
    });
    expect(listed).toMatch(/^[0-9a-f]{8} {2}plugin mail, expires in (2m|1m|119s|\d+s)$/m);
    const id = idIn(listed);
    expect(id).toHaveLength(8);
    expect(await svc("approvals", "deny", id.slice(0, 6), "--json")).toMatchObject({ code: 0, out: expect.stringContaining('"deny"') });
    expect(await answer).toMatchObject({ decision: "deny" });
  });

  test("with an id that fits none or several is left alone", async () => {
    const watching = await watch("--json");
    const first = gateway.rpc("exec.approval.request", { command: "ls 1", id: "job-one" });
    const second = gateway.rpc("exec.approval.request", { command: "ls 2", id: "job-two" });
    await eventually(() => Promise.resolve(watching.out().includes("job-one") && watching.out().includes("job-two")));

    const several = await svc("approvals", "allow", "job-");
    expect(several).toMatchObject({ code: 1, err: expect.stringContaining("fits several requests: job-one, job-two") });
    const none = await svc("approvals", "allow", "nothing");
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('no pending request "nothing"') });
    const always = await svc("approvals", "allow", "job-one", "--always");
    expect(always).toMatchObject({ code: 1, err: expect.stringContaining("leave out --always") });

    for (const id of ["job-one", "job-two"]) await svc("approvals", "deny", id);
    expect([await first, await second]).toMatchObject([{ decision: "deny" }, { decision: "deny" }]);
    for (const line of watching.out().trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("type");
  });
});
