import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { needs } from "../servers/needs.ts";
import { root, stopAll } from "./_cli.ts";
import { freePort, type Machine, machine, modeOf } from "./_supervisors.ts";

afterEach(stopAll);

const entry = join(root, "bin/svc.mjs");
const ids = (value: Record<string, unknown>) =>
  (value.findings as Array<{ id: string }>).map(({ id }) => id).filter((id) => id.startsWith("service/"));
const unitOf = ({ home }: Machine) => join(home.env.HOME as string, ".config/systemd/user/svc-gateway.service");

async function installed(at: Machine): Promise<Record<string, unknown>> {
  const { code, value, stderr } = await at.json("gateway", "install", "--node", at.node);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return value;
}

describe("under systemd", () => {
  test("a gateway is installed, its port changes, the drift is found and repaired, and nothing stays", async () => {
    const at = await machine("linux");
    const unit = unitOf(at);
    const { stateDir } = at.home;
    const names = { manager: "systemd-user", label: "svc-gateway.service", definitionPath: unit };
    expect(await installed(at)).toMatchObject({ status: "installed", ...names, port: at.port, pid: await at.lockPid() });
    expect(await at.calls()).toEqual([
      "systemctl --user daemon-reload",
      "systemctl --user reset-failed svc-gateway.service",
      "systemctl --user enable svc-gateway.service",
      "systemctl --user restart svc-gateway.service",
    ]);
    const before = await readFile(unit, "utf8");
    expect(before).toContain(
      `\nExecStart=${at.node} --max-semi-space-size=4 ${entry} gateway run --port ${at.port}\nWorkingDirectory=%h/.svc\nRestart=always\n`,
    );
    const metadata = JSON.parse(await readFile(join(stateDir, "service/metadata.json"), "utf8"));
    expect(metadata).toMatchObject({ port: at.port, nodePath: at.node, entryPath: entry });
    expect(await Promise.all([unit, join(stateDir, "service/gateway.env")].map(modeOf))).toEqual(["644", "600"]);

    expect((await at.svc("gateway", "install")).stdout).toBe(`already installed: ${unit} (port ${at.port})\n`);
    expect(await at.calls()).toEqual([]);

    const port = await freePort();
    await at.configure({ port });
    const status = await at.svc("gateway", "status", "--no-probe");
    expect(status.stdout).toContain("Service: systemd user (enabled)\n");
    expect(status.stdout).toContain(`Unit: ~/.config/systemd/user/svc-gateway.service   Installed port: ${at.port}\n`);
    expect(status.stdout).toContain(`Drift: installed ${at.port}, config says ${port} → svc gateway install --force\n`);
    const refused = await at.svc("gateway", "install");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("svc gateway install --force") });
    expect(refused.stderr).toContain(`- ExecStart=${at.node} --max-semi-space-size=4 ${entry} gateway run --port ${at.port}\n`);
    expect(refused.stderr).toContain(`+ ExecStart=${at.node} --max-semi-space-size=4 ${entry} gateway run --port ${port}\n`);
    expect(await readFile(unit, "utf8")).toBe(before);
    expect(ids((await at.json("doctor")).value)).toEqual(["service/port-drift"]);

    const { value } = await at.json("doctor", "--fix", "--only", "service/port-drift");
    expect(JSON.stringify(value)).toContain("the definition before is kept as ");
    expect(value).toMatchObject({ ok: true, findings: [], fixes: [{ id: "service/port-drift", done: true }] });
    expect(await readFile(unit, "utf8")).toBe(before.replace(String(at.port), String(port)));
    expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()).toEqual({ ready: true });
    expect((await at.calls()).at(-1)).toBe("systemctl --user restart svc-gateway.service");

    expect((await at.svc("gateway", "uninstall")).stdout).toBe(`Uninstalled: ${unit}\n`);
    expect(await at.calls()).toEqual([
      "systemctl --user disable --now svc-gateway.service",
      "systemctl --user daemon-reload",
      "systemctl --user reset-failed svc-gateway.service",
    ]);
    expect([unit, join(stateDir, "service/metadata.json"), join(stateDir, "service/gateway.env")].filter(existsSync)).toEqual([]);
    expect(await at.lockPid()).toBeUndefined();
    expect((await at.json("gateway", "status", "--no-probe")).value).toMatchObject({ service: { manager: "none", installed: false } });
  });

  test("an edited unit is told from a fresh one, and only --force replaces it", async () => {
    const at = await machine("linux");
    await installed(at);
    const unit = unitOf(at);
    const before = await readFile(unit, "utf8");
    await writeFile(unit, before.replace("RestartSec=5", "RestartSec=60"));
    const { value } = await at.json("gateway", "status", "--no-probe");
    const issues = [
      { id: "service/definition", message: `${unit} was edited since it was installed`, fix: "svc gateway install --force" },
      { id: "service/definition", message: `the supervisor has not loaded ${unit} as it is now`, fix: "svc gateway install --force" },
    ];
    expect(value.service).toMatchObject({ audit: { ok: false, issues } });
    expect((await at.svc("gateway", "install")).code).toBe(1);
    expect(await at.svc("gateway", "install", "--force")).toMatchObject({ code: 0, stdout: expect.stringContaining("Replaced: ") });
    expect(await readFile(unit, "utf8")).toBe(before);
    expect(await readFile(join(at.home.stateDir, "service/svc-gateway.service.bak"), "utf8")).toContain("RestartSec=60");
  });

  test("restart, stop and start go through the unit, a failed one included", async () => {
    const at = await machine("linux");
    await installed(at);
    await at.calls();
    const first = await at.lockPid();
    expect(await at.svc("gateway", "restart")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Restarted \(pid \d+\)\.\n$/) });
    expect(await at.lockPid()).not.toBe(first);
    expect((await at.svc("gateway", "stop")).stdout).toMatch(/^Stopped \(pid \d+\)\.\n$/);
    expect((await at.svc("gateway", "stop")).stdout).toBe("No gateway is running here.\n");
    expect((await at.svc("gateway", "install")).stderr).toBe("it is not running; start it with: svc gateway start\n");
    expect((await at.json("gateway", "start")).value).toMatchObject({ ok: true, status: "started", port: at.port });
    expect((await at.json("gateway", "start")).value).toMatchObject({ status: "already-running" });
    const reset = "systemctl --user reset-failed svc-gateway.service";
    expect(await at.calls()).toEqual([
      reset,
      "systemctl --user restart svc-gateway.service",
      "systemctl --user stop svc-gateway.service",
      reset,
      "systemctl --user start svc-gateway.service",
    ]);
  });

  test("without the bus of the user nothing is written, and the way out is named", async () => {
    const at = await machine("linux");
    await at.change({ noBus: true });
    const { code, stderr } = await at.svc("gateway", "install", "--node", at.node);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Failed to connect to bus.*XDG_RUNTIME_DIR=\/run\/user\/\d+.*loginctl enable-linger \S+/);
    expect([unitOf(at), join(at.home.stateDir, "service")].filter(existsSync)).toEqual([]);
  });

  needs("systemctl").test("the real systemctl of a machine without a manager gets the same answer", async () => {
    const at = await machine("linux");
    const folders = (process.env.PATH ?? "").split(":").filter((folder) => existsSync(join(folder, "systemctl")));
    Object.assign(at.home.env, { XDG_RUNTIME_DIR: at.home.stateDir, DBUS_SESSION_BUS_ADDRESS: "" });
    const { code, stderr } = await at.svcWith({ PATH: `${folders[0]}:${process.env.PATH}` }, "gateway", "install", "--node", at.node);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("systemd of this user cannot be reached (Failed to connect to bus"),
    });
    expect(existsSync(unitOf(at))).toBe(false);
  });

  test("a start that is refused is reported with its reason", async () => {
    const at = await machine("linux");
    await writeFile(join(at.home.stateDir, "refuse"), "");
    const { code, value } = await at.json("gateway", "install", "--node", at.node);
    expect(code).toBe(1);
    expect(value.error).toMatchObject({ code: "service-not-ready", message: expect.stringContaining("the test refuses this start") });
  });

  test("a user without lingering is told", async () => {
    const at = await machine("linux");
    await at.change({ linger: false });
    const { code, stderr } = await at.svc("gateway", "install", "--node", at.node);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^the gateway ends when \S+ logs out; .* loginctl enable-linger \S+\n$/),
    });
    expect(ids((await at.json("doctor")).value)).toEqual(["service/linger"]);
  });

  test("an owner that is not svc is left alone", async () => {
    const at = await machine("linux");
    await installed(at);
    await at.configure({ port: await freePort() });
    await at.calls();
    const policy = { SVC_SERVICE_REPAIR_POLICY: "external" };
    Object.assign(at.home.env, policy);
    const before = await readFile(unitOf(at), "utf8");
    const { value } = await at.json("doctor", "--fix", "--only", "service/port-drift");
    expect(value).toMatchObject({
      fixes: [],
      findings: [{ id: "service/port-drift", fixable: false, fix: expect.stringContaining("external") }],
    });
    for (const words of [["install", "--force"], ["uninstall"]]) {
      expect(await at.svc("gateway", ...words)).toMatchObject({ code: 1, stderr: expect.stringContaining("SVC_SERVICE_REPAIR_POLICY") });
    }
    expect({ unit: await readFile(unitOf(at), "utf8"), calls: await at.calls() }).toEqual({ unit: before, calls: [] });
  });

  test("other services that start a gateway are found by --deep, each with a command that takes it away", async () => {
    const at = await machine("linux");
    await installed(at);
    const folder = join(at.home.env.HOME as string, ".config/systemd/user");
    await writeFile(join(folder, "svc-gateway-old.service"), "[Service]\nExecStart=/usr/bin/node /old/svc.mjs gateway run\n");
    await writeFile(join(folder, "backup.service"), "[Service]\nExecStart=/usr/bin/backup\n");
    const { stdout } = await at.svc("gateway", "status", "--no-probe", "--deep");
    expect(stdout).toContain("Other gateway-like services detected (best effort)\n  svc-gateway-old.service (systemd user");
    expect(stdout).toContain(`systemctl --user disable --now svc-gateway-old.service && rm ${join(folder, "svc-gateway-old.service")}\n`);
    const { value } = await at.json("gateway", "status", "--no-probe", "--deep");
    expect(value.otherServices).toMatchObject([{ label: "svc-gateway-old.service" }]);
  });

  test("the real gateway runs from its unit, and follows a change of the port", async () => {
    const at = await machine("linux");
    const { code } = await at.json("gateway", "install", "--node", process.execPath);
    expect(code).toBe(0);
    const { value } = await at.json("gateway", "status", "--require-rpc");
    expect(value).toMatchObject({
      ok: true,
      service: { manager: "systemd-user", label: "svc-gateway.service", installed: true, enabled: true, installedPort: at.port },
      config: { sameAsService: true },
      port: { status: "busy", listeners: [{ pid: await at.lockPid(), isGateway: true }] },
      rpc: { ok: true, method: "health" },
    });
    expect(value.service).toMatchObject({
      runtime: { status: "running", pid: await at.lockPid(), lastExit: null },
      audit: { ok: true, issues: [] },
    });
    expect((await at.svc("gateway", "probe")).code).toBe(0);
    expect((await at.svc("status")).stdout).toMatch(new RegExp(`^Service +systemd-user \\(enabled\\), running, port ${at.port}$`, "m"));
    expect((await at.svc("gateway", "restart")).code).toBe(0);
    const port = await freePort();
    await at.configure({ port });
    expect(await at.svc("gateway", "install", "--force")).toMatchObject({ code: 0, stdout: expect.stringContaining(`(port ${port})`) });
    expect((await at.json("gateway", "status", "--require-rpc")).value).toMatchObject({
      ok: true,
      gateway: { port },
      service: { installedPort: port },
    });
    expect((await at.svc("gateway", "uninstall")).code).toBe(0);
    expect(await at.lockPid()).toBeUndefined();
  });
});

