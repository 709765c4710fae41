import { eventually } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { createDescriptorBudget, type DescriptorSources } from "./descriptor-budget.ts";

async function budgetOf(change: Partial<DescriptorSources> & { open?: number } = {}) {
  const state = { now: 0, open: change.open ?? 100, counts: 0 };
  const budget = createDescriptorBudget({
    limit: async () => 200,
    now: () => state.now,
    ...change,
    count: async () => {
      state.counts += 1;
      return change.count ? change.count() : state.open;
    },
  });
  await eventually(() => state.counts === 1);
  await new Promise((resolve) => setImmediate(resolve));
  return { budget, state };
}

test("64 descriptors are kept from sockets that last, 32 from any connection", async () => {
  const { budget } = await budgetOf();
  for (let i = 0; i < 36; i++) budget.opened();
  expect([budget.mayUpgrade(), budget.mayConnect()]).toEqual([true, true]);
  budget.opened();
  expect([budget.mayUpgrade(), budget.mayConnect()]).toEqual([false, true]);
  for (let i = 0; i < 31; i++) budget.opened();
  expect(budget.mayConnect()).toBe(true);
  budget.opened();
  expect(budget.mayConnect()).toBe(false);
  for (let i = 0; i < 33; i++) budget.closed();
  expect([budget.mayUpgrade(), budget.mayConnect()]).toEqual([true, true]);
});

test("what others opened is seen at the first connection after a second", async () => {
  const { budget, state } = await budgetOf();
  state.open = 190;
  budget.opened();
  expect([state.counts, budget.mayConnect()]).toEqual([1, true]);
  state.now = 1_000;
  budget.opened();
  await eventually(() => !budget.mayConnect());
  expect(state.counts).toBe(2);
});

test("after accept has failed nobody is let in for a second", async () => {
  const { budget, state } = await budgetOf();
  budget.exhausted();
  expect(budget.mayConnect()).toBe(false);
  state.now = 999;
  expect(budget.mayConnect()).toBe(false);
  state.now = 1_000;
  expect(budget.mayConnect()).toBe(true);
});

test.each<[string, Partial<DescriptorSources>]>([
  ["limit", { limit: async () => undefined }],
  ["count", { count: async () => undefined }],
  ["count, and fails at it", { count: () => Promise.reject(new Error("no /proc")) }],
])("a system that tells no %s sets no bound", async (_, sources) => {
  const { budget } = await budgetOf(sources);
  for (let i = 0; i < 1_000; i++) budget.opened();
  expect([budget.mayUpgrade(), budget.mayConnect()]).toEqual([true, true]);
});
