import { isRetryLater } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { withLimit } from "../../sdk/time.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { PluginCandidate, PluginProblem } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord, PluginReloadStatus, PluginState } from "../../sdk/types/plugin-record.ts";
import { isLazy } from "./activation.ts";
import type { LoadedCode } from "./code.ts";
import type { PluginEntry } from "./entry-change.ts";
import { hintFor, PluginFault, retryDelayMs } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import type { Instance } from "./instance.ts";
import { dropUnused, InstanceSteps, type RunningInstance } from "./instance-steps.ts";
import { outsideCalls } from "./leases.ts";
import type { PluginGraph } from "./needs.ts";
import { firstRecord } from "./plugin-summary.ts";

/** A use waits this long for the plugin that it loads. */
const FIRST_USE_MS = 30_000;
const SLOW_MS = 1_000;

/**
 * Instances of a plugin that exist, apart from the state that its record shows: the two differ while an instance starts, stops or gives way to another.
 *
 * ```text
 * empty ──→ setting-up ──→ empty ──→ running ⇄ replacing
 *   ⇅                                   │         │
 * retrying             empty ←──────────┘         └──→ setting-up   (unloaded while its successor was being set up)
 * ```
 */
type Occupancy =
  | { readonly kind: "empty" }
  /** Nothing runs; the plugin asked for another attempt later. */
  | { readonly kind: "retrying"; readonly attempt: number; readonly timer: NodeJS.Timeout }
  | { readonly kind: "setting-up"; readonly next: Instance }
  | { readonly kind: "running"; readonly current: RunningInstance }
  /** A successor is being set up beside the running instance. */
  | { readonly kind: "replacing"; readonly current: RunningInstance; readonly next: Instance };

const EMPTY: Occupancy = { kind: "empty" };

/** Other plugins and the gateway, as one plugin sees them. */
export interface Peers {
  graph(): PluginGraph;
  get(id: string): ManagedPlugin | undefined;
  /** Notes work that goes on after the answer: replaced instances that end. */
  retire(work: Promise<void>): void;
  onMove(): void;
  onActive(plugin: ManagedPlugin): void;
  /** The gateway stops: nothing begins any more, and nobody waits for calls in progress. */
  readonly stopping: AbortSignal;
}

/** Reason for a state, as the record shows it. */
interface Why {
  code: string;
  reason: string;
  hint?: string | undefined;
}

/** Result of a change: what became of the plugin, and why it did not become what was wanted. */
export type Outcome = { status: PluginReloadStatus; error?: unknown };
const gatewayStopping = { code: "dependency-failed", reason: "the gateway is stopping" } as const;

/** One plugin of a gateway: what was found, what is shown, what runs, and every transition between its states. */
export class ManagedPlugin {
  readonly id: string;
  readonly record: PluginRecord;
  candidate: PluginCandidate;
  /** Load order. */
  order: number;
  #occupancy: Occupancy = EMPTY;
  /** Code that the next instance is made from, unless its bytes have changed. */
  #code: LoadedCode | undefined;
  /** Numbers instances; never goes back. */
  #instances = 0;
  #tail: Promise<unknown> = Promise.resolve();
  readonly #host: LoaderHost;
  readonly #peers: Peers;
  readonly #steps: InstanceSteps;

  constructor(candidate: PluginCandidate, order: number, { host, peers }: { host: LoaderHost; peers: Peers }) {
    this.id = candidate.id;
    this.candidate = candidate;
    this.order = order;
    this.record = firstRecord(candidate, host.clock.now());
    this.#host = host;
    this.#peers = peers;
    this.#steps = new InstanceSteps(this, host);
  }