describe("under launchd", () => {
  test("an agent of a profile is installed, restarted, stopped, started, replaced and removed", async () => {
    const at = await machine("darwin", { profile: "work" });
    const agent = join(at.home.env.HOME as string, "Library/LaunchAgents/ai.svc.work.plist");
    const domain = `gui/${process.getuid?.()}`;
    const service = `${domain}/ai.svc.work`;
    const bootout = `launchctl bootout ${service}`;
    const load = [`launchctl enable ${service}`, `launchctl bootstrap ${domain} ${agent}`];
    expect(await installed(at)).toMatchObject({ status: "installed", definitionPath: agent, pid: await at.lockPid() });
    expect(await at.calls()).toEqual([bootout, ...load]);
    expect(await modeOf(agent)).toBe("644");
    expect(await readFile(agent, "utf8")).toContain("<key>SVC_PROFILE</key>\n      <string>work</string>".replaceAll("      ", "    "));

    const first = await at.lockPid();
    expect((await at.svc("gateway", "restart")).code).toBe(0);
    expect(await at.calls()).toEqual([`launchctl kickstart -k ${service}`]);
    expect(await at.lockPid()).not.toBe(first);

    expect((await at.svc("gateway", "stop")).code).toBe(0);
    expect(await at.calls()).toEqual([`launchctl disable ${service}`, bootout]);
    expect((await at.json("gateway", "status", "--no-probe")).value).toMatchObject({
      service: { manager: "launchd", label: "ai.svc.work", enabled: false, runtime: { status: "stopped" } },
    });
    expect((await at.svc("gateway", "restart")).code).toBe(0);
    expect(await at.calls()).toEqual([`launchctl kickstart -k ${service}`, ...load]);

    const port = await freePort();
    await at.configure({ port });
    expect(ids((await at.json("doctor")).value)).toEqual(["service/port-drift"]);
    expect((await at.json("gateway", "install", "--force")).value).toMatchObject({ status: "replaced", port });
    expect(await at.calls()).toEqual([bootout, ...load]);
    expect((await at.svc("gateway", "uninstall")).code).toBe(0);
    expect(await at.calls()).toEqual([bootout]);
    expect([existsSync(agent), await at.lockPid()]).toEqual([false, undefined]);
  });

  test("from inside the agent the restart is handed to a process that outlives it", async () => {
    const at = await machine("darwin");
    await installed(at);
    await at.calls();
    const first = await at.lockPid();
    Object.assign(at.home.env, { SVC_SERVICE_MARKER: "ai.svc.gateway" });
    expect((await at.svc("gateway", "restart")).stdout).toBe("Restart scheduled.\n");
    await expect.poll(at.lockPid).not.toBe(first);
    expect(await at.calls()).toEqual([`launchctl kickstart -k gui/${process.getuid?.()}/ai.svc.gateway`]);
  });
});

