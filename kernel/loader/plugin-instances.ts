import { messageOf } from "../../sdk/errors.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord, PluginReloadStatus } from "../../sdk/types/plugin-record.ts";
import type { LoadedCode } from "./code.ts";
import type { PluginEntry } from "./entry-change.ts";
import { gatewayStopping, PluginFault } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import type { Instance } from "./instance.ts";
import { dropUnused, InstanceSteps, type RunningInstance } from "./instance-steps.ts";

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

/** Result of a change: what became of the plugin, and why it did not become what was wanted. */
export type Outcome = { status: PluginReloadStatus; error?: unknown };

/** Calls in progress of an instance that ends: they may finish within `drainMs`, or are cut. */
type CallsInProgress = "finish" | "cut";

/** Plugin that the instances belong to. */
interface Owner {
  readonly id: string;
  readonly candidate: PluginCandidate;
  readonly order: number;
  readonly record: PluginRecord;
}

/** Parts of the gateway around the instances of one plugin. */
export interface Surroundings {
  /** Notes work that goes on after the answer: replaced instances that end. */
  retire(work: Promise<void>): void;
  /** The gateway stops: nothing begins any more, and nobody waits for calls in progress. */
  readonly stopping: AbortSignal;
}

/** Listeners of changes that come with an instance. */
interface Listeners {
  /** An instance serves from now on. */
  onServing(instance: RunningInstance): void;
  /** A registration of the running instance was refused. */
  onRefused(): void;
  /** The running instance is gone, and its successor did not start. */
  onLost(error: unknown): void;
}

/** Code and instances of one plugin: loads, replaces and unloads them. The caller runs one step at a time. */
export class PluginInstances {
  #occupancy: Occupancy = EMPTY;
  /** Code that the next instance is made from, unless its bytes have changed. */
  #code: LoadedCode | undefined;
  /** Numbers instances; never goes back. */
  #made = 0;
  readonly #plugin: Owner;
  readonly #host: LoaderHost;
  readonly #around: Surroundings & Listeners;
  readonly #steps: InstanceSteps;

  constructor(plugin: Owner, host: LoaderHost, around: Surroundings & Listeners) {
    this.#plugin = plugin;
    this.#host = host;
    this.#around = around;
    this.#steps = new InstanceSteps(plugin, host);
  }

  /** Instance that serves. */
  get current(): RunningInstance | undefined {
    return "current" in this.#occupancy ? this.#occupancy.current : undefined;
  }

  /** Instance whose `setup` is in progress. */
  get next(): Instance | undefined {
    return "next" in this.#occupancy ? this.#occupancy.next : undefined;
  }

  /** Has another attempt made after `attempt` that failed; `again` is called with a check whether it is still wanted. */
  retryLater(attempt: number, delayMs: number, again: (isDue: () => boolean) => void): void {
    const isDue = () => this.#occupancy.kind === "retrying" && !this.#isStopping;
    this.#occupancy = { kind: "retrying", attempt, timer: setTimeout(() => again(isDue), delayMs) };
  }

  /** @returns number of attempts that were made before */
  cancelRetry(): number {
    const occupancy = this.#occupancy;
    if (occupancy.kind !== "retrying") return 0;
    clearTimeout(occupancy.timer);
    this.#occupancy = EMPTY;
    return occupancy.attempt;
  }

  // Loading

