import { type Lease, type RunRow, SvcError } from "svc/sdk";
import { createTestGateway, fakeClock } from "svc/sdk/testing";
import { expect, onTestFinished, test } from "vitest";
import { holdNext } from "../../../test/fixtures/held-read.ts";
import { newSession } from "../sessions/row.ts";
import { becomeOwner, markInterrupted } from "./recover.ts";

const key = "agent:main:main";
const lease: Lease = { name: "runs", token: 1, lost: new AbortController().signal, release: async () => undefined };
const busy = () => new SvcError("storage-busy", { message: "busy", http: 503, rpc: "UNAVAILABLE" });

/** A plugin whose first tries to acquire the lease fail. */
function owner(failures: number) {
  const clock = fakeClock();
  const stopped = new AbortController();
  const warnings: string[] = [];
  let tries = 0;
  const acquire = async () => {
    if (++tries <= failures) throw busy();
    return lease;
  };
  const logger = { warn: (message: string) => warnings.push(message) };
  const ctx = { service: () => ({ acquire }), logger, signal: stopped.signal, timers: clock };
  const kit = { ctx, bootId: "boot" } as unknown as Parameters<typeof becomeOwner>[0];
  return { clock, stopped, warnings, tries: () => tries, became: becomeOwner(kit) };
}

test("a store that is busy at the start is asked again, and the first refusal is logged", async () => {
  const { clock, warnings, became } = owner(3);
  await clock.advance(10_000);

  expect(await became).toBe(lease);
  expect(warnings).toEqual(["the store is busy; runs of an earlier process are marked when it is not"]);
});

test("a store that stays busy does not hold up the start for ever", async () => {
  const { clock, warnings, tries, became } = owner(Number.POSITIVE_INFINITY);
  await clock.advance(10_000);

  expect(await became).toBeUndefined();
  expect(tries()).toBe(5);
  expect(warnings.at(-1)).toBe("runs of an earlier process are marked as interrupted at the next start");
});

test("a plugin that is stopped waits for no store", async () => {
  const { stopped, became } = owner(Number.POSITIVE_INFINITY);
  stopped.abort(new Error("stopped"));

  await expect(became).rejects.toThrow("stopped");
});

test("a run that ends while its session turns to another transcript is left as it ended", async () => {
  const gw = await createTestGateway({ plugins: ["store"] });
  onTestFinished(() => gw.close());
  const store = gw.service("store@2");
  const session = newSession(key, "main", 1);
  const run: RunRow = {
    ...{ runId: "one", sessionKey: key, sessionId: session.sessionId, agentId: "main" },
    ...{ state: "running", trigger: "user", bootId: "earlier", createdAt: 1 },
  };
  await store.commit([
    { op: "session.put", session },
    { op: "run.put", run },
  ]);
  const commit = async (ops: Parameters<typeof store.commit>[0]) => {
    try {
      return await store.commit(ops);
    } catch (error) {
      // Between the refusal and what follows from it.
      await store.commit([{ op: "run.put", run: { ...run, state: "ok", endedAt: 2 } }]);
      throw error;
    }
  };
  const kit = { ctx: { clock: fakeClock() }, store: () => ({ ...store, runs: store.runs, sessions: store.sessions, commit }) };
  const read = holdNext(store, "sessions.get");
  const marked = markInterrupted(kit as unknown as Parameters<typeof markInterrupted>[0]);
  await read.asked;
  await store.commit([{ op: "session.put", session: { ...session, sessionId: "second" } }]);
  read.release();

  expect(await marked).toBe(0);
  expect(await store.runs.get("one")).toMatchObject({ state: "ok" });
});
