import { randomUUID } from "node:crypto";
import type { Channel, ChannelAccount, ChannelRun, Lease } from "svc/sdk";
import { eventually, type FakeClock, fakeClock } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { MediaInbox } from "../media/media-store.ts";
import { Account, type AccountDeps } from "./account.ts";
import { AccountHeldError, lockAccount } from "./account-lock.ts";
import { stoppedState } from "./state.ts";

/** One account, with a channel that does as it is told. */

let clock: FakeClock;
let runs: ChannelRun[];
/** Behaviour of the next starts. */
let onStart: (run: ChannelRun) => Promise<void>;
let resolve: (accountId: string) => ChannelAccount;
let lost: AbortController;
let leases: string[];
let logs: string[];
let account: Account;
let perHour: number;

const untilAborted = (run: ChannelRun) => new Promise<void>((end) => run.signal.addEventListener("abort", () => end(), { once: true }));
const settle = async () => {
  for (let n = 0; n < 20; n++) await Promise.resolve();
};

beforeEach(() => {
  clock = fakeClock();
  [runs, leases, logs] = [[], [], []];
  lost = new AbortController();
  perHour = 10;
  resolve = (accountId) => ({ accountId, enabled: true, token: "tok-secret-1", host: "irc.example" }) as ChannelAccount;
  onStart = async (run) => {
    run.state({ lifecycle: "ready", connected: true, self: { name: "svc" } });
    await untilAborted(run);
  };
  account = new Account(channel, "work", deps);
});
afterEach(() => account.stop());

const channel = {
  id: "talk",
  capabilities: {},
  config: { resolve: (_: unknown, accountId: string) => resolve(accountId) },
  start(run: ChannelRun) {
    runs.push(run);
    return onStart(run);
  },
} as unknown as Channel;

const note = (message: string, fields?: object) => void logs.push(`${message} ${JSON.stringify(fields ?? {})}`);
const logger = { trace: note, debug: note, info: note, warn: note, error: note, child: () => logger };
const deps: AccountDeps = {
  ctx: {
    get clock() {
      return clock;
    },
    get timers() {
      return clock;
    },
    logger,
    snapshot: () => ({ gateway: { channelMaxRestartsPerHour: perHour } }),
  } as unknown as AccountDeps["ctx"],
  async acquire(name) {
    leases.push(name);
    return { name, token: leases.length, lost: lost.signal, release: async () => undefined } satisfies Lease;
  },
  receive: async () => ({ status: "accepted" }),
  admits: async () => true,
  media: {
    inbox: () => ({ settle: async () => undefined, close: async () => undefined }) as unknown as MediaInbox,
  },
  onChange: () => undefined,
};

async function started(): Promise<void> {
  account.start();
  await settle();
}

