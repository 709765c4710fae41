/**
 * Plugin inside the gateway of the suite `agents`: a model and a tool that answer at once, the same work without a run loop around it, and a watch for the
 * longest step of the main thread.
 */
import { definePlugin, z } from "svc/sdk";
import { bareCalls, scriptedAnswer } from "./scripted-model.mjs";
import { watchSteps } from "./steps.mjs";

const note = z.strictObject({ n: z.number() });

export default definePlugin({
  id: "load",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    const run = (message, sessionKey) => ctx.service("agents@1").run({ message, sessionKey, trigger: "user", actor });
    let watch;
    ctx.registerModelProvider({
      id: "script",
      name: "Script",
      defaultModel: "instant",
      models: () => [{ id: "instant", name: "Instant", input: ["text"], contextWindow: 1_000_000 }],
      available: () => ({ ok: true }),
      stream: scriptedAnswer,
    });
    ctx.registerTool({ name: "note", description: "Notes a number.", input: note, run: ({ n }) => `noted ${n}` });
    const method = (name, params, handler) =>
      ctx.registerRpc({ method: `load.${name}`, scope: "admin", params: z.strictObject(params), handler });

    method("calls", { calls: z.number(), sessionKey: z.string() }, async ({ calls, sessionKey }) => {
      const begun = performance.now();
      const outcome = await (await run(`calls:${calls}`, sessionKey)).done;
      check(outcome, `done after ${calls}`);
      return { ms: performance.now() - begun };
    });
    method("bare", { calls: z.number() }, async ({ calls }) => {
      const begun = performance.now();
      await bareCalls(calls, () => undefined);
      return { ms: performance.now() - begun };
    });
    method("runs", { count: z.number(), inFlight: z.number(), prefix: z.string() }, async ({ count, inFlight, prefix }) => {
      let next = 0;
      const lane = async () => {
        while (next < count) check(await (await run("calls:0", `agent:main:${prefix}-${next++}`)).done, "done after 0");
      };
      const begun = performance.now();
      await Promise.all(Array.from({ length: inFlight }, lane));
      return { ms: performance.now() - begun };
    });
    method("fill", { sessionKey: z.string(), rows: z.array(z.any()) }, async ({ sessionKey, rows }) => {
      const { sessionId } = await ctx.service("store@2").sessions.get(sessionKey);
      await ctx.service("store@2").commit(rows.map((row) => ({ op: "message.append", message: { ...row, sessionId } })));
      return {};
    });
    method("jobs", { count: z.number(), everyMs: z.number(), firstAtMs: z.number() }, async (wanted) => {
      await ctx
        .service("store@2")
        .commit(jobsOf(wanted).map((job) => ({ op: "kv.put", scope: "gateway/cron", key: `job/${job.id}`, value: job })));
      return {};
    });
    method("watch", {}, () => {
      watch = watchSteps();
      return {};
    });
    method("watched", {}, () => ({ longestMs: watch.end() }));
  },
});

const actor = { kind: "rpc", scopes: ["operator.admin"] };

function check({ status, text, error }, expected) {
  if (status !== "ok" || text !== expected) throw new Error(`a run ended with ${status}: ${error ?? text}`);
}

/** Rows of jobs that are due at the same moments. */
function jobsOf({ count, everyMs, firstAtMs }) {
  return Array.from({ length: count }, (_, i) => ({
    ...{ id: `job-${i}`, name: `job ${i}`, enabled: true, schedule: { kind: "every", everyMs, anchorMs: firstAtMs } },
    ...{ sessionTarget: "isolated", wakeMode: "next-heartbeat", payload: { kind: "agentTurn", message: "calls:0" } },
    ...{ state: { nextRunAtMs: firstAtMs, consecutiveErrors: 0 }, createdAtMs: firstAtMs, updatedAtMs: firstAtMs, configRevision: 1 },
  }));
}
