import { describe, expect, test } from "vitest";
import type { ServiceSpec } from "./definition.ts";
import { type DriftFacts, driftOf } from "./drift.ts";
import { fileDiff } from "./file-diff.ts";
import { toState as launchdState } from "./launchd.ts";
import { parsePlist, renderPlist } from "./launchd-plist.ts";
import { chooseNode, isSupported, isVersioned } from "./node-choice.ts";
import { isGatewayLike, namedTasks } from "./other-services.ts";
import { searchPath } from "./search-path.ts";
import { namedVariables, serviceEnv } from "./service-env.ts";
import { toState } from "./systemd.ts";
import { parseUnit, renderUnit } from "./systemd-unit.ts";

const spec: ServiceSpec = {
  profile: "",
  nodePath: "/usr/bin/node",
  entryPath: "/opt/svc/bin/svc.mjs",
  port: 18_789,
  stateDir: "/home/me/.svc",
  home: "/home/me",
  searchPath: "/usr/bin",
  pathEnv: {},
};

describe("the node of a service is", () => {
  const versions: Record<string, string> = {
    "/usr/local/bin/node": "v18.0.0",
    "/usr/bin/node": "v22.1.0",
    "/opt/node": "v20.19.0",
    "/old/node": "v20.18.9",
    "/home/me/.nvm/versions/node/v22.0.0/bin/node": "v22.0.0",
  };
  const own = "/home/me/.nvm/versions/node/v22.0.0/bin/node";
  const choose = (change: { asked?: string; recorded?: string; own?: string; found?: Record<string, string> }) => {
    const { asked, recorded, found = versions } = change;
    return chooseNode({
      platform: "linux",
      home: "/home/me",
      asked,
      recorded,
      own: change.own ?? own,
      versionOf: async (path) => found[path],
    });
  };

  test.each([
    ["the one asked for", { asked: "/opt/node", recorded: "/usr/bin/node" }, "/opt/node"],
    ["else the recorded one", { recorded: "/opt/node" }, "/opt/node"],
    ["unless that is too old or gone", { recorded: "/old/node" }, "/usr/bin/node"],
    ["else a stable one of the system that is new enough", {}, "/usr/bin/node"],
    [
      "else the name behind which a version manager keeps its version",
      { found: { "/home/me/.volta/bin/node": "v22.1.0" } },
      "/home/me/.volta/bin/node",
    ],
    ["else the one that runs the command", { found: {}, own: "/opt/other/node" }, "/opt/other/node"],
  ])("%s", async (_, change, path) => {
    expect(await choose(change)).toEqual({ path });
  });

  test("taken from a version manager only with a warning", async () => {
    expect(await choose({ found: {} })).toEqual({ path: own, warning: expect.stringContaining("--node") });
    expect([own, "/usr/bin/node", "/opt/homebrew/Cellar/node/22.1.0/bin/node"].map(isVersioned)).toEqual([true, false, true]);
  });

  test("never one that was asked for and does not do", async () => {
    expect(await choose({ asked: "/old/node" })).toEqual({ path: "/old/node", problem: "it is version v20.18.9" });
    expect(await choose({ asked: "/none" })).toMatchObject({ problem: expect.stringContaining("does not run") });
  });

  test.each([
    ["v20.19.0", true],
    ["v24.0.0", true],
    ["v20.18.99", false],
    ["v9.99.0", false],
    ["soon", false],
    [undefined, false],
  ])("new enough at %s: %s", (version, ok) => expect(isSupported(version)).toBe(ok));
});