  /** True while an instance serves. */
  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /** Entry of `plugins.entries` that the running instance was created with. */
  get entry(): PluginEntry | undefined {
    return this.#current?.entry;
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
    const attempt = this.#cancelRetry() + 1;
    this.move("loading");
    try {
      await this.#loadAndStart();
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
    const current = this.#current;
    this.#host.activation.remove(this.id);
    this.#cancelRetry();
    if (current) {
      this.move("stopping");
      const down = this.#unload(current, "finish");
      // Nothing new reaches it any more. Only one that holds what nobody else may hold is waited for.
      if (this.candidate.manifest?.reload?.exclusive) await down;
      else this.#peers.retire(down);
    }
    this.move(problem.state, problem);
  }

  /** Offers the present config to the running instance; true when it took it. The caller runs it in turn. @throws {PluginFault} */
  async offerConfig(): Promise<boolean> {
    return this.#current !== undefined && this.#steps.offerConfig(this.#current);
  }

  /** Puts a new instance in the place of the running one. The caller runs it in turn. */
  async replace(code: "same" | "fresh"): Promise<Outcome> {
    let obtained = code === "same" ? this.#code : undefined;
    try {
      obtained ??= await this.#obtainCode();
      const old = this.#current;
      if (this.#isStopping || !old) return { status: "unchanged" };
      const isExclusive = this.candidate.manifest?.reload?.exclusive;
      const result = await (isExclusive ? this.#replaceExclusive(old, obtained) : this.#replaceBeside(old, obtained));
      // One that is being unloaded by another step is reported as that.
      if (!this.isRunning && "error" in result && this.record.state !== "stopping")
        this.move("failed", { code: "reload-failed", reason: messageOf(result.error) });
      return result;
    } catch (error) {
      return { status: error instanceof PluginFault && error.code === "restart-required" ? "restart-required" : "failed", error };
    } finally {
      void dropUnused(obtained, this.#code);
    }
  }

  /** Ends it because its code threw where nobody could catch it. False when nothing of it runs. */
  async fail(error: unknown): Promise<boolean> {
    const current = this.#current;
    const next = this.#next;
    // Out of the registries in this turn. What comes after it goes in turn with other steps of the plugin.
    if (current) this.move("stopping");
    const down = current && this.#unload(current, "cut");
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
    this.#cancelRetry();
    await this.#next?.dispose();
    const current = this.#current;
    if (!current) return;
    this.move("stopping");
    await this.#unload(current, "cut");
    this.move("disposed");
  }

  /** Gives up the code of a plugin that is gone. */
  forget(): void {
    const code = this.#code;
    this.#code = undefined;
    void dropUnused(code, undefined);
  }

  // Occupancy

  get #isStopping(): boolean {
    return this.#peers.stopping.aborted;
  }

  get #current(): RunningInstance | undefined {
    return "current" in this.#occupancy ? this.#occupancy.current : undefined;
  }

  /** Instance whose `setup` is in progress. */
  get #next(): Instance | undefined {
    return "next" in this.#occupancy ? this.#occupancy.next : undefined;
  }

  #occupy(current: RunningInstance | undefined, next: Instance | undefined): void {
    if (current) this.#occupancy = next ? { kind: "replacing", current, next } : { kind: "running", current };
    else this.#occupancy = next ? { kind: "setting-up", next } : EMPTY;
  }

