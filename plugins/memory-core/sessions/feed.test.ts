import { fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import type { AgentMemory } from "../agent-memory.ts";
import { type AgentMemorySettings, resolveMemorySettings } from "../settings.ts";
import { parseTestConfig } from "../test-config.ts";
import { createSessionFeed } from "./feed.ts";

const memorySearch = { sources: ["memory" as const, "sessions" as const], experimental: { sessionMemory: true } };
const settings = resolveMemorySettings(parseTestConfig({ agents: { defaults: { memorySearch } } }), "/nowhere")[0] as AgentMemorySettings;

test("sessions that end while one is read again are one more sync, however many they are", async () => {
  const syncs: string[][] = [];
  const gates: Array<() => void> = [];
  const index = {
    sync: async ({ sessionIds = [] }: { sessionIds?: string[] }) => {
      syncs.push(sessionIds);
      await new Promise<void>((resolve) => gates.push(resolve));
      return { started: true, joined: false };
    },
  };
  const agent = { settings, state: () => ({}), index: () => index } as unknown as AgentMemory;
  const taps = new Map<string, (event: unknown) => void>();
  const clock = fakeClock();
  const quiet = () => undefined;
  const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger };
  const host = {
    service: () => {
      throw new Error("there is no store");
    },
    on: (hook: string, tap: (event: unknown) => void) => {
      taps.set(hook, tap);
      return { dispose: () => undefined };
    },
    clock,
    timers: { ...clock, cron: () => ({ dispose: () => undefined }) },
    logger,
  };
  const feed = createSessionFeed(host as unknown as Parameters<typeof createSessionFeed>[0], () => [agent]);
  const end = (sessionId: string) => taps.get("session.end")?.({ agentId: "main", sessionId, reason: "deleted" });
  const answered = async () => {
    gates.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };

  for (let i = 0; i < 2_000; i++) end(`s${i}`);
  await answered();
  await answered();
  end("later");
  await answered();

  expect(syncs.map((ids) => ids.length)).toEqual([1, 1_999, 1]);
  expect(new Set(syncs.flat()).size).toBe(2_001);
  void feed.dispose();
});
