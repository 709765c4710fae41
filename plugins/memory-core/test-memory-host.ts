import type { MemoryHost } from "./service.ts";
import { parseTestConfig } from "./test-config.ts";

const logger = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => logger,
};

/** Creates a test gateway with nothing in it. Periods of repeated timers are added to `intervals`. */
export function createMemoryHost(intervals: number[] = []): MemoryHost {
  return {
    logger,
    timers: {
      setTimeout: () => ({ dispose: () => undefined }),
      setInterval: (_run: unknown, everyMs: number) => {
        intervals.push(everyMs);
        return { dispose: () => undefined };
      },
    } as unknown as MemoryHost["timers"],
    signal: new AbortController().signal,
    clock: { now: Date.now, monotonic: () => performance.now() },
    contributions: () => ({
      get: () => undefined,
      ready: async () => undefined,
      watch: () => ({ dispose: () => undefined }),
      [Symbol.iterator]: () => [][Symbol.iterator](),
    }),
    secret: () => undefined,
    kv: { get: async () => undefined, set: async () => undefined, delete: async () => undefined, list: async () => [] },
    snapshot: () => parseTestConfig({}),
    emit: () => undefined,
    isHookUsed: () => false,
    runHook: async (_hook, event) => event as never,
  };
}
