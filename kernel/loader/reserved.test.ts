import { expect, test } from "vitest";
import type { HttpRoute } from "../../sdk/types/http.ts";
import { reachesInto, reservedBy } from "./reserved.ts";

const plugin = (origin: string, state: string) =>
  ({ candidate: { id: "agents", origin, manifest: { contributes: { rpc: ["agent"] } } }, record: { state } }) as never;

test.each([
  ["bundled", "active", "agents"],
  ["bundled", "ready", "agents"],
  ["bundled", "failed", "agents"],
  ["bundled", "disabled", undefined],
  ["bundled", "blocked", undefined],
  ["config", "active", undefined],
])("a name that a %s plugin declares while it is %s is kept for: %s", (origin, state, owner) => {
  expect(reservedBy([plugin(origin, state)], "rpc", (name) => name === "agent")).toBe(owner);
  expect(reservedBy([plugin(origin, state)], "rpc", (name) => name === "agents")).toBeUndefined();
  expect(reservedBy([plugin(origin, state)], "tools", () => true)).toBeUndefined();
});

test.each<[Partial<HttpRoute>, string, boolean]>([
  [{ path: "/v1/models" }, "/v1/models", true],
  [{ path: "/v1/models/x" }, "/v1/models", true],
  [{ path: "/v1/modelsx" }, "/v1/models", false],
  [{ path: "/v1" }, "/v1/models", false],
  [{ path: "/v1", match: "prefix" }, "/v1/models", true],
  [{ path: "/", match: "prefix" }, "/v1/models", true],
  [{ path: "/", match: "prefix", fallback: true }, "/v1/models", false],
  [{ path: "/", match: "prefix", fallback: true }, "*", true],
  [{ path: "/mine" }, "*", false],
])("a route %j reaches into the declared %s: %s", (route, declared, isSo) => {
  expect(reachesInto({ match: "exact", ...route } as HttpRoute, declared)).toBe(isSo);
});
