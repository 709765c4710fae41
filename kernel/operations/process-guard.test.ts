import { afterEach, beforeEach, expect, test } from "vitest";
import { runAs } from "../hooks/running.ts";
import { createLogger, type LogRecord } from "../process/logger.ts";
import { installProcessGuard } from "./process-guard.ts";

const events = ["unhandledRejection", "uncaughtException"] as const;
let others: Array<[string, NodeJS.UncaughtExceptionListener[]]>;
let done: string[];
let logs: LogRecord[];
let remove: () => void;
let known: (id: string) => boolean;

beforeEach(() => {
  others = events.map((event) => [event, process.listeners(event as "uncaughtException")]);
  for (const event of events) process.removeAllListeners(event);
  done = [];
  logs = [];
  known = () => true;
  const gateway = {
    failPlugin: async (id: string, error: Error) => {
      done.push(`fail ${id} ${error.message}`);
      return known(id);
    },
    close: async (reason: string) => void done.push(`close ${reason}`),
    faults: { failed: (id: string) => void done.push(`count ${id}`), blocked: () => undefined, parts: () => [] },
  };
  const logger = createLogger([(record) => logs.push(record)]);
  remove = installProcessGuard(gateway, logger, { exit: (code) => void done.push(`exit ${code}`), watchdog: false });
});
afterEach(() => {
  remove();
  for (const [event, listeners] of others) for (const listener of listeners) process.on(event, listener);
});

const settled = async () => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
};
const inPlugin = (fn: () => void) => runAs("weather", "timer", fn);

test("a rejection nobody took is logged, counted against its owner, and ends nothing", async () => {
  process.emit("unhandledRejection", new Error("lost"), Promise.resolve());
  inPlugin(() => process.emit("unhandledRejection", new Error("lost too"), Promise.resolve()));
  await settled();
  expect(logs.map((l) => l.message)).toEqual(["unhandled rejection", 'unhandled rejection of plugin "weather" (timer)']);
  expect(done).toEqual(["count weather"]);
});

test("an exception of a plugin ends that plugin only", async () => {
  inPlugin(() => process.emit("uncaughtException", new Error("boom")));
  await settled();
  expect(done).toEqual(["fail weather boom"]);
  expect(logs[0]?.message).toBe('uncaught exception of plugin "weather" (timer)');
});

test("an exception of nobody, or of a plugin that is not there, drains the gateway and ends the process", async () => {
  process.emit("uncaughtException", new Error("kernel bug"));
  await settled();
  expect(done).toEqual(["close internal error", "exit 1"]);
  done.length = 0;
  known = () => false;

  inPlugin(() => process.emit("uncaughtException", new Error("boom")));
  await settled();

  expect(done).toEqual(["fail weather boom", "close internal error", "exit 1"]);
});

test("once removed it listens no more", () => {
  remove();
  for (const event of events) expect(process.listenerCount(event)).toBe(0);
});
