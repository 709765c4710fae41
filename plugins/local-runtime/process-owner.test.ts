import { expect, test } from "vitest";
import type { ProcessCall } from "./messages.ts";
import { createProcessOwner } from "./process-owner.ts";
import type { RuntimeProcess } from "./runtime-process.ts";

function stage() {
  const processes: Array<RuntimeProcess & { isUsable: boolean; calls: ProcessCall[] }> = [];
  const owner = createProcessOwner(() => {
    const process = {
      isUsable: true,
      calls: [] as ProcessCall[],
      call(call: ProcessCall) {
        process.calls.push(call);
        return { result: Promise.resolve({ finished: true as const }), settled: Promise.resolve() };
      },
      end: async () => {
        process.isUsable = false;
      },
    };
    processes.push(process);
    return process;
  });
  return { owner, processes };
}

test("all models share one process: each unloads itself, and the last one ends it", async () => {
  const { owner, processes } = stage();
  const [one, two] = [owner.model(), owner.model()];
  expect(processes).toHaveLength(1);
  await Promise.all([one.end(), one.end()]);
  expect(processes[0]).toMatchObject({ isUsable: true, calls: [{ unload: "0" }] });
  expect([one.isUsable, two.isUsable]).toEqual([false, true]);
  await two.end();
  expect(processes[0]).toMatchObject({ isUsable: false, calls: [{ unload: "0" }] });
});

test("after a process died, what was in it is of no use, and the next model starts another", async () => {
  const { owner, processes } = stage();
  const lost = owner.model();
  (processes[0] as { isUsable: boolean }).isUsable = false;
  expect(lost.isUsable).toBe(false);
  const next = owner.model();
  await lost.end();
  expect(processes).toHaveLength(2);
  expect(next.isUsable).toBe(true);
});
