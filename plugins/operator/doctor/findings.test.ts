import { describe, expect, test } from "vitest";
import { type Evidence, findingsOf } from "./findings.ts";
import { lineDiff } from "./line-diff.ts";

const healthy: Evidence = {
  config: { path: "/s/svc.json", exists: true, valid: true, issues: [], warnings: [], mode: "local", lastGood: true },
  auth: { mode: "token", secretChars: 43, refusal: undefined },
  pluginIssues: [],
  plugins: [{ id: "store", state: "ready", reason: undefined }],
  packages: [],
  open: [],
  access: { stateDir: "/s", user: "ada", denied: [] },
  database: { path: "/s/state.sqlite", fault: undefined },
  killed: undefined,
  secrets: [],
  staleLocks: [],
  node: { version: "20.19.0", floor: "20.19.0" },
  freeBytes: 1_000_000_000,
  notices: [],
  network: undefined,
  service: { definitionPath: undefined, issues: [], isExternal: false },
  port: { port: 18_789, holders: [] },
  origins: undefined,
  native: [{ package: "better-sqlite3" }, { package: "sqlite-vec" }],
  logs: { path: "/s/logs", bytes: 500_000_000 },
  watch: { watches: 8_192, instances: 128 },
  leftovers: [],
  live: [],
};
const issue = (code: string, path: string) => ({ code, path, message: "m", text: `svc.json:1:1  ${path}: m` });
const found = (change: Partial<Evidence>) => findingsOf({ ...healthy, ...change });

test("a healthy installation has no findings", () => expect(findingsOf(healthy)).toEqual([]));

describe("the config", () => {
  test.each([
    ["parse", "", "config/parse"],
    ["include", "gateway", "config/parse"],
    ["unknown_key", "bogus", "config/unknown-keys"],
    ["invalid_type", "gateway.port", "config/schema"],
    ["conflict", "gateway.auth", "auth/ambiguous"],
  ])("issue %s at %j is the finding %s, mended by the last-good copy", (code, path, id) => {
    const config = { ...healthy.config, valid: false, issues: [issue(code, path)] };
    expect(found({ config, auth: undefined })).toEqual([
      {
        id,
        severity: "error",
        path: path || "/s/svc.json",
        message: expect.stringContaining("svc.json:1:1"),
        fixable: true,
        fix: expect.stringContaining("--restore-last-good"),
      },
    ]);
    expect(found({ config: { ...config, lastGood: false }, auth: undefined })[0]).not.toHaveProperty("fix");
  });

  test("with one token for two purposes is mended by another one", () => {
    const config = { ...healthy.config, valid: false, issues: [issue("conflict", "hooks.token")] };
    expect(found({ config, auth: undefined })).toMatchObject([
      { id: "auth/hook-token-reuse", fixable: true, fix: expect.stringContaining("fresh hooks.token") },
    ]);
  });

  test("without a mode is mended when a secret shows that a gateway is meant", () => {
    const config = { ...healthy.config, mode: undefined };
    expect(found({ config })).toMatchObject([{ id: "config/mode-missing", severity: "error", fixable: true }]);
    expect(found({ config, auth: { mode: "token", secretChars: undefined, refusal: undefined } })).toMatchObject([
      { id: "config/mode-missing", fixable: false },
      { id: "auth/missing", severity: "warning", fixable: true },
    ]);
  });

  test("that is not there is the one finding, whatever else a start without it would lack", () => {
    const config = { ...healthy.config, exists: false, mode: undefined };
    const auth = { mode: "token", secretChars: undefined, refusal: { code: "start-blocked", message: "m" } };
    expect(found({ config, auth }).map(({ id }) => id)).toEqual(["config/missing"]);
  });

  test("that is gone is mended by the last-good copy", () => {
    const config = { ...healthy.config, exists: false, mode: undefined };
    expect(found({ config, auth: undefined })).toMatchObject([
      { id: "config/missing", fixable: true, fix: expect.stringContaining("--restore-last-good") },
    ]);
  });

  test("that nobody may read is no broken one", () => {
    const denied = [{ path: "/s/svc.json", kind: "config", lacks: "read", mode: 0, isOwn: true } as const];
    const config = { ...healthy.config, valid: false, issues: [issue("parse", "")] };
    expect(found({ config, auth: undefined, access: { ...healthy.access, denied } }).map(({ id }) => id)).toEqual(["config/perms"]);
  });

  test("that was never there asks for setup", () => {
    const config = { ...healthy.config, exists: false, mode: undefined, lastGood: false };
    expect(found({ config, auth: undefined })).toMatchObject([{ id: "config/missing", severity: "error", fix: "svc setup" }]);
  });
});

const packages = { plugin: "x", path: "channels.x", missing: ["dep"], command: "svc channels add x" };

