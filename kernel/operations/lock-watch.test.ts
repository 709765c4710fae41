import { describe, expect, test } from "vitest";
import type { LockRecord } from "../process/lock.ts";
import { createLockWatch } from "./lock-watch.ts";

type Kept = "kept" | "restored" | LockRecord;

function watching(...answers: Array<Kept | Error>) {
  const notReady = new Map<string, string>();
  const lines: string[] = [];
  const seen = { refreshed: 0, traces: 0 };
  const log = (message: string) => void lines.push(message);
  const watch = createLockWatch({
    lock: {
      keep: async () => {
        const next = answers.shift() ?? "kept";
        if (next instanceof Error) throw next;
        return next;
      },
    },
    logger: { trace: log, debug: log, info: log, warn: log, error: log, child: () => expect.unreachable() },
    notReady,
    keepTraces: async () => void seen.traces++,
    refresh: () => void seen.refreshed++,
  });
  return { watch, notReady, lines, seen };
}

const other = { pid: 4711 } as LockRecord;

describe("the lock of a running gateway", () => {
  test("that is there is not spoken of", async () => {
    const { watch, notReady, lines, seen } = watching("kept", "kept");

    await watch.look();
    await watch.look();

    expect([notReady.size, lines, seen]).toEqual([0, [], { refreshed: 0, traces: 2 }]);
  });

  test("that was damaged is written again, with one line in the log", async () => {
    const { watch, lines } = watching("restored", "kept");

    await watch.look();
    await watch.look();

    expect(lines).toEqual(["the lock of the state directory was removed or damaged; it was rewritten"]);
  });

  test("that another process has taken makes the gateway not ready until it is back", async () => {
    const { watch, notReady, lines, seen } = watching(other, other, "restored");

    await watch.look();
    await watch.look();
    expect(notReady.get("lock")).toContain("process 4711 took the lock");
    expect(watch.parts()).toEqual([{ part: "lock", ok: false, critical: true, message: notReady.get("lock") }]);
    expect([lines.length, seen]).toEqual([1, { refreshed: 1, traces: 0 }]);

    await watch.look();
    expect([notReady.size, watch.parts(), seen.refreshed]).toEqual([0, [], 2]);
  });

  test("that cannot be read does not end the looks", async () => {
    const { watch, lines } = watching(new Error("not allowed"), "kept");

    await watch.look();
    await watch.look();

    expect(lines).toEqual(["the lock of the state directory cannot be checked"]);
  });
});
