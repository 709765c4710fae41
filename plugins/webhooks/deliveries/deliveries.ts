import {
  commonErrors,
  type DeliveryRow,
  type GatewayService,
  isSvcError,
  type Lease,
  messageOf,
  type PluginContext,
  settledWithin,
} from "svc/sdk";
import { sharedErrors, untilAvailable } from "svc/sdk/internal";
import { type Accepted, acceptAll, EXPIRY_MS, type Submission } from "./accept.ts";
import { createCompletionWaiters } from "./completion-waiters.ts";
import { type DeliveryDeps, PROCESSED_DIRS } from "./delivery-deps.ts";
import { type Completion, completionOf } from "./delivery-state.ts";
import { failDelivery } from "./fail-delivery.ts";
import { recover } from "./recover.ts";
import { DeliveryRunner, type TickFacts } from "./runner.ts";

/** A start waits no longer for rows of an earlier process; they are taken up when the storage lets it. */
const RECOVER_MS = 5_000;

/**
 * Accepted hook actions of one instance of the plugin: stored first, processed after, each step once as far as that can be known.
 * Nothing is processed before `start`.
 */
export class Deliveries {
  readonly #ctx: PluginContext;
  readonly #gateway: GatewayService;
  readonly #deps: DeliveryDeps;
  readonly #runner: DeliveryRunner;
  readonly #completions = createCompletionWaiters();
  /** Aborted at a stop. */
  readonly #leaving = new AbortController();
  #role: Lease | undefined;
  #starting: Promise<void> | undefined;

  constructor(ctx: PluginContext) {
    this.#ctx = ctx;
    this.#gateway = ctx.service("gateway@1");
    this.#deps = depsOf(ctx, `${this.#gateway.info().bootId}/${ctx.instance}`);
    countWaiting(ctx, this.#deps);
    this.#runner = new DeliveryRunner(this.#deps, (uid) => void this.#onEnd(uid));
    ctx.on("gateway.stopping", () => this.#runner.close());
    ctx.on("gateway.resumed", () => this.#runner.nudge());
  }

  /**
   * Makes all of them durable in one transaction, then they go their way. Resolves after fsync.
   * @throws {SvcError} `deliveries-full`, `system-events-full`, `storage-*`, `draining`: nothing is stored then
   */
  async accept(submissions: readonly Submission[]): Promise<Accepted[]> {
    if (this.#leaving.signal.aborted) throw sharedErrors.draining({}, { retryAfterMs: 2_000 });
    return acceptAll(submissions, { deps: this.#deps, onAccepted: (accepted) => this.#onAccepted(accepted) });
  }

  /** Resolves when the action has ended. Rejects with the signal's reason; that ends the wait, not the action. */
  async completion(runId: string, signal: AbortSignal): Promise<Completion> {
    // An end that is stored while the row is read would be missed by a caller that waits only after it.
    const over = new AbortController();
    const waiting = this.#completions.wait(runId, AbortSignal.any([signal, over.signal]));
    waiting.catch(() => undefined);
    try {
      return completionOf(await this.#known(runId)) ?? (await waiting);
    } finally {
      over.abort();
    }
  }

  /** @throws {SvcError} `unknown-delivery`, `delivery-state` unless it has failed or expired and its payload is still there */
  async retry(uid: string): Promise<void> {
    await this.#known(uid);
    const at = this.#ctx.clock.now();
    const from = ["failed", "expired"] as const;
    await this.#deps.store().commit([{ op: "delivery.requeue", uid, from, attempt: 0, expiresAt: at + EXPIRY_MS, at }]);
    this.#runner.nudge();
  }

  /** Gives up one that waits: it ends as failed, with a note. @throws {SvcError} `unknown-delivery`, `delivery-state` */
  async drop(uid: string): Promise<void> {
    const row = await this.#known(uid);
    const reason = "an operator gave it up";
    const options = { deps: this.#deps, signal: this.#leaving.signal };
    await failDelivery(row, { state: "failed", from: ["accepted"], isOwn: false, isAsked: true, reason }, options);
    await this.#onEnd(uid);
  }

  /** Begins to process what is there: first what an earlier boot left behind. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Timer over waiting actions; restarted if it has died. Undefined while nothing is processed. */
  tick(): TickFacts | undefined {
    return this.#runner.tick();
  }

  /** Takes nothing on any more, waits for the steps under way, 4 s at most. Rows stay. */
  async stop(): Promise<void> {
    this.#leaving.abort(sharedErrors.draining({}, { retryAfterMs: 2_000 }));
    this.#completions.close();
    await this.#runner.stop();
    // The next instance finds the rows that could not be given back.
    await this.#role
      ?.release()
      .catch((error: unknown) => this.#ctx.logger.debug("the role of the hook runner was not given back", { error: messageOf(error) }));
  }

  async #start(): Promise<void> {
    const resuming = this.#resume();
    resuming.catch((error: unknown) => {
      // The next call tries again.
      this.#starting = undefined;
      if (this.#leaving.signal.aborted) return;
      this.#ctx.logger.error("hook deliveries of an earlier process cannot be resumed", { error: String(error) });
    });
    await settledWithin(resuming, RECOVER_MS);
  }

  /** Becomes the one instance that processes, takes up what another has left, then begins; each as soon as the storage lets it. */
  async #resume(): Promise<void> {
    const { signal } = this.#leaving;
    const takeUp = async () => {
      // While the storage was away the role may have been lost; without it, what this instance runs itself would be found as left behind.
      if (!this.#role || this.#role.lost.aborted) this.#role = await this.#deps.acquire();
      return recover(this.#deps, signal);
    };
    const count = await untilAvailable(takeUp, signal, this.#deps);
    if (count > 0) this.#ctx.logger.warn(`${count} hook deliveries were in progress when an earlier process ended; they resume`);
    await untilAvailable(() => this.#runner.begin(), signal, this.#deps);
  }

  async #known(uid: string): Promise<DeliveryRow> {
    const row = await this.#deps.store().deliveries.get(uid);
    if (!row || !PROCESSED_DIRS.includes(row.dir)) throw commonErrors.unknownDelivery({ uid });
    return row;
  }

  #onAccepted(accepted: readonly Accepted[]): void {
    for (const one of accepted) if (one.kind === "agent" && !one.isReplay) this.#ctx.tracing.keep(one.runId);
    if (accepted.some((one) => one.kind === "agent" && !one.isReplay)) this.#runner.nudge();
    this.#gateway.invalidateHealth();
  }

  async #onEnd(uid: string): Promise<void> {
    this.#gateway.invalidateHealth();
    try {
      const row = await this.#deps.store().deliveries.get(uid);
      const completion = row && completionOf(row);
      if (completion) this.#completions.tell(uid, completion);
    } catch (error) {
      this.#ctx.logger.warn("the result of a hook delivery could not be read; its sender keeps waiting until its time limit", {
        uid,
        error: messageOf(error),
      });
    }
  }
}

/** A gauge is read at once, rows are not: it shows what was counted for the look before. */
function countWaiting(ctx: PluginContext, deps: DeliveryDeps): void {
  let waiting = 0;
  const count = async () => {
    const { accepted = 0, running = 0 } = (await deps.store().deliveries.counts()).byDir["hook-agent"] ?? {};
    waiting = accepted + running;
  };
  ctx.metrics.gauge({ name: "queue_depth", help: "Work that waits", labels: ["queue"] }, (set) => {
    set(waiting, "hooks");
    count().catch(() => undefined); // the storage's own figures say that it is away
  });
}

function depsOf(ctx: PluginContext, lease: string): DeliveryDeps {
  return {
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
}
