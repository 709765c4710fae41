import { commonErrors } from "svc/sdk";
import { fakeClock } from "svc/sdk/testing";
import { expect, onTestFinished, test } from "vitest";
import { Heartbeats } from "./heartbeat/heartbeats.ts";
import type { Kit } from "./kit.ts";
import { fail } from "./runs/finish.ts";
import { Run } from "./runs/run.ts";

/** Context of a stopped plugin: every call that would reach the gateway throws. */
function stoppedKit() {
  const clock = fakeClock();
  const warnings: string[] = [];
  const gone = (): never => {
    throw commonErrors.pluginDisposed({ plugin: "agents" });
  };
  const kit = {
    ctx: {
      ...{ clock, timers: clock, service: gone, emit: gone, isHookUsed: () => false },
      kv: { set: async () => gone() },
      logger: {
        debug: () => undefined,
        warn: (message: string) => warnings.push(message),
        error: (message: string) => warnings.push(message),
      },
    },
    config: { agents: { defaults: {}, list: [] } },
    directory: { list: () => [{ id: "main" }] },
    runs: new Map(),
    store: gone,
    events: { textEnd: gone },
    figures: { runEnded: () => undefined },
  };
  return { clock, warnings, kit: kit as unknown as Kit };
}

function unhandledRejections(): unknown[] {
  const seen: unknown[] = [];
  const listener = (reason: unknown) => seen.push(reason);
  process.on("unhandledRejection", listener);
  onTestFinished(() => void process.off("unhandledRejection", listener));
  return seen;
}

test.each(["wake", "tick"])("a heartbeat that ends after its plugin (%s) rejects nothing that nobody waits for", async (occasion) => {
  const { clock, kit } = stoppedKit();
  const rejected = unhandledRejections();
  const heartbeats = new Heartbeats(kit, { start: () => Promise.reject(new Error("no run")) }, () => 0.5);
  if (occasion === "tick") heartbeats.update();
  else heartbeats.wake({ agentId: "main", sessionKey: undefined, reason: "test", isOwn: false });
  await clock.advance(30 * 60_000);
  await new Promise((resolve) => setImmediate(resolve));

  expect(heartbeats.last()).toMatchObject({ agentId: "main", status: "failed" });
  expect(rejected).toEqual([]);
});

test("a run that outlasts its plugin settles, though nobody can be told of its text", async () => {
  const { kit, warnings } = stoppedKit();
  const run = new Run({
    ...{ id: "r", sessionKey: "agent:main:main", sessionId: "s", family: undefined, model: undefined },
    agent: { id: "main" } as never,
    request: { message: "hello", trigger: "user", actor: { kind: "internal", scopes: [] } },
    ...{ acceptedAt: 0, arrivedAt: 0, origin: "anybody" as const },
  });
  await fail(run, kit, new Error("cut off"));

  expect(await run.done).toMatchObject({ status: "error" });
  expect(warnings).toContain("run r: the rest of its text could not be sent");
});
