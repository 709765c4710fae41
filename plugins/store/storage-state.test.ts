import type { Logger } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { createStorageState } from "./storage-state.ts";
import { until } from "./testing/temp-store.ts";

const quiet: Logger = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};

function stateWith(probe: () => boolean) {
  const events: string[] = [];
  const state = createStorageState({
    logger: quiet,
    probeMs: 1,
    probe: async () => probe(),
    onFault: (reason) => events.push(reason),
    onHealed: () => events.push("healed"),
  });
  onTestFinished(() => state.close());
  return { state, events };
}

test("a faulty disk is probed until it takes a write", async () => {
  let probes = 0;
  const { state, events } = stateWith(() => ++probes === 3);
  state.fail("full", new Error("database or disk is full"));
  expect(state.reason).toBe("full");

  await until(() => state.reason === undefined, "healed");

  expect(probes).toBe(3);
  expect(events).toEqual(["full", "healed"]);
});

test("a dead thread heals when another is up, not by probing", () => {
  const { state, events } = stateWith(() => true);
  state.fail("down", undefined);

  state.restarted();

  expect(events).toEqual(["down", "healed"]);
});

test("damage stays until the next start, whatever happens after it", () => {
  const { state } = stateWith(() => true);
  state.fail("corrupt", new Error("malformed"));

  state.fail("down", undefined);
  state.restarted();

  expect(state.reason).toBe("corrupt");
});
