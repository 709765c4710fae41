import { type Disposable, type EmbeddingAdapter, EmbeddingError, messageOf } from "svc/sdk";
import type { EmbeddingFailed, ProviderAssignment } from "../open-memory-index.ts";
import { PAUSE_MS } from "./circuit.ts";
import { createEmbedCalls, type EmbedCalls } from "./embed-calls.ts";
import { faultOf, type PlainEmbeddingFault } from "./embedding-fault.ts";
import { createGuardedCalls } from "./guarded-calls.ts";
import { type HeldProvider, holdProvider } from "./held-provider.ts";
import { limitedCall } from "./limited-call.ts";
import type { OpenedProvider, ProviderHost } from "./open-provider.ts";
import { type Choice, isOutdated, isSameProvider, type ProviderView, viewOf, wantsMore } from "./provider-choice.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { resolveRemote } from "./remote-secrets.ts";
import { adaptersOf, openPrimary, openStandIn, type Selection, selectProvider } from "./select-provider.ts";

/** The embedding provider of one agent: chosen, held, watched, replaced. */
export interface AgentProvider {
  /** Calls for the thread; their faults count. */
  readonly calls: EmbedCalls;
  /** Chooses on first use; resolves when there is an answer. Never rejects. */
  ready(): Promise<void>;
  view(): ProviderView;
  /** Chooses anew when the settings or a secret of them are other ones; in any case with `force`. */
  update(settings: ProviderSettings, options?: { force?: boolean }): void;
  /**
   * A plugin with adapters came, went or was replaced.
   * @param waiting one may be there now that is loaded on first use only
   */
  adaptersChanged(waiting?: boolean): void;
  /** A document could not be embedded after all retries. */
  indexingFailed(failed: EmbeddingFailed): void;
  /** Gives the primary provider another chance when a whole new index is requested. */
  forced(): Promise<void>;
  /** Embeds one query to see whether the provider answers, 10 s at most. Never rejects. */
  probe(): Promise<{ ok: boolean; ms: number; dims?: number; error?: string }>;
  close(): Promise<void>;
}

export interface AgentProviderOptions {
  agentId: string;
  settings: ProviderSettings;
  /** Called each time another provider embeds, or none, or one again. */
  onAssignment(assignment: ProviderAssignment): void;
}

/** Time a fallback stays before the primary is tried again, lest the index flaps between two vendors. */
const FALLBACK_MS = 3_600_000;
const PROBE_MS = 10_000;

export function createAgentProvider(host: ProviderHost, options: AgentProviderOptions): AgentProvider {
  return new ProviderKeeper(host, options);
}

class ProviderKeeper implements AgentProvider {
  readonly calls: EmbedCalls;
  readonly #host: ProviderHost;
  readonly #options: AgentProviderOptions;
  readonly #tried = new Set<EmbeddingAdapter>();
  #settings: ProviderSettings;
  #choice: Choice = { kind: "choosing" };
  /** Changes of the choice, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #chosen: Promise<void> | undefined;
  /** Settings that the choice was made from. */
  #madeFrom: string | undefined;
  #told: string | undefined;
  #lastError: string | undefined;
  #hasSwitched = false;
  /** Ends a pause. */
  #resume: Disposable | undefined;
  /** Ends the time of a fallback. */
  #return: Disposable | undefined;
  #isClosed = false;

  constructor(host: ProviderHost, options: AgentProviderOptions) {
    this.#host = host;
    this.#options = options;
    this.#settings = options.settings;
    this.calls = createGuardedCalls({
      clock: host.clock,
      signal: host.signal,
      held: () => this.#usable(),
      succeeded: (held) => this.#succeeded(held),
      failed: (held, fault) => this.#noteFault(held, fault),
      isDown: (held, fault) => this.#giveUp(held, fault),
    });
  }

  ready(): Promise<void> {
    this.#chosen ??= this.#enqueue(() => this.#choose({ reopen: true }));
    return this.#chosen;
  }