describe("the variables of a service are", () => {
  const source = {
    env: { vars: { FROM_CONFIG: "x" } },
    models: { key: "${OPENAI_KEY}", more: ["a ${FROM_CONFIG} b", { source: "env", id: "REF_KEY" }] },
    paths: "${HOME}/x",
  };

  test("paths, and names of the config that have no other source", () => {
    const env = { OPENAI_KEY: "sk-1", REF_KEY: "in .env", FROM_CONFIG: "x", HOME: "/home/me", OTHER: "unused" };
    expect(serviceEnv({ env, source, known: ["REF_KEY"], pathEnv: { SVC_PROFILE: "work" } })).toEqual({
      text: "SVC_PROFILE=work\nOPENAI_KEY=sk-1\n",
      unusable: [],
    });
    expect(namedVariables(source)).toEqual(["FROM_CONFIG", "HOME", "OPENAI_KEY", "REF_KEY"]);
  });

  test.each([
    ["sk-1/2+3=", "A=sk-1/2+3=\n"],
    ["two words", "A='two words'\n"],
    ['say "x" $HOME \\', `A='say "x" $HOME \\'\n`],
    ["it's", `A="it's"\n`],
    [`it's "x"`, undefined],
    ["two\nlines", undefined],
  ])("written as both readers understand them: %j", (A, text) => {
    const found = serviceEnv({ env: { A }, source: "${A}", known: [], pathEnv: {} });
    expect(found).toEqual(text === undefined ? { text: "", unusable: ["A"] } : { text, unusable: [] });
  });
});

test.each([
  ["linux", "/usr/local/bin:/usr/bin:/bin:/home/me/bin"],
  ["darwin", "/opt/homebrew/bin:/opt/homebrew/sbin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/home/me/bin"],
  ["win32", ""],
] as const)("on %s the PATH of a service is %s", async (platform, path) => {
  const isFolder = async (folder: string) => folder === "/home/me/bin";
  expect(await searchPath({ platform, home: "/home/me", isFolder })).toBe(path);
});

describe("drift is", () => {
  const facts = (change: Partial<DriftFacts> = {}): DriftFacts => {
    const text = change.text ?? renderUnit(spec);
    return {
      path: "/u/svc-gateway.service",
      text,
      program: parseUnit(text),
      expected: spec,
      render: (one) => renderUnit(one),
      recordedSha256: "as installed",
      sha256: change.text === undefined ? "as installed" : "edited",
      entryExists: true,
      nodeVersion: "v22.0.0",
      isStale: false,
      reinstall: "svc gateway install --force",
      ...change,
    };
  };
  const idsOf = (change: Partial<DriftFacts>) => driftOf(facts(change)).map(({ id, severity }) => `${id} ${severity}`);

  test("none when nothing differs", () => expect(driftOf(facts())).toEqual([]));

  test("none when only the shell differs from the one that installed it", () => {
    const expected = { ...spec, searchPath: "/usr/bin:/home/me/bin", pathEnv: { SVC_HOME: "/elsewhere" } };
    expect(driftOf(facts({ expected }))).toEqual([]);
    const text = renderPlist({ ...spec, pathEnv: { SVC_STATE_DIR: spec.stateDir } });
    expect(driftOf(facts({ expected, text, program: parsePlist(text), render: renderPlist }))).toEqual([]);
  });

  test("a port that the config changed, with both numbers and the command", () => {
    expect(driftOf(facts({ expected: { ...spec, port: 19_000 } }))).toEqual([
      {
        id: "service/port-drift",
        severity: "warning",
        message: "installed 18789, config says 19000",
        fix: "svc gateway install --force",
        isReinstall: true,
      },
    ]);
  });

  test.each<[string, Partial<DriftFacts>, string[]]>([
    ["a program that moved", { expected: { ...spec, entryPath: "/new/svc.mjs" } }, ["service/entry-drift warning"]],
    ["a program that is gone", { entryExists: false }, ["service/entry-drift error"]],
    ["a node that is gone", { nodeVersion: undefined }, ["service/node-missing error"]],
    ["a node that is too old", { nodeVersion: "v18.20.0" }, ["service/node-missing error"]],
    ["a text that was edited", { text: `${renderUnit(spec)}# mine\n` }, ["service/definition warning"]],
    ["a text of another version", { text: `${renderUnit(spec)}# old\n`, sha256: "as installed" }, ["service/legacy-unit warning"]],
    ["a text not loaded yet", { isStale: true }, ["service/definition warning"]],
    ["a definition without a gateway", { text: "[Service]\n" }, ["service/definition error"]],
    [
      "a secret in a variable",
      { text: renderUnit(spec).replace("Environment=PATH", "Environment=SVC_GATEWAY_TOKEN=abc\nEnvironment=PATH") },
      ["service/env-secret error"],
    ],
    ["a secret in the arguments", { text: renderUnit(spec).replace("run", "run --token abc") }, ["service/env-secret error"]],
  ])("%s", (_, change, ids) => expect(idsOf(change)).toEqual(ids));

  test("told with the name of a secret and never with its value", () => {
    const text = renderUnit(spec).replace("run", "run --token sensitive-1");
    expect(JSON.stringify(driftOf(facts({ text })))).not.toContain("sensitive-1");
  });
});

