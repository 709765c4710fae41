import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { okText } from "../fakes/openai-scripts.ts";
import type { FakeOpenAi } from "../fakes/openai-server.ts";
import { gatewayIn, root, stopAll } from "./_cli.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import { gatewayHere, type RunningHere } from "./_gateway-here.ts";
import { brokenFiles, hooksHome, killed as killSignal, markCounts, postHook, readState, type StoredState, startModel } from "./_hooks.ts";
import type { Home, Running } from "./_process.ts";

/** Every point that the plugin names, read from its source: a new one is swept without being listed here. */
const folder = join(root, "plugins", "webhooks");
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
);
const points = [
  ...new Set(
    sources.flatMap((name) =>
      [...readFileSync(join(folder, name), "utf8").matchAll(/reached\("(hooks\.[\w-]+)"\)/g)].map((m) => m[1] ?? ""),
    ),
  ),
].toSorted();

/** Points between which and the one before them nothing is written: a kill there leaves the same files, and is swept by `SVC_TEST_LONG=1` only. */
const sameAs: Record<string, string> = {
  "hooks.before-claim": "hooks.after-accept",
  "hooks.before-run": "hooks.after-claim",
  "hooks.before-deliver": "hooks.after-run-step",
  "hooks.before-summary": "hooks.after-deliver-step",
  "hooks.before-heartbeat": "hooks.after-summary",
  "hooks.before-give-up": "hooks.after-note",
  // On the way there is a first kill at that point.
  "hooks.before-recover": "hooks.after-claim",
};
const swept = process.env.SVC_TEST_LONG === "1" ? points : points.filter((point) => sameAs[point] === undefined);

/** Conditions that lead the work to a point: another model, or a first kill at another point. */
const wayTo: Record<string, { model?: string; firstKill?: string }> = {
  "hooks.before-requeue": { model: "401-once" },
  "hooks.after-requeue": { model: "401-once" },
  "hooks.before-note": { model: "tool-then-401" },
  "hooks.after-note": { model: "tool-then-401" },
  "hooks.before-give-up": { model: "tool-then-401" },
  "hooks.after-give-up": { model: "tool-then-401" },
  "hooks.before-recover": { firstKill: "hooks.after-claim" },
};

/** `bin/svc.mjs` of the product with failpoints. */
let failing: string;
beforeAll(async () => {
  failing = await buildFailing();
});

let model: FakeOpenAi;
let home: Home;
beforeEach(async () => {
  model = await startModel();
});
afterEach(async () => {
  await stopAll();
  await model.close();
});

/**
 * Steps of an action that succeeds, the last first: what goes on after a kill at one of them comes to none that is named after it. So the gateway that goes on is
 * the one that is killed next. With each, how often that gateway passes there for the action before.
 */
const chain = [
  ["hooks.after-finish", 0],
  ["hooks.before-finish", 0],
  ["hooks.after-summary", 0],
  ["hooks.after-deliver-step", 0],
  ["hooks.after-deliver", 0],
  ["hooks.after-run-step", 0],
  ["hooks.after-run", 0],
  ["hooks.after-claim", 1], // claimed anew
  ["hooks.after-recover", 0], // on its way to the action before: nothing is sent to it
  ["hooks.after-accept", 1], // asked once more
  ["hooks.before-accept", 1],
] as const;
const alone = swept.filter((point) => chain.every(([own]) => own !== point));

test("the sweep knows points around accept, claim, each step and the end", () => {
  for (const step of ["accept", "claim", "run", "deliver", "summary", "heartbeat", "finish"]) expect(points.join(" ")).toContain(step);
  const named = [...Object.keys(wayTo), ...Object.entries(sameAs).flat(), ...chain.map(([point]) => point)];
  expect(named.filter((point) => !points.includes(point))).toEqual([]);
  expect(Object.values(sameAs).filter((point) => !swept.includes(point))).toEqual([]);
});

const hookFor = (key: string) => ({ key, body: { message: `mark:${key}: what is new?`, name: `Sweep ${key}`, deliver: true } });

/** Starts a gateway that ends at a point. */
const failingGateway = (point: string, time = 1) => gatewayIn({ ...home, program: failing }, [], failingAt(`${point}=kill@${time}`));

/** @returns id of the run, when the sender was told of it */
async function killed(gateway: Running, point: string, key?: string): Promise<string | undefined> {
  const answer = key === undefined ? "unknown" : await postHook(gateway.url, hookFor(key));
  const { child, out } = gateway;
  await eventually(() => child.exitCode !== null || child.signalCode !== null, 60_000).catch(() => {
    throw new Error(`the gateway did not come to ${point}: ${out.stderr.slice(-2_000)}`);
  });
  expect(await killSignal(gateway), `${point}: ${out.stderr.slice(-2_000)}`).toBe("SIGKILL");
  return answer === "unknown" ? undefined : String(answer.body.runId);
}

interface Sent {
  key: string;
  point: string;
  acknowledged: string | undefined;
  isFailure?: boolean;
}

