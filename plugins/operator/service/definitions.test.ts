import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { needs } from "../../../test/servers/needs.ts";
import { NODE_FLAGS, type ServiceSpec } from "./definition.ts";
import { parsePlist, readPlist, renderPlist } from "./launchd-plist.ts";
import { parseUnit, renderUnit, unitEntries } from "./systemd-unit.ts";
import { parseGatewayCmd, parseTask, renderGatewayCmd, renderStartupLauncher, renderTask } from "./windows-task.ts";

const run = promisify(execFile);
const spec: ServiceSpec = {
  profile: "",
  nodePath: "/usr/bin/node",
  entryPath: "/opt/svc/bin/svc.mjs",
  port: 18_789,
  stateDir: "/home/me/.svc",
  home: "/home/me",
  searchPath: "/usr/local/bin:/usr/bin:/bin",
  pathEnv: {},
};
const odd: ServiceSpec = {
  ...spec,
  profile: "work",
  nodePath: "/opt/my node/50%/no$de",
  entryPath: `/opt/"quoted" & <tagged> 'x'/\\é/svc.mjs`,
  stateDir: "/srv/a b/%i/.svc-work",
  pathEnv: { SVC_PROFILE: "work", SVC_STATE_DIR: "/srv/a b/%i & <x>/.svc-work" },
};

test("the flags of Node are the same wherever a gateway is started", async () => {
  for (const path of ["package.json", "Dockerfile", "test/bench/lib/gateway.mjs", "examples/deploy/svc-gateway.service"]) {
    const text = await readFile(new URL(`../../../${path}`, import.meta.url), "utf8");
    for (const flag of NODE_FLAGS) expect(text, path).toContain(flag);
  }
});

describe("the systemd unit", () => {
  test("of the default profile is this text", () => {
    expect(renderUnit(spec)).toBe(`[Unit]
Description=Svc Gateway
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=simple
ExecStart=/usr/bin/node --max-semi-space-size=4 /opt/svc/bin/svc.mjs gateway run --port 18789
WorkingDirectory=%h/.svc
Restart=always
RestartSec=5
RestartPreventExitStatus=78
TimeoutStartSec=30
TimeoutStopSec=30
SuccessExitStatus=0 143
KillMode=control-group
UMask=0077
EnvironmentFile=-%h/.svc/service/gateway.env
Environment=SVC_SERVICE_MARKER=svc-gateway SVC_SERVICE_KIND=gateway SVC_STOP_TIMEOUT_MS=30000
Environment=PATH=/usr/local/bin:/usr/bin:/bin

[Install]
WantedBy=default.target
`);
  });

  test("of the system has the same keys and an account, and no home of root", () => {
    const [user, system] = [renderUnit(spec), renderUnit(spec, { account: "me" })].map(unitEntries);
    expect(system?.filter(({ key }) => key !== "User").map(({ key }) => key)).toEqual(user?.map(({ key }) => key));
    expect(system).toContainEqual({ section: "Service", key: "User", value: "me" });
    expect(system).toContainEqual({ section: "Service", key: "WorkingDirectory", value: "/home/me/.svc" });
  });

  test("is read back as it was written, odd characters included", () => {
    expect(renderUnit(odd)).toContain("WorkingDirectory=/srv/a b/%%i/.svc-work\n");
    expect(parseUnit(renderUnit(odd))).toMatchObject({
      nodePath: odd.nodePath,
      entryPath: odd.entryPath,
      port: 18_789,
      env: { SVC_SERVICE_MARKER: "svc-gateway-work", PATH: odd.searchPath },
    });
  });

  test("takes no path with a line break", () => {
    expect(() => renderUnit({ ...spec, stateDir: "/a\nExecStartPre=/bin/rm" })).toThrow("path has a line break");
  });

  test.each([
    ["a service of something else", "[Service]\nExecStart=/usr/bin/postgres -D /x\n"],
    ["an empty file", ""],
    ["a section alone", "[Service]"],
  ])("%s starts no gateway", (_, text) => {
    expect(parseUnit(text)).toBeUndefined();
  });

  test("one without a port, edited by hand, is still read", () => {
    const text = '[Service]\n# mine\nExecStart="/usr/bin/node" /x/svc.mjs \\\n  gateway run\nEnvironment="A=1 2" B=3\n';
    expect(parseUnit(text)).toMatchObject({ nodePath: "/usr/bin/node", port: undefined, env: { A: "1 2", B: "3" } });
  });
});

needs("systemd-analyze").test("systemd itself finds nothing wrong with the units", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-units-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const node = join(folder, "my node");
  await writeFile(node, "", { mode: 0o755 });
  await mkdir(join(folder, "a b%"));
  const texts = {
    "svc-gateway.service": renderUnit({ ...spec, nodePath: process.execPath }),
    "svc-gateway-work.service": renderUnit({ ...odd, nodePath: node, stateDir: join(folder, "a b%") }),
  };
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(folder, name), text);
    const env = { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder };
    const { stderr } = await run("systemd-analyze", ["--user", "verify", join(folder, name)], { env });
    expect({ name, stderr }).toEqual({ name, stderr: "" });
  }
});