test("a difference in variables shows names only", () => {
  const file = { path: "/s/service/gateway.env", mode: 0o600, content: "A=new-secret\nB=2\n" };
  const lines = fileDiff(file, Buffer.from("A=old-secret\n"));
  expect(lines.join("\n")).toMatch(/^--- \/s\/service\/gateway\.env\n[\s\S]*\+ B/);
  expect(lines.join("\n")).not.toMatch(/secret/);
  expect(fileDiff({ ...file, content: "A=new-secret\n" }, Buffer.from("A=old-secret\n"))).toEqual([
    "--- /s/service/gateway.env",
    "  (a value differs)",
  ]);
  expect(fileDiff(file, Buffer.from(file.content))).toEqual([]);
});

test("the state of a unit is read from what systemctl shows", () => {
  const rows: Array<[string, object]> = [
    [
      "ActiveState=active\nMainPID=42\nUnitFileState=enabled\nNeedDaemonReload=no\nExecMainStatus=0\n",
      { status: "running", pid: 42, isEnabled: true, lastExit: null },
    ],
    [
      "ActiveState=failed\nMainPID=0\nUnitFileState=disabled\nNeedDaemonReload=yes\nExecMainStatus=78\n",
      { status: "failed", isEnabled: false, lastExit: 78, isStale: true },
    ],
    ["ActiveState=inactive\nMainPID=0\nUnitFileState=enabled\n", { status: "stopped", lastExit: null }],
    ["ActiveState=activating\nMainPID=0\nExecMainStatus=1\n", { status: "failed", lastExit: 1 }],
    ["", { status: "unknown" }],
  ];
  for (const [text, state] of rows) expect(toState(text)).toMatchObject(state);
});

test("the state of an agent is read from what launchctl prints", () => {
  const rows: Array<[Parameters<typeof launchdState>[0]["job"], string, object]> = [
    [
      { code: 0, stdout: "gui/501/ai.svc.gateway = {\n\tstate = running\n\tpid = 42\n}", stderr: "" },
      "",
      { status: "running", pid: 42, isEnabled: true },
    ],
    [{ code: 0, stdout: "\tstate = not running\n\tlast exit code = 1\n", stderr: "" }, "", { status: "failed", lastExit: 1 }],
    [
      { code: 0, stdout: "\tlast exit code = 0\n", stderr: "" },
      '\t"ai.svc.gateway" => disabled\n',
      { status: "stopped", isEnabled: false },
    ],
    [{ code: 113, stdout: "", stderr: "Could not find service" }, '\t"ai.svc.gateway" => false\n', { status: "stopped", isEnabled: true }],
    [
      { code: undefined, stdout: "", stderr: "", problem: "not found on this machine" },
      "",
      { status: "unknown", problem: "not found on this machine" },
    ],
  ];
  for (const [job, disabled, state] of rows) expect(launchdState({ job, disabled, label: "ai.svc.gateway" })).toMatchObject(state);
});

test.each([
  ["svc-gateway-work.service", "", true],
  ["ai.svc.work.plist", "", true],
  ["mine.service", renderUnit(spec), true],
  ["mine.service", renderUnit(spec).replaceAll(/^Environment.*\n/gm, ""), true],
  ["mine.service", "[Service]\nExecStart=/usr/bin/backup /opt/svc/bin/svc.mjs\n", false],
  ["postgres.service", "[Service]\nExecStart=/usr/bin/postgres\n", false],
])("a definition %s is like a gateway's: %#", (name, text, isLike) => {
  expect(isGatewayLike(name, text, "/opt/svc/bin/svc.mjs")).toBe(isLike);
});

test("tasks are told apart by the names in front of them", () => {
  expect(namedTasks("<!-- \\Svc Gateway (old) -->\n<Task>1</Task>\n<!-- \\Other -->\n<Task>2</Task>")).toEqual([
    { name: "Svc Gateway (old)", xml: "\n<Task>1</Task>\n" },
    { name: "Other", xml: "\n<Task>2</Task>" },
  ]);
});
