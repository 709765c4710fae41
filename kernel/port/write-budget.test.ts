import { expect, test } from "vitest";
import { budgetedMethods, createWriteBudget } from "./write-budget.ts";

const client = (remote: string, deviceId?: string) => ({ remote, ...(deviceId ? { deviceId } : {}) });

test("the thirtieth call of a window passes and the next one waits for its end", () => {
  let now = 1_000;
  const budget = createWriteBudget(() => now);
  for (let i = 0; i < 30; i++) budget.take("config.patch", client("a"));
  now += 1_500;
  expect(() => budget.take("config.patch", client("a"))).toThrow(
    expect.objectContaining({
      code: "write-rate-limited",
      retryAfterMs: 58_500,
      message: "rate limit exceeded for config.patch; retry after 59s",
    }),
  );
  now += 58_499;
  expect(() => budget.take("config.patch", client("a"))).toThrow();
  now += 1;
  budget.take("config.patch", client("a"));
});

test("each method and each client has its own, a device wherever it comes from", () => {
  const budget = createWriteBudget(() => 0);
  for (let i = 0; i < 30; i++) budget.take("config.patch", client("a", "device"));
  expect(() => budget.take("config.patch", client("b", "device"))).toThrow();
  budget.take("config.set", client("a", "device"));
  budget.take("config.patch", client("a"));
  budget.take("config.patch", client("a", "other"));
});

test("methods that change nothing are not counted", () => {
  const budget = createWriteBudget(() => 0);
  expect(budgetedMethods.has("config.get")).toBe(false);
  for (let i = 0; i < 100; i++) budget.take("config.get", client("a"));
});

test("ten thousand others push the oldest out", () => {
  const budget = createWriteBudget(() => 0);
  for (let i = 0; i < 30; i++) budget.take("config.patch", client("first"));
  for (let i = 0; i < 10_000; i++) budget.take("config.patch", client(`other ${i}`));
  budget.take("config.patch", client("first"));
});

test("every method that changes how the gateway is run is counted", () => {
  const families = {
    config: ["set", "apply", "patch"],
    secrets: ["reload"],
    plugins: ["setEnabled", "reload", "install", "uninstall"],
    cron: ["add", "update", "remove", "run"],
    agents: ["create", "update", "delete"],
    gateway: ["restart.request"],
  };
  const names = Object.entries(families).flatMap(([family, verbs]) => verbs.map((verb) => `${family}.${verb}`));
  expect([...budgetedMethods].sort()).toEqual(names.sort());
});

test("another name of a method takes from the same budget", () => {
  const budget = createWriteBudget(() => 0);
  for (let i = 0; i < 15; i++) budget.take("gateway.restart", client("a"));
  for (let i = 0; i < 15; i++) budget.take("gateway.restart.request", client("a"));
  expect(() => budget.take("gateway.restart", client("a"))).toThrow(expect.objectContaining({ code: "write-rate-limited" }));
});