describe("the launch agent", () => {
  test("is read back as it was written, odd characters included", () => {
    for (const one of [spec, odd]) {
      expect(parsePlist(renderPlist(one))).toMatchObject({
        nodePath: one.nodePath,
        entryPath: one.entryPath,
        port: one.port,
        env: one.pathEnv,
      });
    }
  });

  needs("python3").test("is, for another reader, the property list that launchd is to get", async () => {
    const read = "import sys,plistlib,json; print(json.dumps(plistlib.loads(sys.argv[1].encode())))";
    for (const one of [spec, odd]) {
      const { stdout } = await run("python3", ["-c", read, renderPlist(one)]);
      const label = one.profile === "" ? "ai.svc.gateway" : "ai.svc.work";
      expect(JSON.parse(stdout)).toEqual({
        Label: label,
        ProgramArguments: [one.nodePath, ...NODE_FLAGS, one.entryPath, "gateway", "run", "--port", "18789"],
        RunAtLoad: true,
        KeepAlive: { SuccessfulExit: false },
        ThrottleInterval: 10,
        ExitTimeOut: 30,
        ProcessType: "Interactive",
        Umask: 0o77,
        WorkingDirectory: one.stateDir,
        StandardOutPath: `${one.stateDir}/logs/service.out.log`,
        StandardErrorPath: `${one.stateDir}/logs/service.err.log`,
        EnvironmentVariables: {
          PATH: one.searchPath,
          SVC_SERVICE_MARKER: label,
          SVC_SERVICE_KIND: "gateway",
          SVC_STOP_TIMEOUT_MS: "30000",
          ...one.pathEnv,
        },
      });
      expect(readPlist(renderPlist(one))).toEqual(JSON.parse(stdout));
    }
  });

  test.each(["", "<plist><array/></plist>", "bplist00", "<plist><dict><key>Label</key><string>x</string></dict></plist>"])(
    "%j starts no gateway",
    (text) => expect(parsePlist(text)).toBeUndefined(),
  );
});

describe("gateway.cmd", () => {
  const windows: ServiceSpec = {
    ...spec,
    nodePath: "C:\\Program Files\\nodejs\\node.exe",
    entryPath: "C:\\svc\\50%\\svc.mjs",
    stateDir: "C:\\Users\\me\\.svc",
    searchPath: "C:\\Windows;%SystemRoot%",
    pathEnv: { SVC_STATE_DIR: "C:\\Users\\me\\.svc" },
  };

  test("is this text, with the line ends of Windows", () => {
    expect(renderGatewayCmd(windows)).toBe(
      [
        "@echo off",
        "rem Svc Gateway",
        'cd /d "C:\\Users\\me\\.svc"',
        'set "SVC_SERVICE_MARKER=svc-gateway"',
        'set "SVC_SERVICE_KIND=gateway"',
        'set "SVC_STOP_TIMEOUT_MS=30000"',
        'set "SVC_STATE_DIR=C:\\Users\\me\\.svc"',
        ":run",
        '"C:\\Program Files\\nodejs\\node.exe" --max-semi-space-size=4 "C:\\svc\\50%%\\svc.mjs" gateway run --port 18789 < NUL',
        "if %ERRORLEVEL%==75 goto run",
        "exit /b %ERRORLEVEL%",
        "",
      ].join("\r\n"),
    );
    expect(parseGatewayCmd(renderGatewayCmd(windows))).toMatchObject({
      nodePath: windows.nodePath,
      entryPath: windows.entryPath,
      port: 18_789,
    });
    expect(renderStartupLauncher("C:\\a\\gateway.cmd")).toBe('@echo off\r\nstart "" /min cmd /d /c "C:\\a\\gateway.cmd"\r\n');
  });

  test.each(["a\r\nb", 'a"b'])("takes no path like %j", (stateDir) => {
    expect(() => renderGatewayCmd({ ...windows, stateDir })).toThrow("state directory has a");
  });
});

needs("python3").test("the scheduled task is, for another reader, the one that Windows is to get", async () => {
  const xml = renderTask({ userId: "PC\\Jürgen & Co", cmdPath: "C:\\a b\\<x>\\gateway.cmd", profile: "work" });
  const bytes = Buffer.from(xml, "utf16le");
  expect([...bytes.subarray(0, 2)]).toEqual([0xff, 0xfe]);
  const read = [
    "import sys,json,base64,xml.etree.ElementTree as E",
    "root=E.fromstring(base64.b64decode(sys.argv[1]))",
    "print(json.dumps([[e.tag.split('}')[1], (e.text or '').strip()] for e in root.iter()]))",
  ].join("\n");
  const { stdout } = await run("python3", ["-c", read, bytes.toString("base64")]);
  const fields = (JSON.parse(stdout) as Array<[string, string]>).filter(([, text]) => text !== "");
  expect(fields).toEqual([
    ["Description", "Svc Gateway (work)"],
    ["Enabled", "true"],
    ["UserId", "PC\\Jürgen & Co"],
    ["UserId", "PC\\Jürgen & Co"],
    ["LogonType", "InteractiveToken"],
    ["RunLevel", "LeastPrivilege"],
    ["MultipleInstancesPolicy", "IgnoreNew"],
    ["DisallowStartIfOnBatteries", "false"],
    ["StopIfGoingOnBatteries", "false"],
    ["StartWhenAvailable", "true"],
    ["Enabled", "true"],
    ["Hidden", "true"],
    ["ExecutionTimeLimit", "PT0S"],
    ["Interval", "PT1M"],
    ["Count", "3"],
    ["Command", "C:\\a b\\<x>\\gateway.cmd"],
  ]);
  expect(parseTask(xml)).toEqual({ command: "C:\\a b\\<x>\\gateway.cmd", isEnabled: true });
  expect(parseTask(xml.replace("<Hidden>", "<Enabled>false</Enabled><Hidden>"))).toMatchObject({ isEnabled: false });
});
