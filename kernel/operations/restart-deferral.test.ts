import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createHolds } from "./holds.ts";
import { createRestartDeferral, type RestartOptions } from "./restart-deferral.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

function setup(own: Partial<RestartOptions> = {}) {
  const due: string[] = [];
  const lines: string[] = [];
  const say = (message: string) => void lines.push(message);
  const logger = { trace: say, debug: say, info: say, warn: say, error: say, child: () => logger };
  const holds = createHolds();
  const options = { holds, limitMs: () => 300_000, logger, onDue: (reason: string) => due.push(reason), onChange: () => undefined };
  return { due, lines, holds, restarts: createRestartDeferral({ ...options, ...own }) };
}

const config = "config change requires gateway restart (gateway.port)";

describe("a restart", () => {
  test("is due at once when nothing is held, but not before whoever asked has its answer", async () => {
    const { due, lines, restarts } = setup();
    restarts.request("config", config);
    expect(due).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(due).toEqual([config]);
    expect(lines).toEqual([config]);
  });

  test("may be asked for in advance, and is forgotten when the gateway stops before", async () => {
    const [first, second] = [setup(), setup()];
    first.restarts.request("rpc", "at night", { delayMs: 60_000 });
    second.restarts.request("rpc", "at night", { delayMs: 60_000 });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(first.restarts.pending()).toEqual([]);
    second.restarts.dispose();
    await vi.advanceTimersByTimeAsync(1_001);
    expect([first.due, second.due]).toEqual([["at night"], []]);
  });

  test("may be in more of a hurry than the config, the shortest of all requests counting, and tells the drain of it", async () => {
    const { due, holds, restarts } = setup();
    holds.hold("run a");
    restarts.request("rpc", "asked for");
    restarts.request("rpc", "asked for", { waitMs: 60_000 });
    restarts.request("rpc", "asked for", { waitMs: 90_000 });
    await vi.advanceTimersByTimeAsync(59_000);
    expect([due, restarts.waitMs()]).toEqual([[], 60_000]);
    restarts.request("other", "at once", { waitMs: 0 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect([due, restarts.waitMs()]).toEqual([["asked for; at once"], 0]);
  });

  test("that was taken back leaves no hurry behind", async () => {
    const { restarts } = setup();
    restarts.request("rpc", "asked for", { waitMs: 5 });
    restarts.withdraw("rpc");
    expect(restarts.waitMs()).toBeUndefined();
  });

  test("waits for the last hold and says for how many", async () => {
    const { due, lines, holds, restarts } = setup();
    const held = [holds.hold("run a"), holds.hold("run b")];
    restarts.request("config", config);
    expect(lines).toEqual([`${config} — waiting for 2 run(s)`]);
    await vi.advanceTimersByTimeAsync(200_000);
    await held[0]?.dispose();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(due).toEqual([]);
    await held[1]?.dispose();
    await vi.advanceTimersByTimeAsync(0);
    expect(due).toEqual([config]);
  });

  test("is called off when the start after it is sure to be refused; the next request counts again", async () => {
    let refusal: string | undefined = "svc.json is not valid\n  svc.json:5:20  gateway.prot: unknown key";
    const { due, lines, restarts } = setup({ refusal: async () => refusal });
    restarts.request("SIGUSR1", "SIGUSR1");
    await vi.advanceTimersByTimeAsync(1_000);
    expect([due, restarts.pending()]).toEqual([[], []]);
    expect(lines.at(-1)).toBe(
      "not restarting, the next start would be refused: svc.json is not valid; svc.json:5:20  gateway.prot: unknown key",
    );
    refusal = undefined;
    restarts.request("SIGUSR1", "SIGUSR1");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(due).toEqual(["SIGUSR1"]);
  });

  test("waits no longer than the limit", async () => {
    const { due, lines, holds, restarts } = setup({ limitMs: () => 10_000 });
    holds.hold("a run for ever");
    restarts.request("config", config);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(due).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(due).toEqual([config]);
    expect(lines.at(-1)).toBe("restarting although 1 run(s) did not end within 10 s");
  });

  test("comes once for all who asked meanwhile, and for those who ask afterwards", async () => {
    const { due, lines, holds, restarts } = setup();
    const held = holds.hold("run");
    restarts.request("config", config);
    restarts.request("config", "config change requires gateway restart (gateway.bind)");
    restarts.request("rpc", "asked for by rpc");
    expect(restarts.pending()).toEqual(["config change requires gateway restart (gateway.bind)", "asked for by rpc"]);
    await held.dispose();
    await vi.advanceTimersByTimeAsync(60_000);
    restarts.request("later", "again");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(due).toEqual(["config change requires gateway restart (gateway.bind); asked for by rpc"]);
    expect(lines).not.toContain("again");
  });

  test("keeps 30 s from the one before", async () => {
    const { due, restarts } = setup({ restartedAt: performance.now() });
    await vi.advanceTimersByTimeAsync(10_000);
    restarts.request("config", config);
    await vi.advanceTimersByTimeAsync(19_999);
    expect(due).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(due).toEqual([config]);
  });

  test("is off when every request was taken back, and may be asked for again", async () => {
    const { due, restarts } = setup();
    restarts.request("config", config);
    restarts.withdraw("config");
    await vi.advanceTimersByTimeAsync(60_000);
    expect([due, restarts.pending()]).toEqual([[], []]);
    restarts.request("config", config);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(due).toEqual([config]);
  });

  test("never comes after the end", async () => {
    const { due, holds, restarts } = setup();
    const held = holds.hold("run");
    restarts.request("config", config);
    restarts.dispose();
    await held.dispose();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(due).toEqual([]);
  });
});

test("holds are free when the last is disposed of, each counted once", async () => {
  const holds = createHolds();
  expect(await holds.whenFree(0)).toBe(true);
  const a = holds.hold("a");
  const b = holds.hold("b");
  const free = holds.whenFree(60_000);
  await a.dispose();
  await a.dispose();
  expect(holds.count()).toBe(1);
  expect(await holds.whenFree(60_000, AbortSignal.abort())).toBe(false);
  await b.dispose();
  expect(await free).toBe(true);
});