  /** Obtains the code, sets an instance up, opens it and starts it. @throws {PluginFault} */
  async load(): Promise<void> {
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
      if (this.current !== made) return; // unloaded meanwhile, and announced as that
      await this.unload(made, "cut");
      throw error;
    }
    if (this.current === made) this.#around.onServing(made);
  }

  /** Offers the present config to the running instance; true when it took it. @throws {PluginFault} */
  async offerConfig(): Promise<boolean> {
    return this.current !== undefined && this.#steps.offerConfig(this.current);
  }

  get #isStopping(): boolean {
    return this.#around.stopping.aborted;
  }

  #assertNotStopping(): void {
    if (this.#isStopping) throw new PluginFault(gatewayStopping.code, gatewayStopping.reason);
  }

  #occupy(current: RunningInstance | undefined, next: Instance | undefined): void {
    if (current) this.#occupancy = next ? { kind: "replacing", current, next } : { kind: "running", current };
    else this.#occupancy = next ? { kind: "setting-up", next } : EMPTY;
  }

  #obtainCode(): Promise<LoadedCode> {
    return this.#steps.obtainCode(this.#code, (late) => void dropUnused(late, this.#code));
  }

  /** Config, context and `setup`; what it registers waits for `open`. @throws {PluginFault} */
  async #setUp(code: LoadedCode, entry = this.#steps.entry()): Promise<RunningInstance> {
    const { id, order, candidate } = this.#plugin;
    const { manifest, root, origin } = candidate;
    const config = await this.#steps.parseConfig(code, entry);
    this.#assertNotStopping();
    this.#made += 1;
    const identity = {
      id,
      version: code.definition.version,
      instance: this.#made,
      origin,
      root: code.folder ?? root,
      order,
      manifest,
      config,
      env: entry.env ?? {},
    };
    const instance = this.#host.createInstance(identity, () => this.#around.onRefused());
    code.users += 1;
    try {
      this.#occupy(this.current, instance);
      const lifecycle = await this.#steps.setUp(instance, code);
      instance.diagnostics.push(...code.refused.splice(0));
      return { instance, lifecycle, code, entry };
    } catch (error) {
      await this.#end({ instance, lifecycle: undefined, code });
      throw error;
    } finally {
      this.#occupy(this.current, undefined);
    }
  }

  // Unloading

  /** Takes what runs out of the registries at once, then stops it: after its calls, within `drainMs`, when `calls` says so. */
  async unload(current: RunningInstance, calls: CallsInProgress): Promise<void> {
    const { id } = this.#plugin;
    this.#occupy(undefined, this.next);
    this.#host.contributions.batch(() => current.instance.close());
    await this.#end(current, calls);
    const left = this.current ? [] : this.#host.contributions.ownedBy(id);
    if (left.length > 0) this.#host.logger.warn(`plugin "${id}" left behind: ${left.join(", ")}`, { code: "leak" });
  }

  /** Gives up the code of a plugin that is gone. */
  forget(): void {
    const code = this.#code;
    this.#code = undefined;
    void dropUnused(code, undefined);
  }

  /** Stops an instance that is in no registry and undoes what it did; never rejects. */
  async #end(made: Omit<RunningInstance, "entry">, calls: CallsInProgress = "cut"): Promise<void> {
    const { instance, code } = made;
    const { id, record } = this.#plugin;
    const drain = { limitMs: this.#host.config().plugins.reload.drainMs, cut: this.#around.stopping };
    const left = await this.#steps.stop(made, calls === "finish" ? drain : undefined);
    if (left.length > 0) {
      this.#host.logger.warn(`plugin "${id}" left behind: ${left.join(", ")}`, { code: "leak" });
      record.diagnostics.push({ code: "leak", message: `a stopped instance left behind: ${left.join(", ")}` });
    }
    void instance.leases.idle().then(() => {
      code.users -= 1;
      return dropUnused(code, this.#code);
    });
  }

  // Replacing

  /** Puts a new instance in the place of the running one. */
  async replace(code: "same" | "fresh"): Promise<Outcome> {
    let obtained = code === "same" ? this.#code : undefined;
    try {
      obtained ??= await this.#obtainCode();
      const old = this.current;
      if (this.#isStopping || !old) return { status: "unchanged" };
      const isExclusive = this.#plugin.candidate.manifest?.reload?.exclusive;
      const result = await (isExclusive ? this.#replaceExclusive(old, obtained) : this.#replaceBeside(old, obtained));
      if (!this.current && "error" in result) this.#around.onLost(result.error);
      return result;
    } catch (error) {
      return { status: error instanceof PluginFault && error.code === "restart-required" ? "restart-required" : "failed", error };
    } finally {
      void dropUnused(obtained, this.#code);
    }
  }

  /**
   * Does everything that can fail beside the old instance, which serves on until the swap: one turn in which the registries change hands.
   * Calls in progress end on the old one, which is stopped after the last of them.
   */
  async #replaceBeside(old: RunningInstance, code: LoadedCode): Promise<Outcome> {
    const isWanted = () => this.current === old && !this.#isStopping;
    let next: RunningInstance;
    try {
      next = await this.#startSuccessor(code, { isWanted, otherwise: "it was stopped meanwhile" });
    } catch (error) {
      return { status: "failed", error };
    }
    this.#swap(old, next);
    this.#around.retire(this.#end(old, "finish"));
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
    this.#occupy(undefined, this.next);
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
    this.#around.onServing(next);
    void dropUnused(before, this.#code);
  }
}
