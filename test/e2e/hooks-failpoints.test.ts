import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { okText } from "../fakes/openai-scripts.ts";
import type { FakeOpenAi } from "../fakes/openai-server.ts";
import { gatewayIn, root, stopAll } from "./_cli.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import { brokenFiles, hooksHome, killed, markCounts, postHook, readState, startModel } from "./_hooks.ts";
import type { Home } from "./_process.ts";

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
};
const swept = process.env.SVC_TEST_LONG === "1" ? points : points.filter((point) => sameAs[point] === undefined);

/** What brings the work to a point: another model, or a first kill at another point. */
const wayTo: Record<string, { model?: string; firstKill?: string }> = {
  "hooks.before-requeue": { model: "401-once" },
  "hooks.after-requeue": { model: "401-once" },
  "hooks.before-note": { model: "tool-then-401" },
  "hooks.after-note": { model: "tool-then-401" },
  "hooks.before-give-up": { model: "tool-then-401" },
  "hooks.after-give-up": { model: "tool-then-401" },
  "hooks.before-recover": { firstKill: "hooks.after-claim" },
  "hooks.after-recover": { firstKill: "hooks.after-claim" },
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

const hook = { key: "k", body: { message: "mark:k: what is new?", name: "Sweep", deliver: true } };

test("the sweep knows points around accept, claim, each step and the end", () => {
  for (const step of ["accept", "claim", "run", "deliver", "summary", "heartbeat", "finish"]) expect(points.join(" ")).toContain(step);
  const named = [...Object.keys(wayTo), ...Object.entries(sameAs).flat()];
  expect(named.filter((point) => !points.includes(point))).toEqual([]);
  expect(Object.values(sameAs).filter((point) => !swept.includes(point))).toEqual([]);
});

async function killAt(point: string, post: boolean): Promise<string | undefined> {
  const gateway = await gatewayIn({ ...home, program: failing }, [], failingAt(`${point}=kill`));
  const answer = post ? await postHook(gateway.url, hook) : "unknown";
  expect(await killed(gateway), gateway.out.stderr.slice(-2_000)).toBe("SIGKILL");
  return answer === "unknown" ? undefined : String(answer.body.runId);
}

test.each(swept)("kill -9 at %s: the action is carried out once, or says that it was not", async (point) => {
  const { model: chosen, firstKill } = wayTo[point] ?? {};
  home = await hooksHome(model, chosen === undefined ? {} : { model: chosen });
  const told = firstKill === undefined ? undefined : await killAt(firstKill, true);
  const acknowledged = (await killAt(point, firstKill === undefined)) ?? told;

  const gateway = await gatewayIn(home);
  expect(await brokenFiles(home)).toEqual([]);
  const again = await postHook(gateway.url, { ...hook, body: { ...hook.body, waitForCompletion: true } });
  if (again === "unknown") throw new Error(gateway.out.stderr.slice(-2_000));
  const isFailure = chosen === "tool-then-401";
  expect(again).toMatchObject({ status: 200, body: { completion: { status: isFailure ? "error" : "ok" } } });
  if (acknowledged !== undefined) expect(again.body.runId).toBe(acknowledged);
  expect(again.headers.get("idempotent-replay")).toBe(point === "hooks.before-accept" ? null : "true");
  // The heartbeat that was asked for has read the summary, or the event still waits for it.
  await eventually(() => readState(home).lines.length > 0);
  expect(await gateway.kill("SIGTERM"), gateway.out.stderr.slice(-2_000)).toBe(0);

  const state = readState(home);
  const [row, ...others] = state.deliveries.filter((delivery) => delivery.dir === "hook-agent");
  expect(state.integrity).toBe("ok");
  expect(others).toEqual([]);
  expect(row).toMatchObject({ key: "k", uid: again.body.runId, state: isFailure ? "failed" : "done", lease: null, hasPayload: isFailure });
  expect([...state.lines, ...state.events].filter((text) => text.startsWith("Hook Sweep"))).toEqual([
    isFailure ? expect.stringMatching(/^Hook Sweep \(error\): /) : `Hook Sweep: ${okText}`,
  ]);
  const outgoing = state.deliveries.filter((delivery) => delivery.dir === "out");
  expect(outgoing).toMatchObject(isFailure ? [] : [{ uid: `${row?.uid}:out`, state: "done" }]);
  expect(state.messageIds.filter((id) => id.startsWith(`${row?.uid}:out`))).toHaveLength(isFailure ? 0 : 1);
  expect(state.notes.filter((text) => text.startsWith("Hook Sweep failed: "))).toHaveLength(isFailure ? 1 : 0);
  // Once for each try, and the calls of a tool.
  expect(markCounts(model).get("k") ?? 0).toBeLessThanOrEqual(isFailure ? 4 : 2);
  expect(state.userMessages.get(String(again.body.runId))).toBe(1);
});
