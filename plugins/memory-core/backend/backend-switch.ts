import {
  backoffDelayMs,
  type ContributionView,
  type Disposable,
  type Logger,
  type MemoryBackend,
  messageOf,
  type Timers,
  withLimit,
} from "svc/sdk";

/** Parts of the gateway that a switch needs. */
export interface SwitchHost {
  logger: Pick<Logger, "debug" | "info" | "warn">;
  timers: Pick<Timers, "setTimeout">;
  backends: Pick<ContributionView<MemoryBackend>, "get" | "ready">;
}

export interface SwitchOptions {
  agentId: string;
  /** Id of the backend that the config names. */
  backendId: string;
  /** Called when the builtin engine takes over, and when the backend answers again. */
  onChange(): void;
}

/** Decides for one agent whether its backend is asked, or the builtin engine in its place. */
export interface BackendSwitch extends Disposable {
  readonly backendId: string;
  /** Backend to ask; undefined while the builtin engine answers. */
  current(): MemoryBackend | undefined;
  /** Backend whether it works or not; undefined when no plugin offers it. */
  offered(): MemoryBackend | undefined;
  /** Backend that failed, and why; undefined while it answers. */
  fallback(): { from: string; reason: string } | undefined;
  /** Prepares the backend, and asks it again from then on. Never rejects. */
  start(): Promise<void>;
  /** A search failed. */
  failed(reason: string): void;
  /** A search was answered. */
  worked(): void;
}

const RETRY = { firstMs: 60_000, maxMs: 900_000 };
/** Time a backend has to become ready; work that takes longer goes on without anybody waiting. */
const START_MS = 60_000;

export function createBackendSwitch(host: SwitchHost, options: SwitchOptions): BackendSwitch {
  return new Switch(host, options);
}

class Switch implements BackendSwitch {
  readonly backendId: string;
  readonly #host: SwitchHost;
  readonly #options: SwitchOptions;
  readonly #ended = new AbortController();
  #reason: string | undefined;
  /** Since the last search that was answered. */
  #failures = 0;
  #retry: Disposable | undefined;

  constructor(host: SwitchHost, options: SwitchOptions) {
    this.#host = host;
    this.#options = options;
    this.backendId = options.backendId;
  }

  current(): MemoryBackend | undefined {
    return this.#reason === undefined ? this.offered() : undefined;
  }

  offered(): MemoryBackend | undefined {
    return this.#host.backends.get(this.backendId)?.value;
  }

  fallback(): { from: string; reason: string } | undefined {
    const reason = this.#reason ?? (this.offered() ? undefined : this.#missing());
    return reason === undefined ? undefined : { from: this.backendId, reason };
  }

  async start(): Promise<void> {
    void this.#retry?.dispose();
    const { signal } = this.#ended;
    try {
      await this.#host.backends.ready(this.backendId);
      const backend = this.offered();
      if (signal.aborted) return;
      if (!backend) return this.failed(this.#missing());
      const prepared = backend.sync(this.#options.agentId, { reason: "start", signal });
      await withLimit(prepared, START_MS, () => {
        throw new Error(`it was not ready within ${START_MS} ms`);
      });
    } catch (error) {
      if (!signal.aborted) this.failed(messageOf(error));
      return;
    }
    if (signal.aborted || this.#reason === undefined) return;
    this.#reason = undefined;
    this.#host.logger.info(`the memory backend "${this.backendId}" of agent "${this.#options.agentId}" is asked again`);
    this.#options.onChange();
  }

  failed(reason: string): void {
    if (this.#ended.signal.aborted) return;
    const { agentId } = this.#options;
    const waitMs = backoffDelayMs(++this.#failures, RETRY);
    const message = `the memory backend "${this.backendId}" of agent "${agentId}" gives no answer, so the builtin engine searches: ${reason}`;
    if (this.#failures === 1) this.#host.logger.warn(message);
    else this.#host.logger.debug(message, { retryMs: waitMs });
    const isNew = this.#reason === undefined;
    this.#reason = reason;
    void this.#retry?.dispose();
    this.#retry = this.#host.timers.setTimeout(() => void this.start(), waitMs);
    if (isNew) this.#options.onChange();
  }

  worked(): void {
    this.#failures = 0;
  }

  dispose(): void {
    this.#ended.abort();
    void this.#retry?.dispose();
  }

  #missing(): string {
    return `no plugin that runs offers a memory backend "${this.backendId}"; install or enable one, or set memory.backend to "builtin"`;
  }
}
