import { definePlugin, settledWithin } from "svc/sdk";
import { UsageCounter } from "./counter.ts";
import { registerUsageMethods } from "./rpc.ts";

/** A stop of the gateway waits so long for the last counts. */
const FLUSH_MS = 3_000;

/** Counts tokens and cost of runs by day, agent and model. */
export default definePlugin({
  id: "usage",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const counter = new UsageCounter({ store: () => ctx.service("store@2"), timers: ctx.timers, clock: ctx.clock, logger: ctx.logger });
    ctx.on("agent.end", ({ trigger, ...run }) => counter.add({ ...run, isReplay: trigger === "replay" }));
    registerUsageMethods(ctx, counter);
    ctx.on("gateway.stopping", () => settledWithin(counter.flushed(), FLUSH_MS));
    return { stop: () => settledWithin(counter.flushed(), FLUSH_MS) };
  },
});