test.each([
  ["auth/weak", "warning", { auth: { mode: "token", secretChars: 15, refusal: undefined } }],
  ["auth/bind-exposed", "error", { auth: { mode: "none", secretChars: undefined, refusal: { code: "bind-without-auth", message: "m" } } }],
  [
    "secrets/unresolved",
    "error",
    { auth: { mode: "token", secretChars: undefined, refusal: { code: "secret-unresolved", message: "m" } } },
  ],
  ["secrets/plaintext", "info", { secrets: [{ code: "PLAINTEXT_FOUND", path: "a", message: "m" }] }],
  ["plugins/config", "warning", { pluginIssues: [{ path: "plugins.entries.x.config", message: "m" }] }],
  ["plugins/load", "error", { plugins: [{ id: "x", state: "failed", reason: "r" }] }],
  ["plugins/missing", "warning", { config: { ...healthy.config, warnings: [{ path: "plugins.entries.gone", message: "m" }] } }],
  ["plugins/packages", "error", { packages: [{ ...packages, isOptional: false }] }],
  ["plugins/packages", "info", { packages: [{ ...packages, isOptional: true }] }],
  ["plugins/version", "error", { plugins: [{ id: "x", state: "blocked", reason: "api-mismatch: needs 9" }] }],
  ["controlui/origins", "error", { origins: { configured: [], port: 1, scheme: "http" as const } }],
  ["native/sqlite", "error", { native: [{ package: "better-sqlite3" as const, fault: "f" }] }],
  ["native/sqlite-vec", "warning", { native: [{ package: "sqlite-vec" as const, fault: "f" }] }],
  ["logs/size", "warning", { logs: { path: "/s/logs", bytes: 500_000_001 } }],
  ["watch/limits", "warning", { watch: { watches: 8_191, instances: 128 } }],
  ["watch/limits", "warning", { watch: { watches: 8_192, instances: 127 } }],
  ["state/leftovers", "warning", { leftovers: ["/s/.restore-1-2"] }],
  ["config/perms", "warning", { open: [{ path: "/s/svc.json", mode: 0o644, kind: "config" as const }] }],
  ["state/perms", "warning", { open: [{ path: "/s", mode: 0o755, kind: "state" as const }] }],
  ["boot/unclean-end", "warning", { killed: { startedAt: 0, advice: "start it with: svc gateway" } }],
  ["sessions/corrupt", "error", { database: { path: "/s/state.sqlite", fault: "file is not a database" } }],
  ["lock/stale", "info", { staleLocks: ["/s/svc.json.lock"] }],
  ["node/version", "error", { node: { version: "20.18.9", floor: "20.19.0" } }],
  ["disk/free", "warning", { freeBytes: 999_999_999 }],
  ["state/network-fs", "warning", { network: { path: "/s", kind: "nfs4" } }],
] satisfies Array<[string, string, Partial<Evidence>]>)("%s is a finding of severity %s", (id, severity, change) => {
  expect(found(change)).toMatchObject([{ id, severity }]);
});

test("what happened while nobody looked is shown with its time, until --fix takes it away", () => {
  const notice = {
    id: "state/restored",
    severity: "error" as const,
    message: "m",
    fix: "f",
    at: 0,
    file: "/s/gateway/notices/state-restored.json",
  };
  expect(found({ notices: [notice] })).toEqual([
    { id: "state/restored", severity: "error", path: notice.file, message: "1970-01-01T00:00:00.000Z: m", fix: "f", fixable: true },
  ]);
});

test("a missing plugin with an entry can be switched off; elsewhere a person decides", () => {
  const at = (path: string) => found({ config: { ...healthy.config, warnings: [{ path, message: "m" }] } })[0];
  expect(at("plugins.entries.gone")).toMatchObject({ fixable: true });
  expect(at("plugins.slots.memory")).not.toHaveProperty("fixable");
});

test("a disk that is nearly full is freed of logs, if there are any to speak of", () => {
  expect(found({ freeBytes: 1, logs: { path: "/s/logs", bytes: 50_000_000 } })[0]).not.toHaveProperty("fixable");
  expect(found({ freeBytes: 1, logs: { path: "/s/logs", bytes: 50_000_001 } })).toMatchObject([
    { id: "disk/free", path: "/s/logs", fixable: true },
  ]);
});

test("origins that are not written, or some that are, are nobody's fault", () => {
  for (const configured of [undefined, ["https://ui.example"]])
    expect(found({ origins: { configured, port: 1, scheme: "http" } })).toEqual([]);
});

test("at the limits nothing is found", () => {
  expect(found({ auth: { mode: "token", secretChars: 16, refusal: undefined }, node: { version: "22.0.0", floor: "20.19.0" } })).toEqual(
    [],
  );
  expect(
    found({ auth: { mode: "none", secretChars: undefined, refusal: undefined }, plugins: [{ id: "x", state: "disabled", reason: "r" }] }),
  ).toEqual([]);
});

test("the worst comes first", () => {
  const live = [{ id: "plugin/x/y", severity: "error" as const, message: "m" }];
  expect(found({ live, staleLocks: ["l"], freeBytes: 1 }).map((f) => f.severity)).toEqual(["error", "warning", "info"]);
});

test("a difference shows the lines between what is common, with two around them", () => {
  expect(lineDiff("1\n2\n3\na\n5\n6\n7", "1\n2\n3\nb\nc\n5\n6\n7")).toEqual(["  2", "  3", "- a", "+ b", "+ c", "  5", "  6"]);
  expect(lineDiff("a", "a")).toEqual(["  a"]);
});