describe("on Windows", () => {
  test("a task is created, and ends with its gateway", async () => {
    const at = await machine("win32");
    const { stateDir } = at.home;
    const task = join(stateDir, "service/task.xml");
    expect(await installed(at)).toMatchObject({
      status: "installed",
      definitionPath: join(stateDir, "gateway.cmd"),
      pid: await at.lockPid(),
    });
    expect(await at.calls()).toEqual([`schtasks /Create /F /TN Svc Gateway /XML ${task}`, "schtasks /Run /TN Svc Gateway"]);
    const { value } = await at.json("gateway", "status", "--no-probe");
    expect(value.service).toMatchObject({
      manager: "schtasks",
      label: "Svc Gateway",
      enabled: true,
      runtime: { status: "running", pid: await at.lockPid() },
    });

    expect((await at.svc("gateway", "stop")).code).toBe(0);
    expect([await at.calls(), await at.lockPid()]).toEqual([["schtasks /End /TN Svc Gateway"], undefined]);
    expect((await at.svc("gateway", "start")).code).toBe(0);
    const port = await freePort();
    await at.configure({ port });
    expect((await at.json("gateway", "install", "--force")).value).toMatchObject({ status: "replaced", port, pid: await at.lockPid() });
    await at.calls();
    expect((await at.svc("gateway", "uninstall")).code).toBe(0);
    expect(await at.calls()).toEqual(["schtasks /Delete /F /TN Svc Gateway"]);
    expect([existsSync(join(stateDir, "gateway.cmd")), existsSync(task), await at.lockPid()]).toEqual([false, false, undefined]);
  });

  test("a restart is asked of the gateway, which drains and is started again by its batch file", async () => {
    const at = await machine("win32");
    expect((await at.json("gateway", "install", "--node", process.execPath)).code).toBe(0);
    await at.calls();
    const first = await at.lockPid();
    expect(await at.svc("gateway", "restart")).toMatchObject({ code: 0, stdout: "Restarted.\n" });
    expect(await at.lockPid()).not.toBe(first);
    expect([await at.calls(), (await at.json("gateway", "status")).code]).toEqual([[], 0]);
    expect((await at.svc("gateway", "uninstall")).code).toBe(0);
  });

  test("a user who may not create tasks gets a launcher in the start-up folder", async () => {
    const at = await machine("win32");
    await at.change({ denied: true });
    expect(await installed(at)).toMatchObject({ manager: "startup-folder" });
    const launcher = join(at.home.env.HOME as string, "AppData/Microsoft/Windows/Start Menu/Programs/Startup/Svc Gateway.cmd");
    expect(await readFile(launcher, "utf8")).toBe(`@echo off\r\nstart "" /min cmd /d /c "${join(at.home.stateDir, "gateway.cmd")}"\r\n`);
    expect((await at.svc("gateway", "status", "--no-probe")).stdout).toContain("Service: startup folder (enabled)\n");
    expect((await at.svc("gateway", "uninstall")).code).toBe(0);
    expect([existsSync(launcher), await at.lockPid()]).toEqual([false, undefined]);
  });
});