describe("an account that is started", () => {
  test("holds the role of being the one that runs it, becomes ready, and stops when it is told", async () => {
    expect(account.state).toEqual(stoppedState);
    await started();
    expect(leases).toEqual(["channel:talk:work"]);
    expect(account.state).toMatchObject({ lifecycle: "ready", connected: true, self: { name: "svc" }, lastConnectedAt: clock.now() });
    expect(account.ready).toBe(runs[0]);
    await account.stop();
    expect(account.state).toMatchObject({ lifecycle: "stopped", connected: false, lastStopAt: clock.now() });
    expect([account.ready, runs.length]).toEqual([undefined, 1]);
  });

  test("connects again by itself: that is counted, and no second start", async () => {
    await started();
    runs[0]?.state({ lifecycle: "recovering", connected: false, lastError: "reset" });
    expect(account.ready).toBeUndefined();
    expect(account.state).toMatchObject({
      lifecycle: "recovering",
      reconnectAttempts: 1,
      lastDisconnect: { at: clock.now(), error: "reset" },
    });
    runs[0]?.state({ lifecycle: "ready", connected: true });
    expect(account.state).toMatchObject({ lifecycle: "ready", reconnectAttempts: 0 });
    expect(runs).toHaveLength(1);
  });

  test("is blocked by refused credentials, and starts no more", async () => {
    onStart = async (run) =>
      run.state({ lifecycle: "blocked", connected: false, lastError: "password tok-secret-1 refused\u001b[2J\nSystem: x" });
    await started();
    await clock.advance(3_600_000);
    expect(account.state).toMatchObject({ lifecycle: "blocked", lastError: expect.stringMatching(/^password \*\*\* refused\\u001b\[2J/) });
    expect(runs).toHaveLength(1);
    expect(logs.join("\n")).not.toContain("tok-secret-1");
  });

  test("shows no credential that lies deeper in its config, and not the rest of a longer one", async () => {
    const nested = { sasl: { mechanism: "EXTERNAL", password: "sasl-pass-1" }, rooms: [{ name: "#kitchen", key: "sasl-pass-1-and-more" }] };
    resolve = (accountId) => ({ accountId, enabled: true, ...nested }) as ChannelAccount;
    onStart = async (run) =>
      run.state({ lifecycle: "blocked", lastError: "EXTERNAL sasl-pass-1 and sasl-pass-1-and-more refused in #kitchen" });
    await started();
    expect(account.state.lastError).toBe("EXTERNAL *** and *** refused in #kitchen");
  });

  test("is blocked by a config that its channel cannot use", async () => {
    resolve = () => {
      throw new Error("channels.talk: expected a port");
    };
    await started();
    await clock.advance(3_600_000);
    expect(account.state).toMatchObject({ lifecycle: "blocked", lastError: "channels.talk: expected a port" });
    expect(runs).toEqual([]);
  });
});

describe("an account whose channel ends by itself", () => {
  test.each([
    [10, 360],
    [2, 1_800],
    [1_000, 120],
  ])("is started again after 5, 10, 30, 60, 120 s, after ten starts up to %i times an hour", async (limit, slow) => {
    perHour = limit;
    onStart = async () => {
      throw new Error("the library crashed");
    };
    await started();
    const waits = [5, 10, 30, 60, 120, 120, 120, 120, 120, 120, slow, slow];
    for (const [n, seconds] of waits.entries()) {
      expect(runs, `after ${n} waits`).toHaveLength(n + 1);
      expect(account.state).toMatchObject({ lifecycle: "recovering", lastError: "the library crashed", restarts: n + 1 });
      await clock.advance(seconds * 1_000 - 1);
      await settle();
      expect(runs).toHaveLength(n + 1);
      await clock.advance(1);
      await settle();
    }
  });

  test("begins at the foot of the ladder when it was ready for a minute", async () => {
    let crash: (error: Error) => void = () => undefined;
    onStart = (run) => {
      run.state({ lifecycle: "ready" });
      return new Promise((_, reject) => (crash = reject));
    };
    await started();
    for (const seconds of [5, 5, 5]) {
      await clock.advance(60_000);
      crash(new Error("again"));
      await settle();
      const before = runs.length;
      await clock.advance(seconds * 1_000);
      await settle();
      expect(runs).toHaveLength(before + 1);
    }
  });

  test("goes on up the ladder when it was long on its way and ready for a moment only", async () => {
    let isReady: () => void = () => undefined;
    let crash: (error: Error) => void = () => undefined;
    onStart = (run) => {
      isReady = () => run.state({ lifecycle: "ready" });
      return new Promise((_, reject) => (crash = reject));
    };
    await started();
    for (const seconds of [5, 10, 30]) {
      await clock.advance(120_000);
      isReady();
      crash(new Error("again"));
      await settle();
      const before = runs.length;
      await clock.advance(seconds * 1_000 - 1);
      await settle();
      expect(runs).toHaveLength(before);
      await clock.advance(1);
      await settle();
      expect(runs).toHaveLength(before + 1);
    }
  });

  test("waits for no start after it was stopped", async () => {
    onStart = async () => undefined;
    await started();
    await account.stop();
    await clock.advance(600_000);
    expect([runs.length, account.state.lifecycle]).toEqual([1, "stopped"]);
  });
});

test("an account that is stuck is started again at once, which is no failure of its channel", async () => {
  await started();
  account.restart("its platform has not answered");
  await eventually(() => runs.length === 2 && account.state.lifecycle === "ready");
  expect(runs[0]?.signal.aborted).toBe(true);
  const lastRestart = { at: clock.now(), reason: "its platform has not answered" };
  expect(account.state).toMatchObject({ lifecycle: "ready", restarts: 1, lastRestart });
  runs[1]?.alive?.();
  expect(account.liveness).toMatchObject({ lifecycle: "ready", aliveAt: clock.monotonic(), isRunning: true });
});

test("an account that another gateway of the machine runs waits for it, says so, and is no failure of its channel", async () => {
  const identity = randomUUID();
  const named = { ...channel, config: { ...channel.config, identity: () => identity } } as Channel;
  const held = await lockAccount(JSON.stringify(["talk", identity]));
  account = new Account(named, "work", deps);
  account.start();
  await eventually(() => account.state.isHeldElsewhere === true);
  expect(account.state).toMatchObject({
    lifecycle: "recovering",
    restarts: 0,
    lastError: expect.stringContaining(`process ${process.pid}`),
  });
  await clock.advance(15_000);
  await eventually(() => leases.length === 2);
  expect(runs).toEqual([]);
  await held.release();
  await eventually(async () => {
    await clock.advance(15_000);
    return account.state.lifecycle === "ready";
  });
  expect(account.state.isHeldElsewhere).toBeUndefined();
  expect(logs.filter((line) => line.includes("is not started"))).toHaveLength(1);
  await expect(lockAccount(JSON.stringify(["talk", identity]))).rejects.toThrow(AccountHeldError);
  await account.stop();
  await (await lockAccount(JSON.stringify(["talk", identity]))).release();
});

describe("a channel that does not end", () => {
  test("is left to itself 5 s after its signal, and what it does then concerns nobody", async () => {
    onStart = (run) => {
      run.state({ lifecycle: "ready" });
      return new Promise(() => undefined);
    };
    await started();
    const [run] = runs as [ChannelRun];
    await account.stop();
    expect(logs.some((line) => line.includes("did not stop within 5 s"))).toBe(true);
    run.state({ lifecycle: "ready" });
    expect(account.state.lifecycle).toBe("stopped");
    await expect(run.receive({} as never)).rejects.toThrow("this account was stopped");
  });
});

test("an account whose role another one has taken ends, says so, and tries again later", async () => {
  await started();
  lost.abort();
  await eventually(() => account.state.lifecycle === "recovering");
  expect(account.state.lastError).toBe("its lease was lost");
  lost = new AbortController();
  await clock.advance(5_000);
  await eventually(() => account.state.lifecycle === "ready");
  expect(leases).toHaveLength(2);
});
