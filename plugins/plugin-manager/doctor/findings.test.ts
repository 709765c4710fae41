import type { PluginCandidate } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { type Evidence, findingsOf } from "./findings.ts";

const demo: PluginCandidate = {
  ...{ id: "demo", version: "1.0.0", root: "/p/demo", origin: "config", entry: "/p/demo/index.ts" },
  manifest: { id: "demo", version: "1.0.0", svc: { api: "*" } },
};
const record = { version: "1.0.0", source: { kind: "npm" as const, spec: "demo@1.0.0" }, integrity: "", installedAt: "", cli: [] };

function findings(evidence: Partial<Evidence>) {
  return findingsOf({
    ...{
      candidates: [demo],
      live: undefined,
      diagnostics: [],
      index: { version: 1, plugins: {} },
      intact: new Map(),
      imports: new Map(),
      config: [],
      grants: new Map(),
    },
    ...evidence,
  });
}
const problem = (state: "blocked" | "disabled", code: "hardlink" | "not-enabled" | "duplicate-id" | "integrity") => ({
  problem: { state, code, reason: "why", hint: "what to do" },
});

test("a plugin that may load and is not known to ail is no finding", () => {
  expect(findings({})).toEqual([]);
  expect(findings({ live: new Map([["demo", { state: "active" }]]) })).toEqual([]);
});

describe("told is", () => {
  test.each<[string, Partial<Evidence>, Array<Record<string, unknown>>]>([
    [
      "a gate that holds it back",
      { candidates: [{ ...demo, ...problem("blocked", "hardlink") }] },
      [{ id: "plugins/load", severity: "error", message: "blocked: hardlink: why", fix: "what to do" }],
    ],
    ["nothing of one that is switched off", { candidates: [{ ...demo, ...problem("disabled", "not-enabled") }] }, []],
    [
      "a bundled one whose place is taken, as a note",
      { candidates: [{ ...demo, origin: "bundled", ...problem("blocked", "duplicate-id") }] },
      [{ severity: "info" }],
    ],
    [
      "a failure in the running gateway",
      { live: new Map([["demo", { state: "failed", code: "setup-failed", reason: "boom", hint: "mend it" }]]) },
      [{ id: "plugins/load", severity: "error", message: "failed: setup-failed: boom", fix: "mend it" }],
    ],
    [
      "a module that does not load",
      { imports: new Map([["demo", "boom"]]) },
      [{ id: "plugins/load", severity: "error", message: "does not load: import-failed: boom" }],
    ],
    [
      "what somebody works on and the config does not lead to",
      { candidates: [], live: new Map([["demo", { state: "failed", code: "setup-failed", reason: "boom" }]]) },
      [{ id: "plugins/load", plugin: "demo", severity: "error" }],
    ],
    ["one that is tried again", { live: new Map([["demo", { state: "retrying", reason: "no net" }]]) }, [{ severity: "warning" }]],
    [
      "a degraded one by what was refused",
      {
        live: new Map([["demo", { state: "degraded" }]]),
        diagnostics: [{ pluginId: "demo", code: "permission-missing", message: "needs net" }],
      },
      [{ id: "plugins/load", severity: "warning", message: "permission-missing: needs net" }],
    ],
    [
      "who uses what is deprecated",
      { diagnostics: [{ pluginId: "demo", code: "SVC_DEP0001", message: "use the other" }] },
      [{ id: "plugins/deprecated", plugin: "demo", severity: "warning", message: "SVC_DEP0001: use the other" }],
    ],
    [
      "a deprecated plugin",
      { candidates: [{ ...demo, manifest: { id: "demo", version: "1.0.0", svc: { api: "*" }, deprecated: "use new-demo" } }] },
      [{ id: "plugins/deprecated", severity: "warning", message: "use new-demo" }],
    ],
    [
      "changed files of one that is switched off",
      {
        candidates: [{ ...demo, origin: "global", installed: true, ...problem("disabled", "not-enabled") }],
        intact: new Map([["demo", false]]),
      },
      [{ id: "plugins/integrity", severity: "warning", fix: "svc plugins install --confirm demo" }],
    ],
    [
      "changed files once only",
      {
        candidates: [{ ...demo, origin: "global", installed: true, ...problem("blocked", "integrity") }],
        intact: new Map([["demo", false]]),
      },
      [{ id: "plugins/load", severity: "error" }],
    ],
    ["one without a hash", { candidates: [{ ...demo, origin: "global" }] }, [{ id: "plugins/integrity", severity: "warning" }]],
    [
      "a record without files",
      { candidates: [], index: { version: 1, plugins: { demo: record } } },
      [
        {
          id: "plugins/missing",
          plugin: "demo",
          severity: "warning",
          fix: "svc plugins uninstall demo, or install it again from demo@1.0.0",
        },
      ],
    ],
    [
      "permissions it lacks, as a note",
      {
        candidates: [{ ...demo, manifest: { id: "demo", version: "1.0.0", svc: { api: "*" }, permissions: ["exec", "net"] } }],
        grants: new Map([["demo", ["net"]]]),
      },
      [{ id: "plugins/permissions", severity: "info", message: "it asks for permissions that are not granted: exec" }],
    ],
    [
      "what is wrong in the config",
      {
        config: [
          { path: "plugins.entries.gone", message: "not installed", severity: "warning" },
          { path: "plugins.entries.demo.config", message: "does not fit", severity: "error" },
        ],
      },
      [
        { id: "plugins/missing", severity: "warning", path: "plugins.entries.gone" },
        { id: "plugins/config", severity: "error", path: "plugins.entries.demo.config" },
      ],
    ],
  ])("%s", (_, evidence, expected) => {
    const found = findings(evidence);
    expect(found).toHaveLength(expected.length);
    expect(found).toMatchObject(expected);
  });
});
