import { expect, test } from "vitest";
import { type ReloadFigures, reloadFigures, reloadLine } from "./reload-line.ts";

const base: ReloadFigures = { status: "active", pendingRestart: [], issues: [], since: 0 };

test.each<[Partial<ReloadFigures>, RegExp]>([
  [{}, /^active$/],
  [{ pendingRestart: ["gateway.port", "gateway.bind"] }, /^restart pending: gateway.port, gateway.bind$/],
  [{ status: "off" }, /^off \(gateway.reload.mode\)$/],
  [{ status: "off", pendingRestart: ["session.scope"] }, /^off \(gateway.reload.mode\); restart pending: session.scope$/],
  [
    { status: "invalid", issues: [{ path: "gateway", message: 'unknown key "bogus"' }] },
    /^invalid since .+: gateway: unknown key "bogus"$/,
  ],
  [{ status: "rejected", issues: [{ path: "", message: "no" }], pendingRestart: ["env"] }, /^rejected since .+: no; restart pending: env$/],
])("%j", (own, line) => {
  expect(reloadLine({ ...base, ...own })).toMatch(line);
});

test("a gateway that tells nothing has no figures", () => {
  expect(reloadFigures({ snapshot: { health: {} } })).toBeUndefined();
  expect(reloadFigures(undefined)).toBeUndefined();
  expect(reloadFigures({ snapshot: { health: { configReload: { ...base, restart: [] } } } })).toEqual(base);
});
