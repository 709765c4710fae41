import { isRetryLater } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { withLimit } from "../../sdk/time.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { PluginCandidate, PluginProblem } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord, PluginState } from "../../sdk/types/plugin-record.ts";
import { isLazy } from "./activation.ts";
import type { PluginEntry } from "./entry-change.ts";
import { gatewayStopping, hintFor, PluginFault, retryDelayMs } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import type { RunningInstance } from "./instance-steps.ts";
import { outsideCalls } from "./leases.ts";
import type { PluginGraph } from "./needs.ts";
import { type Outcome, PluginInstances, type Surroundings } from "./plugin-instances.ts";
import { firstRecord } from "./plugin-summary.ts";

/** A use waits this long for the plugin that it loads. */
const FIRST_USE_MS = 30_000;
const SLOW_MS = 1_000;

/** Other plugins and the gateway, as one plugin sees them. */
export interface Peers extends Surroundings {
  graph(): PluginGraph;
  get(id: string): ManagedPlugin | undefined;
  onMove(): void;
  onActive(plugin: ManagedPlugin): void;
}

/** Reason for a state, as the record shows it. */
interface Why {
  code: string;
  reason: string;
  hint?: string | undefined;
}

/** One plugin of a gateway: what was found, what is shown, and every transition between its states. */
export class ManagedPlugin {
  readonly id: string;
  readonly record: PluginRecord;
  candidate: PluginCandidate;
  /** Load order. */
  order: number;
  #tail: Promise<unknown> = Promise.resolve();
  readonly #host: LoaderHost;
  readonly #peers: Peers;
  readonly #instances: PluginInstances;