  /** @returns number of attempts that were made before */
  #cancelRetry(): number {
    const occupancy = this.#occupancy;
    if (occupancy.kind !== "retrying") return 0;
    clearTimeout(occupancy.timer);
    this.#occupancy = EMPTY;
    return occupancy.attempt;
  }

  // Loading

  /** Plugins it cannot do without that wait for their first use. */
  #needsOnDemand(): string[] {
    const needs = this.#peers.graph().needs(this.id);
    return needs.filter((other) => this.#peers.get(other)?.record.state === "ready");
  }

  async #loadAndStart(): Promise<void> {
    const before = this.#code;
    this.#code = await this.#obtainCode();
    if (this.#code !== before) void dropUnused(before, this.#code);
    this.#assertNotStopping();
    const made = await this.#setUp(this.#code);
    if (this.#isStopping) await this.#end(made);
    this.#assertNotStopping();
    this.#occupy(made, undefined);
    this.#host.contributions.batch(() => made.instance.open());
    try {
      await this.#steps.start(made);
    } catch (error) {
      if (this.#current !== made) return; // unloaded meanwhile, and announced as that
      await this.#unload(made, "cut");
      throw error;
    }
    if (this.#current === made) this.#activate(made);
  }

  #assertNotStopping(): void {
    if (this.#isStopping) throw new PluginFault(gatewayStopping.code, gatewayStopping.reason);
  }

  #obtainCode(): Promise<LoadedCode> {
    return this.#steps.obtainCode(this.#code, (late) => void dropUnused(late, this.#code));
  }

  /** Config, context and `setup`; what it registers waits for `open`. @throws {PluginFault} */
  async #setUp(code: LoadedCode, entry = this.#steps.entry()): Promise<RunningInstance> {
    const { manifest, root, origin } = this.candidate;
    const config = await this.#steps.parseConfig(code, entry);
    this.#assertNotStopping();
    this.#instances += 1;
    const identity = {
      id: this.id,
      version: code.definition.version,
      instance: this.#instances,
      origin,
      root: code.folder ?? root,
      order: this.order,
      manifest,
      config,
      env: entry.env ?? {},
    };
    const instance = this.#host.createInstance(identity, () => this.#onDiagnostic());
    code.users += 1;
    try {
      this.#occupy(this.#current, instance);
      const lifecycle = await this.#steps.setUp(instance, code);
      instance.diagnostics.push(...code.refused.splice(0));
      return { instance, lifecycle, code, entry };
    } catch (error) {
      await this.#end({ instance, lifecycle: undefined, code });
      throw error;
    } finally {
      this.#occupy(this.#current, undefined);
    }
  }

  /** A registration was refused while an instance runs. */
  #onDiagnostic(): void {
    const last = this.#current?.instance.diagnostics.at(-1);
    if (last && this.record.state === "active") this.move("degraded", { code: last.code, reason: last.message });
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

  #retryLater(attempt: number, error: Error): void {
    const delayMs = retryDelayMs(attempt, this.#host.retryMs);
    const isDue = () => this.#occupancy.kind === "retrying" && !this.#isStopping;
    const again = () => this.serial(async () => (isDue() ? this.load() : undefined));
    this.#occupancy = { kind: "retrying", attempt, timer: setTimeout(() => void again(), delayMs) };
    const reason = `${messageOf(error)}; try ${attempt + 1} in ${Math.ceil(delayMs / 1000)} s`;
    this.move("retrying", { code: "retry-later", reason });
  }

  #fail(error: unknown): void {
    const fault = error instanceof PluginFault ? error : new PluginFault("setup-failed", messageOf(error), error);
    if (fault.cause instanceof Error) this.#host.logger.debug(`plugin "${this.id}"`, { error: fault.cause });
    this.move(fault.code === "integrity" ? "blocked" : "failed", { code: fault.code, reason: fault.message });
  }

  // Unloading

  /** Takes what runs out of the registries at once, then stops it: after its calls, within `drainMs`, when `calls` says so. */
  async #unload(current: RunningInstance, calls: "finish" | "cut"): Promise<void> {
    this.#occupy(undefined, this.#next);
    this.#host.contributions.batch(() => current.instance.close());
    await this.#end(current, calls);
    const left = this.isRunning ? [] : this.#host.contributions.ownedBy(this.id);
    if (left.length > 0) this.#host.logger.warn(`plugin "${this.id}" left behind: ${left.join(", ")}`, { code: "leak" });
  }

  /** Stops an instance that is in no registry and undoes what it did; never rejects. */
  async #end(made: Omit<RunningInstance, "entry">, calls: "finish" | "cut" = "cut"): Promise<void> {
    const { instance, code } = made;
    const drain = { limitMs: this.#host.config().plugins.reload.drainMs, cut: this.#peers.stopping };
    const left = await this.#steps.stop(made, calls === "finish" ? drain : undefined);
    if (left.length > 0) {
      this.#host.logger.warn(`plugin "${this.id}" left behind: ${left.join(", ")}`, { code: "leak" });
      this.record.diagnostics.push({ code: "leak", message: `a stopped instance left behind: ${left.join(", ")}` });
    }
    void instance.leases.idle().then(() => {
      code.users -= 1;
      return dropUnused(code, this.#code);
    });
  }

  // Replacing

  /**
   * Does everything that can fail beside the old instance, which serves on until the swap: one turn in which the registries change hands.
   * Calls in progress end on the old one, which is stopped after the last of them.
   */
  async #replaceBeside(old: RunningInstance, code: LoadedCode): Promise<Outcome> {
    const isWanted = () => this.#current === old && !this.#isStopping;
    let next: RunningInstance;
    try {
      next = await this.#startSuccessor(code, { isWanted, otherwise: "it was stopped meanwhile" });
    } catch (error) {
      return { status: "failed", error };
    }
    this.#swap(old, next);
    this.#peers.retire(this.#end(old, "finish"));
    return { status: "reloaded" };
  }

  /** Only one instance may hold what this plugin holds: the old one goes first, and comes back when the new one does not start. */
  async #replaceExclusive(old: RunningInstance, code: LoadedCode): Promise<Outcome> {
    const wanted = { isWanted: () => !this.#isStopping, otherwise: gatewayStopping.reason };
    try {
      await this.#steps.parseConfig(code); // what can be refused is refused before anything stops
    } catch (error) {
      return { status: "failed", error };
    }
    old.instance.close();
    this.#occupy(undefined, this.#next);
    await this.#end(old, "finish");
    try {
      this.#swap(undefined, await this.#startSuccessor(code, wanted));
      return { status: "reloaded" };
    } catch (error) {
      try {
        this.#swap(undefined, await this.#startSuccessor(old.code, wanted, old.entry));
        return { status: "rolled-back", error };
      } catch (again) {
        return { status: "failed", error: new Error(`${messageOf(error)}; the old one did not start again: ${messageOf(again)}`) };
      }
    }
  }

  /** Sets up and starts an instance that is in no registry yet; ends it when it does not start or is not wanted any more. */
  async #startSuccessor(
    code: LoadedCode,
    { isWanted, otherwise }: { isWanted(): boolean; otherwise: string },
    entry?: PluginEntry,
  ): Promise<RunningInstance> {
    const next = await this.#setUp(code, entry);
    try {
      await this.#steps.start(next);
      if (!isWanted()) throw new Error(otherwise);
    } catch (error) {
      await this.#end(next);
      throw error;
    }
    return next;
  }

  #swap(old: RunningInstance | undefined, next: RunningInstance): void {
    this.#host.contributions.batch(() => {
      old?.instance.close();
      next.instance.open();
    });
    const before = this.#code;
    this.#occupy(next, undefined);
    this.#code = next.code;
    this.#activate(next);
    void dropUnused(before, this.#code);
  }
}
