import type { Agents, RunOutcome, RunRequest, StoreOp } from "svc/sdk";
import { eventually } from "svc/sdk/testing";
import { beforeEach, expect, test } from "vitest";
import { Spawns } from "./spawns.ts";

const parent = { agentId: "main", sessionKey: "agent:main:main", origin: "operator" as const };
const spawn = (task: string) => ({ agentId: "main", parent, task, timeoutMs: 900_000 });
let rows: Map<string, unknown>;
let running: Array<{ request: RunRequest; end(outcome: Partial<RunOutcome>): void }>;
let told: string[];
let sources: string[];
let refuse: string | undefined;
let life: AbortController;

beforeEach(() => {
  [rows, running, told, sources, refuse, life] = [new Map(), [], [], [], undefined, new AbortController()];
});

function open(): Spawns {
  const store = {
    kv: { list: async () => [...rows].map(([key, value]) => ({ key, value })) },
    async commit(ops: StoreOp[]) {
      for (const op of ops) {
        if (op.op === "kv.put") rows.set(op.key, op.value);
        if (op.op === "kv.delete") rows.delete(op.key);
      }
      return [];
    },
  };
  const agents: Pick<Agents, "run" | "systemEvent"> = {
    async run(request) {
      if (refuse !== undefined) throw new Error(refuse);
      const done = new Promise<RunOutcome>((resolve) => running.push({ request, end: (outcome) => resolve(outcome as RunOutcome) }));
      return { runId: request.runId, done } as Awaited<ReturnType<Agents["run"]>>;
    },
    async systemEvent({ text, source }) {
      told.push(text);
      sources.push(source);
      return "queued";
    },
  };
  return new Spawns({ store, agents, logger: { error: () => undefined }, signal: life.signal } as never);
}
const tasks = () => running.map(({ request }) => request.message);

test("four work, the fifth begins when one has ended, and each result is told once", async () => {
  const spawns = open();
  for (const task of ["a", "b", "c", "d", "e"]) await spawns.start(spawn(task));
  await eventually(() => running.length === 4);
  expect(tasks()).toEqual(["a", "b", "c", "d"]);
  running[1]?.end({ status: "ok", text: "b is done" });
  await eventually(() => running.length === 5);
  await eventually(() => rows.size === 4);
  expect(told).toEqual([
    expect.stringMatching(/^The helper agent:main:subagent:\S+ \("b"\) reports:\nSECURITY NOTICE: [\s\S]*---\nb is done\n<<<END_/),
  ]);
  for (const { end } of running) end({ status: "error", code: "TIMEOUT" });
  await eventually(() => rows.size === 0);
  expect(told.filter((text) => text.includes("---\nfailed: TIMEOUT\n"))).toHaveLength(4);
});

test("what the end of the gateway cut off is continued under the same id at the next start", async () => {
  const { sessionKey } = await open().start(spawn("a"));
  await eventually(() => running.length === 1);
  const first = running[0];
  life.abort();
  first?.end({ status: "error", code: "INTERRUPTED" });
  await eventually(() => rows.size === 1);
  life = new AbortController();
  await open().resume();
  await eventually(() => running.length === 2);
  expect(running[1]?.request).toMatchObject({ runId: first?.request.runId, resume: true, sessionKey, spawnedBy: parent.sessionKey });
  expect(told).toEqual([]);
  running[1]?.end({ status: "ok", text: "at last" });
  await eventually(() => rows.size === 0);
  expect(told).toHaveLength(1);
});

test("a run that is refused is told, and more than 64 helpers are too many", async () => {
  refuse = "no such model";
  const spawns = open();
  expect(await (await spawns.start(spawn("a"))).begun).toBeUndefined();
  await eventually(() => rows.size === 0);
  expect(told[0]).toContain("could not be started: no such model");
  refuse = undefined;
  const of = (asker: number, task: string) => ({ ...spawn(task), parent: { ...parent, sessionKey: `agent:main:asker-${asker}` } });
  for (let i = 0; i < 64; i++) await spawns.start(of(i % 4, `t${i}`));
  await expect(spawns.start(of(4, "one more"))).rejects.toThrow("64 helpers work or wait already");
});

test("one conversation has 16 helpers at most, and leaves places to the others", async () => {
  const spawns = open();
  for (let i = 0; i < 16; i++) await spawns.start(spawn(`t${i}`));
  await expect(spawns.start(spawn("one more"))).rejects.toThrow("16 helpers of this conversation work or wait already");
  await spawns.start({ ...spawn("another's"), parent: { ...parent, sessionKey: "agent:main:other" } });

  await eventually(() => running.length === 4);
  running[0]?.end({ status: "ok", text: "done" });
  await eventually(() => told.length === 1);
  await eventually(() => spawns.start(spawn("after one")));
});

test.each([
  ["operator", "spawn"],
  ["person", "spawn:person"],
  ["anybody", "spawn:anybody"],
] as const)("a report to a run of %s says as %s whose helper it is", async (origin, source) => {
  await open().start({ ...spawn("a"), parent: { ...parent, origin } });
  await eventually(() => running.length === 1);
  running[0]?.end({ status: "ok", text: "done" });
  await eventually(() => sources.length === 1);
  expect(sources).toEqual([source]);
});

test("a task that an earlier version stored, which kept no origin, has the rights of strangers", async () => {
  const { origin: _, ...old } = parent;
  rows.set("id", { ...spawn("a"), parent: old, runId: "id", sessionKey: "agent:main:subagent:id" });
  await open().resume();
  await eventually(() => running.length === 1);
  expect(running[0]?.request.origin).toBe("anybody");
});