/** Sends it once more, and waits for its end. @returns id of its run */
async function sentAgain(gateway: Pick<Running, "url" | "out">, { key, point, acknowledged, isFailure = false }: Sent): Promise<string> {
  const hook = hookFor(key);
  const again = await postHook(gateway.url, { ...hook, body: { ...hook.body, waitForCompletion: true } });
  if (again === "unknown") throw new Error(gateway.out.stderr.slice(-2_000));
  expect(again, point).toMatchObject({ status: 200, body: { completion: { status: isFailure ? "error" : "ok" } } });
  if (acknowledged !== undefined) expect(again.body.runId, point).toBe(acknowledged);
  expect(again.headers.get("idempotent-replay"), point).toBe(point === "hooks.before-accept" ? null : "true");
  return String(again.body.runId);
}

/** Summaries of an action among these texts; `k1` is not `k10`. */
const summariesOf = (key: string, texts: string[]) =>
  texts.filter((text) => text.startsWith(`Hook Sweep ${key}:`) || text.startsWith(`Hook Sweep ${key} `));

/** @param lastKey that of the action sent last */
async function stopped(gateway: RunningHere, lastKey: string): Promise<StoredState> {
  // The heartbeat that was asked for has read the summary.
  await eventually(() => summariesOf(lastKey, readState(home).lines).length > 0);
  expect(await gateway.stop(), gateway.out.stderr.slice(-2_000)).toBe(0);
  const state = readState(home);
  expect(state.integrity).toBe("ok");
  return state;
}

function expectOnce(state: StoredState, { key, point, isFailure = false }: Sent, runId: string): void {
  const [row, ...others] = state.deliveries.filter((delivery) => delivery.dir === "hook-agent" && delivery.key === key);
  expect(others, point).toEqual([]);
  expect(row, point).toMatchObject({ uid: runId, state: isFailure ? "failed" : "done", lease: null, hasPayload: isFailure });
  expect(summariesOf(key, [...state.lines, ...state.events]), point).toEqual([
    isFailure ? expect.stringContaining(`Hook Sweep ${key} (error): `) : `Hook Sweep ${key}: ${okText}`,
  ]);
  const outgoing = state.deliveries.filter((delivery) => delivery.dir === "out" && delivery.uid.startsWith(runId));
  expect(outgoing, point).toMatchObject(isFailure ? [] : [{ uid: `${runId}:out`, state: "done" }]);
  expect(
    state.messageIds.filter((id) => id.startsWith(`${runId}:out`)),
    point,
  ).toHaveLength(isFailure ? 0 : 1);
  expect(
    state.notes.filter((text) => text.startsWith(`Hook Sweep ${key} failed: `)),
    point,
  ).toHaveLength(isFailure ? 1 : 0);
  // Once for each try, and the calls of a tool.
  expect(markCounts(model).get(key) ?? 0, point).toBeLessThanOrEqual(isFailure ? 4 : 2);
  expect(state.userMessages.get(runId), point).toBe(1);
}

test(`kill -9 at ${chain.length} points of actions that follow each other, one of them in the middle of a recovery: each is carried out once`, {
  timeout: 240_000,
}, async () => {
  home = await hooksHome(model);
  const sent: Sent[] = [];
  const runs: string[] = [];
  const goOn = async (gateway: Pick<Running, "url" | "out">) => {
    const before = sent.at(-1);
    expect(await brokenFiles(home)).toEqual([]);
    if (before) runs.push(await sentAgain(gateway, before));
  };
  for (const [i, [point, passes]] of chain.entries()) {
    const gateway = await failingGateway(point, 1 + passes);
    if (point === "hooks.after-recover") {
      await killed(gateway, point);
      continue;
    }
    await goOn(gateway);
    const key = `k${i}`;
    sent.push({ key, point, acknowledged: await killed(gateway, point, key) });
  }
  const gateway = await gatewayHere(home);
  await goOn(gateway);
  const state = await stopped(gateway, `k${chain.length - 1}`);
  expect(state.deliveries.filter((delivery) => delivery.dir === "hook-agent")).toHaveLength(sent.length);
  for (const [i, one] of sent.entries()) expectOnce(state, one, runs[i] ?? "");
});

test.each(alone)("kill -9 at %s: the action is carried out once, or says that it was not", async (point) => {
  const { model: chosen, firstKill } = wayTo[point] ?? {};
  home = await hooksHome(model, chosen === undefined ? {} : { model: chosen });
  const told = firstKill === undefined ? undefined : await killed(await failingGateway(firstKill), firstKill, "k");
  const acknowledged = (await killed(await failingGateway(point), point, firstKill === undefined ? "k" : undefined)) ?? told;

  const gateway = await gatewayHere(home);
  expect(await brokenFiles(home)).toEqual([]);
  const sent = { key: "k", point, acknowledged, isFailure: chosen === "tool-then-401" };
  const runId = await sentAgain(gateway, sent);
  const state = await stopped(gateway, "k");
  expect(state.deliveries.filter((delivery) => delivery.dir === "hook-agent")).toHaveLength(1);
  expectOnce(state, sent, runId);
});
