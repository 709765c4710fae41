import { createHash } from "node:crypto";
import { backoffDelayMs, type Clock, messageOf, type Timers } from "svc/sdk";
import { KeyedMutex } from "svc/sdk/internal";
import { takeLock } from "./embed-lock.ts";

/** Runs that make vectors, after updates. */
export interface EmbedSchedule {
  /** Starts a run in the background when one is due. @param force makes one due, and rebuilds all vectors when the model has changed */
  afterUpdate(options: { force: boolean }): void;
  readonly lastError: string | undefined;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
}

export interface EmbedScheduleOptions {
  agentId: string;
  /** Time between runs; 0: the first and forced ones only; undefined: none. */
  intervalMs: number | undefined;
  /** Other agents may embed the same folder, so this one does not begin with all of them. */
  hasSharedCollections: boolean;
  /** Lock of all gateways of this state directory. */
  lockPath: string;
  clock: Clock;
  timers: Pick<Timers, "setTimeout">;
  signal: AbortSignal;
  /** @param all rebuilds all vectors */
  embed(all: boolean, signal: AbortSignal): Promise<void>;
  /** The model is another one than that of the vectors. */
  isModelChanged(): boolean;
  onEmbedded(): void;
  warn(message: string): void;
}

/** Runs of this process, one at a time: models take all the memory and cores there are. */
const embedding = new KeyedMutex();

const BACKOFF = { firstMs: 60_000, maxMs: 3_600_000 };
/** Another process embeds: it is looked at again after this time. */
const LOCKED_MS = 30_000;
const MAX_JITTER_MS = 30_000;

export function createEmbedSchedule(options: EmbedScheduleOptions): EmbedSchedule {
  return new Schedule(options);
}

class Schedule implements EmbedSchedule {
  readonly #options: EmbedScheduleOptions;
  #running: Promise<void> | undefined;
  #retry: { dispose(): unknown } | undefined;
  /** Monotonic. */
  #embeddedAt: number | undefined;
  #notBefore = 0;
  #failures = 0;
  lastError: string | undefined;

  constructor(options: EmbedScheduleOptions) {
    this.#options = options;
    this.#notBefore = options.clock.monotonic() + (options.hasSharedCollections ? jitterMs(options.agentId) : 0);
  }

  afterUpdate({ force }: { force: boolean }): void {
    const { intervalMs, signal } = this.#options;
    if (intervalMs === undefined || this.#running || signal.aborted) return;
    if (!force && !this.#isDue(intervalMs)) return;
    const waitMs = force ? 0 : this.#notBefore - this.#options.clock.monotonic();
    if (waitMs > 0) this.#again(waitMs);
    else this.#start();
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  #isDue(intervalMs: number): boolean {
    if (this.#embeddedAt === undefined || this.#options.isModelChanged()) return true;
    return intervalMs > 0 && this.#options.clock.monotonic() - this.#embeddedAt >= intervalMs;
  }

  #again(waitMs: number): void {
    void this.#retry?.dispose();
    this.#retry = this.#options.timers.setTimeout(() => this.#start(), waitMs);
  }

  #start(): void {
    if (this.#running || this.#options.signal.aborted) return;
    void this.#retry?.dispose();
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    const { lockPath, signal, clock, warn } = this.#options;
    try {
      const isDone = await embedding.run(lockPath, () => this.#embedLocked());
      if (!isDone) return this.#again(LOCKED_MS);
      this.#failures = 0;
      this.#notBefore = 0;
      this.lastError = undefined;
      this.#embeddedAt = clock.monotonic();
      this.#options.onEmbedded();
    } catch (error) {
      if (signal.aborted) return;
      const waitMs = backoffDelayMs(++this.#failures, BACKOFF);
      this.#notBefore = clock.monotonic() + waitMs;
      if (this.lastError === undefined) warn(`vectors were not made: ${messageOf(error)}; the next try is in ${waitMs / 60_000} min`);
      this.lastError = messageOf(error);
      this.#again(waitMs);
    }
  }

  async #embedLocked(): Promise<boolean> {
    const { lockPath, signal } = this.#options;
    signal.throwIfAborted();
    const release = await takeLock(lockPath);
    if (!release) return false;
    try {
      await this.#options.embed(this.#options.isModelChanged(), signal);
      return true;
    } finally {
      await release();
    }
  }
}

/** Time that is always the same for one agent. Pure. */
export function jitterMs(agentId: string): number {
  return createHash("sha256").update(agentId).digest().readUInt32BE(0) % MAX_JITTER_MS;
}
