import { commonErrors, isSvcError, messageOf, type PluginContext, protocolErrors, settledWithin } from "svc/sdk";
import { acceptAll, EXPIRY_MS } from "./accept.ts";
import { completionOf } from "./completion.ts";
import { createCompletions } from "./completions.ts";
import type { Accepted, Deliveries } from "./deliveries.ts";
import { CARRIED, type DeliveryKit } from "./kit.ts";
import { untilTaken } from "./patience.ts";
import { recover } from "./recover.ts";
import { createRunner } from "./runner.ts";
import { giveUp } from "./steps/give-up.ts";

/** A start waits no longer for rows of an earlier process; they are taken up when the storage lets it. */
const RECOVER_MS = 5_000;

/** Accepted hook actions of one instance of the plugin. Nothing is carried out before `start`. */
export function createDeliveries(ctx: PluginContext): Deliveries {
  const gateway = ctx.service("gateway@1");
  const kit: DeliveryKit = {
    ctx,
    lease: `${gateway.info().bootId}/${ctx.instance}`,
    store: () => ctx.service("store@1"),
    agents: () => ctx.service("agents@1"),
    messaging() {
      try {
        return ctx.service("messaging@1");
      } catch (error) {
        if (isSvcError(error, "service-unavailable")) return undefined;
        throw error;
      }
    },
  };
  const completions = createCompletions();
  const leaving = new AbortController();
  const told = (uid: string) => {
    gateway.invalidateHealth();
    try {
      const row = kit.store().deliveries.get(uid);
      const completion = row && completionOf(row);
      if (completion) completions.tell(uid, completion);
    } catch (error) {
      ctx.logger.warn("the result of a hook delivery could not be read; its sender keeps waiting until its time limit", {
        uid,
        error: messageOf(error),
      });
    }
  };
  const runner = createRunner(kit, told);
  ctx.on("gateway.stopping", () => runner.close());
  ctx.on("gateway.resumed", () => runner.nudge());

  const known = (uid: string) => {
    const row = kit.store().deliveries.get(uid);
    if (!row || !CARRIED.includes(row.dir)) throw commonErrors.unknownDelivery({ uid });
    return row;
  };

  const onAccepted = (accepted: readonly Accepted[]) => {
    if (accepted.some((one) => one.kind === "agent" && !one.isReplay)) runner.nudge();
    gateway.invalidateHealth();
  };

  return {
    accept(submissions) {
      if (leaving.signal.aborted) return Promise.reject(protocolErrors.draining({}, { retryAfterMs: 2_000 }));
      return acceptAll(submissions, { kit, onAccepted });
    },
    async completion(runId, signal) {
      return completionOf(known(runId)) ?? completions.wait(runId, signal);
    },
    async retry(uid) {
      known(uid);
      const at = ctx.clock.now();
      const from = ["failed", "expired"] as const;
      await kit.store().commit([{ op: "delivery.requeue", uid, from, attempt: 0, expiresAt: at + EXPIRY_MS, at }]);
      runner.nudge();
    },
    async drop(uid) {
      const row = known(uid);
      const reason = "an operator gave it up";
      const options = { kit, signal: leaving.signal };
      await giveUp(row, { state: "failed", from: ["accepted"], isOwn: false, isAsked: true, reason }, options);
      told(uid);
    },
    async start() {
      const recovering = untilTaken(() => recover(kit, leaving.signal), leaving.signal, kit).then((count) => {
        if (count > 0) ctx.logger.warn(`${count} hook deliveries were in progress when an earlier process ended; they resume`);
        runner.begin();
      });
      recovering.catch((error: unknown) => {
        if (!leaving.signal.aborted) ctx.logger.error("hook deliveries of an earlier process cannot be resumed", { error: String(error) });
      });
      await settledWithin(recovering, RECOVER_MS);
    },
    tick: () => runner.tick(),
    async stop() {
      leaving.abort(protocolErrors.draining({}, { retryAfterMs: 2_000 }));
      completions.close();
      await runner.stop();
    },
  };
}
