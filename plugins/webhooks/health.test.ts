import type { SvcConfig } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { hookFindings } from "./doctor.ts";
import { healthPart } from "./health.ts";

const config = (more: object = {}) =>
  ({ enabled: true, mappings: [], presets: [], transforms: { isolation: "process" }, ...more }) as unknown as SvcConfig["hooks"];
const state = { generation: 1, path: "/hooks", mappings: [], knownPresets: [], problems: [], warnings: [] };
const none = { byDir: {}, bytes: 0 };
const some = {
  byDir: { "hook-agent": { accepted: 1, running: 2, failed: 3, done: 9 }, "hook-wake": { expired: 1, failed: 1 }, out: { failed: 7 } },
  bytes: 10,
};

describe("health tells", () => {
  test("hook actions by state, and nothing of other deliveries", () => {
    expect(healthPart(config(), { state, counts: some })).toEqual({
      part: "hooks",
      ok: true,
      critical: false,
      value: { enabled: true, path: "/hooks", mappings: 0, accepted: 1, running: 2, failed: 4, expired: 1 },
    });
  });

  test("what is broken, as something that does not stop the gateway", () => {
    const broken = { ...state, problems: ["one", "two"] };
    expect(healthPart(config(), { state: broken, counts: none })).toMatchObject({ ok: false, critical: false, message: "one; two" });
  });

  test("how long ago waiting actions were looked at, and when that had stopped", () => {
    const tick = { intervalMs: 60_000, age: 200_000, wasDead: true };
    expect(healthPart(config(), { state, counts: none, tick })).toMatchObject({
      ok: false,
      value: { tick: { intervalMs: 60_000, age: 200_000 } },
      message: "waiting actions were not checked for 200 s; the timer was restarted",
    });
    expect(healthPart(config(), { state, counts: none, tick: { ...tick, wasDead: false } })).toMatchObject({ ok: true });
  });

  test("an endpoint that should answer and does not", () => {
    expect(healthPart(config(), { state: undefined, counts: none })).toMatchObject({
      ok: false,
      message: "hooks are enabled, but they are not being served",
    });
    expect(healthPart(config({ enabled: false }), { state: undefined, counts: none })).toMatchObject({ ok: true });
  });
});

describe("doctor finds", () => {
  const ids = (hooks: SvcConfig["hooks"], facts: Parameters<typeof hookFindings>[1]) => hookFindings(hooks, facts).map(({ id }) => id);

  test("nothing while the endpoint is healthy", () => {
    expect(ids(config(), { state, counts: none })).toEqual([]);
  });

  test("failed and expired actions, also while hooks are off", () => {
    expect(hookFindings(config({ enabled: false }), { state: undefined, counts: some })).toMatchObject([
      { id: "hooks/failed", severity: "warning", message: expect.stringContaining("4 hook actions have failed and 1 have expired") },
    ]);
  });

  test("presets that nobody brings; whose plugin is there, but off, the config itself cannot tell", () => {
    const found = hookFindings(config({ presets: ["gmail", "parcel"] }), { state: { ...state, knownPresets: ["parcel"] }, counts: none });
    expect(found).toMatchObject([{ id: "hooks/preset-missing", severity: "warning", path: "hooks.presets.0" }]);
    expect(found[0]?.message).toBe('no running plugin brings the preset "gmail", so its paths answer 404');
  });

  test("every problem, signatures instead of the token, and transforms without isolation", () => {
    const mappings = [
      {},
      { match: { path: "stripe" }, verify: { provider: "stripe", mode: "instead" } },
      { verify: { mode: "with-token" } },
    ];
    const broken = { ...state, problems: ["one", "two"], warnings: ["open"] };
    expect(ids(config({ mappings, transforms: { isolation: "off" } }), { state: broken, counts: none })).toEqual([
      "hooks/broken",
      "hooks/broken",
      "hooks/transforms-open",
      "hooks/signature-instead",
      "hooks/isolation-off",
    ]);
  });
});
