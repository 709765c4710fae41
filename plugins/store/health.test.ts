import { expect, test } from "vitest";
import { toHealthPart, unreadableFinding } from "./health.ts";

const path = "/state/state.sqlite";
const place = { backend: "sqlite", endpoint: path };

test("a store that takes commits is a healthy critical part", () => {
  expect(toHealthPart({ ok: true, queued: 3, ...place })).toEqual({
    part: "store",
    ok: true,
    critical: true,
    value: { ok: true, queued: 3 },
  });
});

test("a full disk makes it unhealthy, with the reason and what to do", () => {
  expect(toHealthPart({ ok: false, reason: "full", queued: 0, ...place })).toMatchObject({
    ok: false,
    value: { reason: "full" },
    message: expect.stringContaining("free some space"),
  });
});

test("after damage it works and says where the damaged file is", () => {
  expect(toHealthPart({ ok: true, queued: 0, ...place, damaged: `${path}.corrupt.1`, unreadableRows: 2 })).toMatchObject({
    ok: true,
    value: { damaged: `${path}.corrupt.1`, unreadableRows: 2 },
    message: expect.stringContaining(`${path}.corrupt.1`),
  });
});

test("rows that cannot be read are a finding of doctor, and none is none", () => {
  expect(unreadableFinding({ ok: true, queued: 0, ...place })).toBeUndefined();
  expect(unreadableFinding({ ok: true, queued: 0, ...place, unreadableRows: 2 })).toMatchObject({
    id: "sessions/corrupt",
    severity: "warning",
    message: expect.stringMatching(/^2 rows .* skipped and kept/),
  });
});