describe("without a supervisor", () => {
  test("stop ends the gateway that holds the lock, and install does not start a second one beside it", async () => {
    const at = await machine("linux");
    const other = await machine("linux");
    await installed(other);
    // The gateway of the other home, as if it were this one's and nobody's.
    await mkdir(join(at.home.stateDir, "gateway"), { recursive: true });
    const lock = join(other.home.stateDir, "gateway/state.lock");
    await writeFile(join(at.home.stateDir, "gateway/state.lock"), await readFile(lock, "utf8"));
    const pid = await at.lockPid();
    const refused = await at.svc("gateway", "install", "--node", at.node);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`(pid ${pid}); end it first: svc gateway stop`) });
    expect(existsSync(unitOf(at))).toBe(false);
    expect((await at.json("gateway", "stop")).value).toEqual({ ok: true, status: "stopped", pid, supervised: false });
    expect([await at.calls(), existsSync(lock)]).toEqual([[], false]);
    await rm(join(at.home.stateDir, "gateway/state.lock"), { force: true });
  });

  test.each([
    [["install"], 'gateway.mode: expected "local"', { mode: "remote" }],
    [["start"], "no service is installed for this profile; install it with: svc gateway install", {}],
    [["uninstall"], "no service is installed for this profile", {}],
    [["install", "--node", "/bin/false"], "node /bin/false: it does not run, or is not Node", {}],
    [["install", "--system"], "add --dry-run", {}],
    [["restart", "--wait", "soon"], 'expected a duration of at most 1h such as 30s, got "soon"', {}],
    [["restart", "--wait", "2s", "--force"], "exclude each other", {}],
  ])("svc gateway %j is refused: %s", async (words, message, gateway) => {
    const at = await machine("linux");
    await at.configure({ port: at.port, ...gateway });
    const { code, stderr } = await at.svc("gateway", ...words);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
    expect(await at.calls()).toEqual([]);
  });
});