  view(): ProviderView {
    return viewOf(this.#choice, this.#settings, this.#lastError);
  }

  update(settings: ProviderSettings, { force = false } = {}): void {
    this.#settings = settings;
    if (!this.#chosen || this.#isClosed) return;
    this.#chosen = this.#enqueue(async () => {
      if (force || this.#madeFrom !== this.#fingerprint()) await this.#choose({ reopen: true });
    });
  }

  adaptersChanged(waiting = false): void {
    if (!this.#chosen || this.#isClosed) return;
    this.#chosen = this.#enqueue(async () => {
      const adapters = { adapters: adaptersOf(this.#host), tried: this.#tried };
      if (isOutdated(this.#choice, this.#settings, adapters)) await this.#choose({ reopen: true });
      else if (waiting && wantsMore(this.#choice, this.#settings)) await this.#choose({ reopen: false });
    });
  }

  indexingFailed({ provider, fault, message }: EmbeddingFailed): void {
    const held = this.#choice.kind === "held" ? this.#choice.held : undefined;
    if (held?.opened.facts.id !== provider) return;
    this.#lastError = message;
    this.#giveUp(held, { fault: fault as PlainEmbeddingFault["fault"], message });
  }

  async forced(): Promise<void> {
    await this.ready();
    const { held } = this.#choice.kind === "held" ? this.#choice : {};
    if (!held) return;
    if (held.fallback) await this.#enqueue(() => this.#tryPrimary());
    else held.circuit.resume();
    this.#tell();
  }

  async probe(): Promise<{ ok: boolean; ms: number; dims?: number; error?: string }> {
    await this.ready();
    const startedAt = this.#host.clock.monotonic();
    const ended = () => Math.round(this.#host.clock.monotonic() - startedAt);
    const { held } = this.#choice.kind === "held" ? this.#choice : {};
    if (!held) return { ok: false, ms: 0, error: this.view().error ?? "there is no embedding provider" };
    try {
      const vector = await this.#probe(held);
      held.circuit.succeeded();
      this.#lastError = undefined;
      this.#tell();
      return { ok: true, ms: ended(), dims: vector.length };
    } catch (error) {
      this.#noteFault(held, faultOf(error));
      return { ok: false, ms: ended(), error: messageOf(error) };
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimers();
    const choice = this.#choice;
    this.#choice = { kind: "choosing" };
    if (choice.kind === "held") await choice.held.opened.close();
    await this.#work;
  }

  #usable(): HeldProvider {
    if (this.#choice.kind === "held") return this.#choice.held;
    throw new EmbeddingError("no-credentials", this.view().error ?? "there is no embedding provider");
  }

  #succeeded(held: HeldProvider): void {
    held.circuit.succeeded();
    if (this.#isHeld(held)) this.#lastError = undefined;
  }

  #noteFault(held: HeldProvider, fault: PlainEmbeddingFault): void {
    if (!this.#isHeld(held)) return;
    this.#lastError = fault.message;
    if (fault.fault !== "auth") return;
    held.circuit.block(fault);
    this.#tell();
  }

  /** The provider is down for longer than a blip: the fallback takes over, once; without one it is left alone for a while. */
  #giveUp(held: HeldProvider, fault: PlainEmbeddingFault): void {
    if (!this.#isHeld(held)) return;
    if (fault.fault === "auth") held.circuit.block(fault);
    else held.circuit.pause(fault);
    if (this.#canSwitch(held)) {
      this.#hasSwitched = true;
      void this.#enqueue(() => this.#switch(held, fault));
      return;
    }
    this.#resumeLater();
    this.#tell();
  }

  #canSwitch(held: HeldProvider): boolean {
    return (
      this.#settings.fallback !== undefined && this.#settings.fallback !== held.opened.facts.id && !held.fallback && !this.#hasSwitched
    );
  }

  async #switch(held: HeldProvider, fault: PlainEmbeddingFault): Promise<void> {
    if (!this.#isHeld(held)) return;
    const from = held.opened.facts.id;
    try {
      const opened = await openStandIn(this.#host, this.#selecting(), from);
      this.#host.logger.warn(`embedding provider "${from}" failed (${fault.message}); "${opened.facts.id}" is used instead`);
      this.#hold(opened, { from, reason: fault.message });
      this.#tryPrimaryLater();
    } catch (error) {
      this.#lastError = `${fault.message}; fallback: ${messageOf(error)}`;
      this.#resumeLater();
      this.#tell();
    }
  }

  async #tryPrimary(): Promise<void> {
    const { held } = this.#choice.kind === "held" ? this.#choice : {};
    if (!held?.fallback) return;
    const opened = await this.#openAnsweringPrimary();
    if (!opened) return this.#tryPrimaryLater();
    this.#host.logger.info(`embedding provider "${opened.facts.id}" answers again`);
    this.#hasSwitched = false;
    this.#hold(opened);
  }

  /** The primary, if it embeds a query; undefined while it does not. */
  async #openAnsweringPrimary(): Promise<OpenedProvider | undefined> {
    let opened: OpenedProvider | undefined;
    try {
      const primary = await openPrimary(this.#host, this.#selecting());
      if (primary.kind !== "primary") return undefined;
      opened = primary.opened;
      await this.#probe({ calls: createEmbedCalls(this.#host, opened) });
      return opened;
    } catch {
      await opened?.close(); // its reason still stands in `fallback`
      return undefined;
    }
  }

  /** @param reopen another one takes the place of what is held even when it is the same: its keys may be other ones */
  async #choose({ reopen }: { reopen: boolean }): Promise<void> {
    if (this.#isClosed) return;
    this.#madeFrom = this.#fingerprint();
    this.#tried.clear();
    const selection = await selectProvider(this.#host, this.#selecting());
    if (reopen || !isSameProvider(this.#choice, selection)) this.#adopt(selection);
    else if ("opened" in selection) await selection.opened.close();
  }

  #adopt(selection: Selection): void {
    this.#hasSwitched = selection.kind === "stand-in";
    if (selection.kind === "primary") this.#hold(selection.opened);
    else if (selection.kind === "stand-in") {
      this.#hold(selection.opened, { from: selection.from, reason: selection.reason });
      this.#tryPrimaryLater();
    } else this.#put(selection);
  }

  #hold(opened: OpenedProvider, fallback?: HeldProvider["fallback"]): void {
    this.#put({ kind: "held", held: holdProvider(this.#host, opened, fallback) });
  }

  /** Puts another choice in force and ends what was held until now. */
  #put(choice: Choice): void {
    const before = this.#choice;
    this.#stopTimers();
    this.#lastError = undefined;
    this.#choice = this.#isClosed ? { kind: "choosing" } : choice;
    if (before.kind === "held") void before.held.opened.close();
    if (this.#isClosed && choice.kind === "held") void choice.held.opened.close();
    this.#tell();
  }

  #tell(): void {
    const assignment = this.#assignment();
    if (!assignment || this.#isClosed) return;
    const text = JSON.stringify(assignment);
    if (text === this.#told) return;
    this.#told = text;
    this.#options.onAssignment(assignment);
  }

  #assignment(): ProviderAssignment | undefined {
    const choice = this.#choice;
    if (choice.kind === "choosing") return undefined;
    if (choice.kind === "none") return { provider: null, keepVectors: !choice.isChoice };
    if (choice.kind === "unavailable") return { provider: null, keepVectors: true, reason: choice.error };
    const { opened, circuit } = choice.held;
    const outage = circuit.refusal();
    // While a fallback may still take over the thread keeps asking: its failures decide.
    if (outage && !this.#canSwitch(choice.held)) return { provider: null, keepVectors: true, reason: outage.message };
    return { provider: opened.facts, keepVectors: true };
  }

  #resumeLater(): void {
    void this.#resume?.dispose();
    if (!this.#isClosed) this.#resume = this.#host.timers.setTimeout(() => this.#tell(), PAUSE_MS + 1);
  }

  #tryPrimaryLater(): void {
    void this.#return?.dispose();
    if (!this.#isClosed) this.#return = this.#host.timers.setTimeout(() => void this.#enqueue(() => this.#tryPrimary()), FALLBACK_MS);
  }

  #stopTimers(): void {
    void this.#resume?.dispose();
    void this.#return?.dispose();
  }

  #probe({ calls }: Pick<HeldProvider, "calls">): Promise<Float32Array> {
    const { timers, signal } = this.#host;
    return limitedCall((s) => calls.embedQuery({ text: "svc" }, s), { timers, signal, limitMs: PROBE_MS, what: "the embedding provider" });
  }

  #isHeld(held: HeldProvider): boolean {
    return this.#choice.kind === "held" && this.#choice.held === held;
  }

  #selecting() {
    const tried = (adapter: EmbeddingAdapter) => void this.#tried.add(adapter);
    return { agentId: this.#options.agentId, settings: this.#settings, tried };
  }

  /** Equal for equal settings with equal secrets. */
  #fingerprint(): string {
    let remote: unknown;
    try {
      remote = resolveRemote(this.#settings.remote, this.#host.secret);
    } catch (error) {
      remote = messageOf(error);
    }
    return JSON.stringify([this.#settings, remote]);
  }

  #enqueue(change: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(change).catch((error: unknown) => {
      this.#host.logger.error(`choosing the embedding provider failed: ${messageOf(error)}`);
      if (this.#choice.kind === "choosing") this.#put({ kind: "unavailable", error: messageOf(error) });
    });
    return this.#work;
  }
}
