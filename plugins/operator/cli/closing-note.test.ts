import { expect, test } from "vitest";
import { closingNote } from "./closing-note.ts";

const written = (mode: string, action: "hot" | "restart", pendingRestart: string[] = []) =>
  closingNote({ action, pendingRestart, changedPaths: ["gateway.port"], config: { gateway: { reload: { mode } } } });

test.each([
  ["hot", "Restart needed: svc gateway restart (gateway.port)"],
  ["off", "Restart needed: svc gateway restart (gateway.port)"],
  ["hybrid", "The gateway restarts by itself to apply it, once its active runs are done (gateway.port)."],
  ["restart", "The gateway restarts by itself to apply it, once its active runs are done (gateway.port)."],
])("a change that needs a restart in mode %s", (mode, note) => {
  expect(written(mode, "restart", ["gateway.port"])).toBe(note);
});

test("a change that is live, and none", () => {
  expect(written("hybrid", "hot")).toBe("Applied live by the running gateway.");
  expect(closingNote({ noop: true, action: "none", pendingRestart: [], changedPaths: [], config: {} })).toBe("No change.");
});
