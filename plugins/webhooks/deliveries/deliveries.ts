import { commonErrors, isSvcError, type Lease, messageOf, type PluginContext, settledWithin } from "svc/sdk";
import { protocolErrors } from "svc/sdk/internal";
import { type Accepted, acceptAll, EXPIRY_MS, type Submission } from "./accept.ts";
import { createCompletionWaiters } from "./completion-waiters.ts";
import { type DeliveryDeps, PROCESSED_DIRS, untilAvailable } from "./delivery-deps.ts";
import { type Completion, completionOf } from "./delivery-state.ts";
import { failDelivery } from "./fail-delivery.ts";
import { recover } from "./recover.ts";
import { createRunner, type TickFacts } from "./runner.ts";

/** Accepted hook actions: stored first, processed after, each step once as far as that can be known. */
export interface Deliveries {
  /**
   * Makes all of them durable in one transaction, then they go their way. Resolves after fsync.
   * @throws {SvcError} `deliveries-full`, `system-events-full`, `storage-*`, `draining`: nothing is stored then
   */
  accept(submissions: readonly Submission[]): Promise<Accepted[]>;
  /** Resolves when the action has ended. Rejects with the signal's reason; that ends the wait, not the action. */
  completion(runId: string, signal: AbortSignal): Promise<Completion>;
  /** @throws {SvcError} `unknown-delivery`, `delivery-state` unless it has failed or expired and its payload is still there */
  retry(uid: string): Promise<void>;
  /** Gives up one that waits: it ends as failed, with a note. @throws {SvcError} `unknown-delivery`, `delivery-state` */
  drop(uid: string): Promise<void>;
  /** Begins to process what is there: first what an earlier boot left behind. */
  start(): Promise<void>;
  /** Takes nothing on any more, waits for the steps under way, 4 s at most. Rows stay. */
  stop(): Promise<void>;
  /** Timer over waiting actions; restarted if it has died. Undefined while nothing is processed. */
  tick(): TickFacts | undefined;
}

/** A start waits no longer for rows of an earlier process; they are taken up when the storage lets it. */
const RECOVER_MS = 5_000;

/** Accepted hook actions of one instance of the plugin. Nothing is processed before `start`. */
export function createDeliveries(ctx: PluginContext): Deliveries {
  const gateway = ctx.service("gateway@1");
  const lease = `${gateway.info().bootId}/${ctx.instance}`;
  const deps: DeliveryDeps = {
    ctx,
    lease,
    acquire: () => ctx.service("leases@1").acquire("deliveries:hooks", { owner: lease }),
    store: () => ctx.service("store@2"),
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
  const completions = createCompletionWaiters();
  const leaving = new AbortController();
  const onEnd = async (uid: string) => {
    gateway.invalidateHealth();
    try {
      const row = await deps.store().deliveries.get(uid);
      const completion = row && completionOf(row);
      if (completion) completions.tell(uid, completion);
    } catch (error) {
      ctx.logger.warn("the result of a hook delivery could not be read; its sender keeps waiting until its time limit", {
        uid,
        error: messageOf(error),
      });
    }
  };
  const runner = createRunner(deps, (uid) => void onEnd(uid));
  ctx.on("gateway.stopping", () => runner.close());
  ctx.on("gateway.resumed", () => runner.nudge());

  const known = async (uid: string) => {
    const row = await deps.store().deliveries.get(uid);
    if (!row || !PROCESSED_DIRS.includes(row.dir)) throw commonErrors.unknownDelivery({ uid });
    return row;
  };

  const onAccepted = (accepted: readonly Accepted[]) => {
    if (accepted.some((one) => one.kind === "agent" && !one.isReplay)) runner.nudge();
    gateway.invalidateHealth();
  };

  let role: Lease | undefined;
  let starting: Promise<void> | undefined;
  const start = async () => {
    const takeUp = async () => {
      // While the storage was away the role may have been lost; without it, what this instance runs itself would be found as left behind.
      if (!role || role.lost.aborted) role = await deps.acquire();
      return recover(deps, leaving.signal);
    };
    const recovering = untilAvailable(takeUp, leaving.signal, deps).then((count) => {
      if (count > 0) ctx.logger.warn(`${count} hook deliveries were in progress when an earlier process ended; they resume`);
      return untilAvailable(() => runner.begin(), leaving.signal, deps);
    });
    recovering.catch((error: unknown) => {
      starting = undefined;
      if (!leaving.signal.aborted) ctx.logger.error("hook deliveries of an earlier process cannot be resumed", { error: String(error) });
    });
    await settledWithin(recovering, RECOVER_MS);
  };

  return {
    accept(submissions) {
      if (leaving.signal.aborted) return Promise.reject(protocolErrors.draining({}, { retryAfterMs: 2_000 }));
      return acceptAll(submissions, { deps, onAccepted });
    },
    async completion(runId, signal) {
      // An end that is stored while the row is read would be missed by a caller that waits only after it.
      const over = new AbortController();
      const waiting = completions.wait(runId, AbortSignal.any([signal, over.signal]));
      waiting.catch(() => undefined);
      try {
        return completionOf(await known(runId)) ?? (await waiting);
      } finally {
        over.abort();
      }
    },
    async retry(uid) {
      await known(uid);
      const at = ctx.clock.now();
      const from = ["failed", "expired"] as const;
      await deps.store().commit([{ op: "delivery.requeue", uid, from, attempt: 0, expiresAt: at + EXPIRY_MS, at }]);
      runner.nudge();
    },
    async drop(uid) {
      const row = await known(uid);
      const reason = "an operator gave it up";
      const options = { deps, signal: leaving.signal };
      await failDelivery(row, { state: "failed", from: ["accepted"], isOwn: false, isAsked: true, reason }, options);
      await onEnd(uid);
    },
    start() {
      starting ??= start();
      return starting;
    },
    tick: () => runner.tick(),
    async stop() {
      leaving.abort(protocolErrors.draining({}, { retryAfterMs: 2_000 }));
      completions.close();
      await runner.stop();
      // The next instance finds the rows that could not be given back.
      await role
        ?.release()
        .catch((error: unknown) => ctx.logger.debug("the role of the hook runner was not given back", { error: messageOf(error) }));
    },
  };
}
