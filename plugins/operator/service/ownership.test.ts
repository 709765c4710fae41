import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CliContext } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { createManager } from "./create-manager.ts";
import type { ServicePlatform } from "./definition.ts";
import type { ServiceHost } from "./host.ts";
import { inspectService } from "./inspect.ts";
import { requireAllowed } from "./install.ts";
import { renderPlist } from "./launchd-plist.ts";
import { findOtherServices } from "./other-services.ts";
import type { CommandResult } from "./run-command.ts";
import { renderUnit } from "./systemd-unit.ts";

const packageRoot = join(import.meta.dirname, "../../..");

/** A machine whose root is a folder of the test, and where every program ends as `answer` says. */
async function machine(platform: ServicePlatform, answer: Partial<CommandResult> = {}) {
  const root = await mkdtemp(join(tmpdir(), "svc-root-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const home = join(root, "home/me");
  const calls: string[] = [];
  const host: ServiceHost = {
    platform,
    env: {},
    home,
    user: "me",
    uid: 1000,
    root,
    async run(argv) {
      calls.push(argv.join(" "));
      return { code: 0, stdout: "", stderr: "", ...answer };
    },
  };
  const paths = { profile: "", stateDir: join(home, ".svc"), configPath: join(home, ".svc/svc.json"), packageRoot };
  const ports = { ofNextStart: async () => ({ port: 18_789, source: "default" }) };
  const cli = { env: {}, paths, ports, lockOwner: async () => undefined } as unknown as CliContext;
  const spec = {
    profile: "",
    nodePath: process.execPath,
    entryPath: join(packageRoot, "bin/svc.mjs"),
    port: 18_789,
    stateDir: paths.stateDir,
    home,
    searchPath: "/usr/bin",
    pathEnv: {},
  };
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  const look = async () => {
    const manager = createManager(host, paths);
    return { host, manager, found: await manager.find() };
  };
  return { root, cli, calls, spec, write, look };
}

test("a unit of the system owns the gateway: none of the user is installed or removed beside it", async () => {
  const { root, cli, spec, write, look, calls } = await machine("linux", {
    stdout: "ActiveState=active\nMainPID=7\nUnitFileState=enabled\n",
  });
  await write("etc/systemd/system/svc-gateway.service", renderUnit(spec, { account: "me" }));
  const at = await look();
  for (const verb of ["install", "uninstall"]) {
    expect(() => requireAllowed(cli, at, verb)).toThrow(`gateway ${verb}: the service of the system svc-gateway.service owns the gateway`);
  }
  const report = await inspectService(cli, at);
  expect(report).toMatchObject({
    manager: "systemd-system",
    definitionPath: join(root, "etc/systemd/system/svc-gateway.service"),
    runtime: { status: "running", pid: 7 },
    audit: { ok: true, issues: [{ id: "service/system-unit-owner", severity: "info", isReinstall: false }] },
  });
  expect(calls).toEqual([expect.stringMatching(/^systemctl show svc-gateway\.service /)]);
});

test("drift of a unit of the system is told, and is the administrator's to end", async () => {
  const { root, cli, spec, write, look } = await machine("linux");
  await write("etc/systemd/system/svc-gateway.service", renderUnit({ ...spec, port: 19_000 }, { account: "me" }));
  const { audit } = await inspectService(cli, await look());
  const fix = `change ${join(root, "etc/systemd/system/svc-gateway.service")} as root and load it again`;
  expect(audit.issues).toMatchObject([
    { id: "service/system-unit-owner" },
    { id: "service/port-drift", message: "installed 19000, config says 18789", fix, isReinstall: false },
  ]);
});

test("start and restart of a unit of the system go to the manager of the system, and a refusal says who may", async () => {
  const { spec, write, look, calls } = await machine("linux", { code: 1, stderr: "Failed to restart: Access denied\n" });
  await write("etc/systemd/system/svc-gateway.service", renderUnit(spec, { account: "me" }));
  const { manager, found } = await look();
  const restart = manager.restart(found[0] as NonNullable<(typeof found)[0]>, { fromInside: false });
  await expect(restart).rejects.toThrow(
    "systemctl restart svc-gateway.service: Failed to restart: Access denied; it is a unit of the system",
  );
  expect(calls).toEqual(["systemctl reset-failed svc-gateway.service", "systemctl restart svc-gateway.service"]);
});

test("a unit of the user beside one of the system is a second owner", async () => {
  const { cli, spec, write, look } = await machine("linux");
  await write("etc/systemd/system/svc-gateway.service", renderUnit(spec, { account: "me" }));
  await write("home/me/.config/systemd/user/svc-gateway.service", renderUnit(spec));
  const { audit } = await inspectService(cli, await look());
  expect(audit).toMatchObject({
    ok: false,
    issues: [{ id: "service/duplicate", fix: expect.stringMatching(/^systemctl --user disable --now svc-gateway\.service && rm /) }, {}],
  });
});

test("a launch daemon of the same label owns the gateway", async () => {
  const { cli, spec, write, look } = await machine("darwin");
  await write("Library/LaunchDaemons/ai.svc.gateway.plist", renderPlist(spec));
  const at = await look();
  expect(() => requireAllowed(cli, at, "install")).toThrow("the service of the system ai.svc.gateway.plist owns the gateway");
});

test.each<[ServicePlatform, Record<string, string>, string[]]>([
  [
    "linux",
    {
      "etc/systemd/system/svc-gateway-old.service": "x",
      "etc/systemd/system/nginx.service": "x",
      "home/me/.config/systemd/user/svc-gateway.service": "x",
    },
    ["sudo systemctl disable --now svc-gateway-old.service && sudo rm"],
  ],
  [
    "darwin",
    {
      "Library/LaunchDaemons/ai.svc.old.plist": "x",
      "home/me/Library/LaunchAgents/ai.svc.other.plist": "x",
      "home/me/Library/LaunchAgents/com.x.plist": "x",
    },
    ["launchctl bootout gui/1000/ai.svc.other; rm", "sudo launchctl bootout system/ai.svc.old; sudo rm"],
  ],
])("on %s other gateways of user and system are found with the command that takes each away", async (platform, files, cleanups) => {
  const { cli, write, look } = await machine(platform);
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const others = await findOtherServices(cli, await look());
  expect(others.map(({ cleanup }) => cleanup.slice(0, cleanup.lastIndexOf(" ")))).toEqual(cleanups);
});

test("on Windows other tasks and launchers are found", async () => {
  const stdout =
    "<!-- \\Svc Gateway (old) -->\n<Task><Command>C:\\x\\gateway.cmd</Command></Task><!-- \\Backup -->\n<Task><Command>b.exe</Command></Task>";
  const { cli, write, look } = await machine("win32", { stdout });
  await write("home/me/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/Svc Gateway (older).cmd", "x");
  expect((await findOtherServices(cli, await look())).map(({ cleanup }) => cleanup)).toEqual([
    'schtasks /Delete /F /TN "Svc Gateway (old)"',
    expect.stringMatching(/^del ".*Svc Gateway \(older\)\.cmd"$/),
  ]);
});