  constructor(candidate: PluginCandidate, order: number, { host, peers }: { host: LoaderHost; peers: Peers }) {
    this.id = candidate.id;
    this.candidate = candidate;
    this.order = order;
    this.record = firstRecord(candidate, host.clock.now());
    this.#host = host;
    this.#peers = peers;
    this.#instances = new PluginInstances(this, host, {
      stopping: peers.stopping,
      retire: (work) => peers.retire(work),
      onServing: (instance) => this.#activate(instance),
      onRefused: () => this.#onRefused(),
      onLost: (error) => this.#onLost(error),
    });
  }

  /** True while an instance serves. */
  get isRunning(): boolean {
    return this.#instances.current !== undefined;
  }

  /** Entry of `plugins.entries` that the running instance was created with. */
  get entry(): PluginEntry | undefined {
    return this.#instances.current?.entry;
  }

  /** True for a plugin that failed only for want of another one. */
  get isWaiting(): boolean {
    const { state, code } = this.record;
    const isBlocked = state === "failed" && (code === "dependency-failed" || code === "missing-dependency");
    return isBlocked && !this.candidate.problem && !this.isRunning;
  }

  /** True for a plugin that is loaded on first use, unless one that starts with the gateway cannot do without it. */
  get mayWait(): boolean {
    const others = () => this.#peers.graph().dependents(this.id);
    return isLazy(this.candidate.manifest) && others().every((other) => isLazy(this.#peers.get(other)?.candidate.manifest));
  }

  /** Runs a step of this plugin after the steps before it. */
  serial<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(() => outsideCalls(run));
    this.#tail = done.catch(() => undefined);
    return done;
  }

  /** Resolves when the steps begun so far have ended. */
  async settled(): Promise<void> {
    await this.#tail;
  }

  // The state that people see

  /** Changes the state that people see. */
  move(state: PluginState, why?: Why): void {
    const { record } = this;
    const { logger, clock } = this.#host;
    const from = record.state;
    for (const key of ["code", "reason", "hint"] as const) delete record[key];
    const hint = why && (why.hint ?? hintFor(why.code, this.id));
    Object.assign(record, { state, since: clock.now() }, why && { code: why.code, reason: why.reason }, hint && { hint });
    this.#peers.onMove();
    if (state === "failed" && !this.#isStopping) logger.error(`plugin "${this.id}" failed: ${why?.reason}`, { code: why?.code });
    logger.debug("plugin state", () => ({ plugin: this.id, from, to: state, ...why, instance: record.instance }));
    this.#host.onState(record, from);
  }

  /** Marks a running plugin as degraded; nothing of it is taken away. */
  degrade(why: Why): void {
    if (this.record.state === "active" || this.record.state === "degraded") this.move("degraded", why);
  }

  /** Takes a mark of this code off a degraded plugin. */
  restore(code: string): void {
    if (this.isRunning && this.record.state === "degraded" && this.record.code === code) this.#unmark();
  }

  /** Lets the record follow the instance that runs now. */
  #activate({ instance, entry: { isolation } }: RunningInstance): void {
    const { identity, diagnostics } = instance;
    delete this.record.isolation;
    Object.assign(this.record, { instance: identity.instance, version: identity.version, diagnostics }, isolation && { isolation });
    this.#unmark();
    this.#peers.onActive(this);
  }

  /** Active again, or degraded by its first refused registration: any other mark is forgotten. */
  #unmark(): void {
    // Deprecated contributions still work.
    const first = this.record.diagnostics.find(({ code }) => !code.startsWith("SVC_DEP"));
    this.move(first ? "degraded" : "active", first && { code: first.code, reason: first.message });
  }

  /** A registration was refused while an instance runs. */
  #onRefused(): void {
    const last = this.#instances.current?.instance.diagnostics.at(-1);
    if (last && this.record.state === "active") this.move("degraded", { code: last.code, reason: last.message });
  }

  #onLost(error: unknown): void {
    // One that is being unloaded by another step is reported as that.
    if (this.record.state !== "stopping") this.move("failed", { code: "reload-failed", reason: messageOf(error) });
  }

  // Transitions

  /** Loads a plugin of which nothing runs, or records what it lacks. The caller runs it in turn. */
  async load(): Promise<void> {
    const { id, record } = this;
    const { activation, logger } = this.#host;
    await Promise.all(this.#needsOnDemand().map((other) => activation.useOf(other)));
    const unmet = this.#isStopping ? gatewayStopping : this.#peers.graph().unmet(id);
    if (unmet) {
      activation.remove(id);
      return this.move("failed", unmet);
    }
    const started = performance.now();
    const attempt = this.#instances.cancelRetry() + 1;
    this.move("loading");
    try {
      await this.#instances.load();
    } catch (error) {
      if (this.#isStopping) this.move("failed", gatewayStopping);
      else if (isRetryLater(error)) this.#retryLater(attempt, error);
      else this.#fail(error);
    }
    activation.remove(id);
    record.ms = Math.round(performance.now() - started);
    if (record.ms > SLOW_MS) logger.warn(`plugin "${id}" took ${record.ms} ms to load`, { slow: true });
  }

  /** Loads it at its first use. */
  loadOnUse(): void {
    const load = () => this.serial(async () => (this.isRunning ? undefined : this.load()));
    this.#host.activation.add(this.id, this.candidate.manifest as Manifest, () => withLimit(load(), FIRST_USE_MS, () => undefined));
  }

  /** Stops it by the operator's word, and cancels what would load it. The caller runs it in turn. */
  async switchOff(problem: PluginProblem): Promise<void> {
    const { current } = this.#instances;
    this.#host.activation.remove(this.id);
    this.#instances.cancelRetry();
    if (current) {
      this.move("stopping");
      const down = this.#instances.unload(current, "finish");
      // Nothing new reaches it any more. Only one that holds what nobody else may hold is waited for.
      if (this.candidate.manifest?.reload?.exclusive) await down;
      else this.#peers.retire(down);
    }
    this.move(problem.state, problem);
  }

  /** Offers the present config to the running instance; true when it took it. The caller runs it in turn. @throws {PluginFault} */
  offerConfig(): Promise<boolean> {
    return this.#instances.offerConfig();
  }

  /** Puts a new instance in the place of the running one. The caller runs it in turn. */
  replace(code: "same" | "fresh"): Promise<Outcome> {
    return this.#instances.replace(code);
  }

  /** Ends it because its code threw where nobody could catch it. False when nothing of it runs. */
  async fail(error: unknown): Promise<boolean> {
    const { current, next } = this.#instances;
    // Out of the registries in this turn. What comes after it goes in turn with other steps of the plugin.
    if (current) this.move("stopping");
    const down = current && this.#instances.unload(current, "cut");
    await next?.dispose(); // its setup fails by that, and is reported as failed
    if (!down) return next !== undefined;
    await this.serial(async () => {
      await down;
      if (!this.isRunning && this.record.state === "stopping") this.move("failed", { code: "uncaught", reason: messageOf(error) });
    });
    return true;
  }

  /** Ends it with the gateway. */
  async shutdown(): Promise<void> {
    this.#instances.cancelRetry();
    await this.#instances.next?.dispose();
    const { current } = this.#instances;
    if (!current) return;
    this.move("stopping");
    await this.#instances.unload(current, "cut");
    this.move("disposed");
  }

  /** Gives up the code of a plugin that is gone. */
  forget(): void {
    this.#instances.forget();
  }

  get #isStopping(): boolean {
    return this.#peers.stopping.aborted;
  }

  /** Plugins it cannot do without that wait for their first use. */
  #needsOnDemand(): string[] {
    const needs = this.#peers.graph().needs(this.id);
    return needs.filter((other) => this.#peers.get(other)?.record.state === "ready");
  }

  #retryLater(attempt: number, error: Error): void {
    const delayMs = retryDelayMs(attempt, this.#host.retryMs);
    this.#instances.retryLater(attempt, delayMs, (isDue) => void this.serial(async () => (isDue() ? this.load() : undefined)));
    const reason = `${messageOf(error)}; try ${attempt + 1} in ${Math.ceil(delayMs / 1000)} s`;
    this.move("retrying", { code: "retry-later", reason });
  }

  #fail(error: unknown): void {
    const fault = error instanceof PluginFault ? error : new PluginFault("setup-failed", messageOf(error), error);
    if (fault.cause instanceof Error) this.#host.logger.debug(`plugin "${this.id}"`, { error: fault.cause });
    this.move(fault.code === "integrity" ? "blocked" : "failed", { code: fault.code, reason: fault.message });
  }
}
