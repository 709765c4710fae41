import type { SvcConfig } from "svc/sdk";
import { type FakeClock, fakeClock } from "svc/sdk/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { HealthMonitor, type Liveness, type Monitored, stuckReason } from "./monitor.ts";

const MINUTE = 60_000;
const limits = { checkMs: 5 * MINUTE, staleMs: 30 * MINUTE };

describe("an account is stuck", () => {
  const well: Liveness = { lifecycle: "ready", stateAt: 0, aliveAt: undefined, isRunning: true };
  test.each<[string, Partial<Liveness>, number, boolean]>([
    ["not when it is ready and its channel does not say whether its platform answers", {}, 600, false],
    ["not when its platform has answered", { aliveAt: 10 * MINUTE }, 39, false],
    ["when its platform has not answered for 30 minutes", { aliveAt: 10 * MINUTE }, 40, true],
    ["not right after it became ready", { aliveAt: 0, stateAt: 20 * MINUTE }, 40, false],
    ["when it starts and says nothing for five minutes", { lifecycle: "starting" }, 5, true],
    ["not before", { lifecycle: "starting" }, 4, false],
    ["when it stopped making its link again", { lifecycle: "recovering", stateAt: 10 * MINUTE }, 15, true],
    ["not while it waits for its next start", { lifecycle: "recovering", isRunning: false }, 600, false],
    ["not when it is blocked", { lifecycle: "blocked" }, 600, false],
  ])("%s", (_, changes, minutes, expected) => {
    expect(stuckReason({ ...well, ...changes }, limits, minutes * MINUTE) !== undefined).toBe(expected);
  });
});

describe("the monitor", () => {
  let clock: FakeClock;
  let config: SvcConfig;
  let restarts: string[];
  let errors: string[];
  let monitor: HealthMonitor;
  const section = (healthMonitor?: { enabled: boolean }) => ({
    ...(healthMonitor ? { healthMonitor } : {}),
    accounts: { work: {}, off: {} },
  });

  const stuck = (accountId: string): Monitored => ({
    channel: { id: "talk" },
    accountId,
    get liveness() {
      return { lifecycle: "recovering" as const, stateAt: clock.monotonic() - 10 * MINUTE, aliveAt: undefined, isRunning: true };
    },
    restart: (reason) => void restarts.push(`${accountId}: ${reason}`),
  });

  beforeEach(() => {
    clock = fakeClock();
    [restarts, errors] = [[], []];
    const gateway = { channelHealthCheckMinutes: 5, channelStaleEventThresholdMinutes: 30, channelMaxRestartsPerHour: 3 };
    config = { gateway, channels: { defaults: { healthMonitor: { enabled: true } }, talk: section() } } as unknown as SvcConfig;
    const nothing = () => undefined;
    const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: (text: string) => void errors.push(text) };
    const accounts = [stuck("work")];
    const ctx = { clock, timers: clock, logger: { ...logger, child: () => ctx.logger }, snapshot: () => config };
    monitor = new HealthMonitor({ ctx: ctx as never, all: () => accounts });
  });

  test("starts a stuck account again at each check, not more often in an hour than it may, and says so once", async () => {
    monitor.arm();
    await clock.advance(4 * MINUTE);
    expect(restarts).toEqual([]);
    await clock.advance(56 * MINUTE);
    expect(restarts).toEqual(Array(3).fill("work: it is not connected, and has not tried for 10 minutes"));
    expect(errors).toHaveLength(1);
    await clock.advance(15 * MINUTE);
    expect(restarts.length).toBeGreaterThan(3);
    monitor.disarm();
    const before = restarts.length;
    await clock.advance(120 * MINUTE);
    expect(restarts).toHaveLength(before);
  });

  test("leaves alone what healthMonitor.enabled says, and everything when the interval is 0", async () => {
    config = { ...config, channels: { ...config.channels, talk: section({ enabled: false }) } } as never;
    monitor.arm();
    await clock.advance(60 * MINUTE);
    expect(restarts).toEqual([]);
    const own = { ...section({ enabled: false }), accounts: { work: { healthMonitor: { enabled: true } } } };
    config = { ...config, channels: { ...config.channels, talk: own } } as never;
    await clock.advance(5 * MINUTE);
    expect(restarts).toHaveLength(1);
    config = { ...config, gateway: { ...config.gateway, channelHealthCheckMinutes: 0 } } as never;
    monitor.arm();
    await clock.advance(60 * MINUTE);
    expect(restarts).toHaveLength(1);
  });
});