test.each([
  ["linux", "systemd-user", [".config/systemd/user/svc-gateway.service", ".svc/service/gateway.env", ".svc/service/metadata.json"]],
  ["darwin", "launchd", ["Library/LaunchAgents/ai.svc.gateway.plist", ".svc/service/gateway.env", ".svc/service/metadata.json"]],
  ["win32", "schtasks", [".svc/gateway.cmd", ".svc/service/task.xml", ".svc/service/gateway.env", ".svc/service/metadata.json"]],
] as const)("a dry run for %s prints files and commands of %s, no secret, and changes nothing", async (platform, manager, files) => {
  const at = await machine(platform);
  await at.configure({ port: at.port, auth: { token: "${MY_TOKEN}" } });
  Object.assign(at.home.env, { MY_TOKEN: "sensitive-value-1" });
  const { value } = await at.json("gateway", "install", "--dry-run", "--node", at.node);
  const home = at.home.env.HOME as string;
  const printed = value.files as Array<{ path: string; mode: string; content: string }>;
  expect({ manager: value.manager, files: printed.map(({ path }) => path) }).toEqual({
    manager,
    files: files.map((path) => join(home, path)),
  });
  expect(printed.find(({ path }) => path.endsWith("gateway.env"))).toMatchObject({ mode: "0600", content: "MY_TOKEN=***\n" });
  const text = await at.svc("gateway", "install", "--dry-run", "--node", at.node);
  expect(text.stdout + JSON.stringify(value)).not.toContain("sensitive-value-1");
  expect(text.stdout.match(/^\$ .+$/gm)).toHaveLength((value.commands as unknown[]).length);
  expect([await at.calls(), printed.filter(({ path }) => existsSync(path))]).toEqual([[], []]);
});

test("the unit of the system is printed for the operator to write", async () => {
  const at = await machine("linux");
  const { value } = await at.json("gateway", "install", "--system", "--dry-run", "--node", at.node);
  expect(value).toMatchObject({ manager: "systemd-system", files: [{ path: "/etc/systemd/system/svc-gateway.service" }, {}] });
  expect((value.files as Array<{ content: string }>)[0]?.content).toMatch(/^User=\S+$/m);
});
