import type { HealthPart } from "../../sdk/hooks.ts";
import { hasScope } from "../../sdk/internal/scopes.ts";
import { limits } from "../../sdk/protocol/frames.ts";
import type { ClientInfo } from "../../sdk/types/rpc.ts";
import { assembleHealth, healthSignature, soundParts, statusParts, withoutPaths } from "./health-snapshot.ts";

export interface Health {
  /** The snapshot as JSON, at most 60 s old, with live event-loop and memory figures. `paths`: for an administrator. */
  text(options?: { probe?: boolean; paths?: boolean }): Promise<string>;
  /** The same as an object, paths included, and the parts that only `status` shows. */
  value(): Promise<{ health: Record<string, unknown>; status: Record<string, unknown> }>;
  invalidate(): void;
  /** Collects anew as soon as the last collection is a second old, and tells everybody; for what must not wait until somebody asks. */
  refresh(): void;
  version(): number;
  /** Parts that are not ok, for `/readyz`. */
  failing(): string[];
  /** Reasons why they are not, by part. */
  problems(): Record<string, string>;
  dispose(): void;
}

interface Snapshot {
  /** Monotonic. */
  at: number;
  /** JSON without its last brace, with and without paths. */
  heads: { full: string; open: string };
  value: Record<string, unknown>;
  status: Record<string, unknown>;
  failing: string[];
  problems: Record<string, string>;
}

/** Between two collections at least this long, however often somebody invalidates. */
const MIN_AGE_MS = 1_000;

function headOf(value: Record<string, unknown>): string {
  return JSON.stringify(value).slice(0, -1);
}

function problemsOf(parts: readonly HealthPart[]): Record<string, string> {
  return Object.fromEntries(parts.flatMap(({ part, ok, message }) => (ok || message === undefined ? [] : [[part, message]])));
}

export interface HealthDeps {
  collect(deep: boolean): Promise<HealthPart[]>;
  /** Epoch ms, for display. */
  now(): number;
  /** Clock for ages. */
  monotonic(): number;
  base(): Record<string, unknown>;
  /** Figures of the event loop as they are now. */
  eventLoop(): object;
  /** After a change and after each refresh, once for each kind of reader. */
  publish(text: string, only: (client: ClientInfo) => boolean): void;
  /** A collection that nobody waited for failed. */
  onFault(error: unknown): void;
}

/** Collects the parts of `health` from the kernel and from plugins, and keeps the result ready to send. */
export function createHealth(deps: HealthDeps): Health {
  return new HealthCollector(deps);
}

class HealthCollector implements Health {
  readonly #deps: HealthDeps;
  #cached: Snapshot | undefined;
  #isStale = true;
  #collecting: { deep: boolean; done: Promise<void> } | undefined;
  #version = 1;
  #later: NodeJS.Timeout | undefined;
  /** The next collection is published even if nothing changed. */
  #isAwaited = false;
  #live = { at: Number.NEGATIVE_INFINITY, text: "" };

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  async text({ probe = false, paths = false } = {}): Promise<string> {
    const { heads } = await this.#current(probe);
    return `${paths ? heads.full : heads.open},${this.#liveText()}`;
  }

  async value(): ReturnType<Health["value"]> {
    const { value, status } = await this.#current(false);
    return { health: { ...value, ...JSON.parse(`{${this.#liveText()}`) }, status };
  }

  // Both are passed on as callbacks.
  readonly invalidate = (): void => {
    this.#isStale = true;
  };
  readonly refresh = (): void => {
    this.#isStale = true;
    this.#isAwaited = true;
    const waitMs = this.#collecting ? MIN_AGE_MS : Math.max(0, MIN_AGE_MS - this.#age());
    this.#later ??= setTimeout(() => {
      this.#later = undefined;
      this.#renew(false).catch(this.#deps.onFault);
    }, waitMs);
  };

  version(): number {
    return this.#version;
  }

  failing(): string[] {
    return this.#cached?.failing ?? [];
  }

  problems(): Record<string, string> {
    return this.#cached?.problems ?? {};
  }

  dispose(): void {
    clearTimeout(this.#later);
  }

  #age(): number {
    return this.#cached ? this.#deps.monotonic() - this.#cached.at : Number.POSITIVE_INFINITY;
  }

  async #current(probe: boolean): Promise<Snapshot> {
    const age = this.#age();
    if (probe || age > limits.healthCacheMs || (this.#isStale && age > MIN_AGE_MS)) await this.#renew(probe);
    return this.#cached as Snapshot;
  }

  /** Collects once for everybody who waits. */
  async #renew(deep: boolean): Promise<void> {
    // A caller that wants a look in depth does not take the result of one that began without.
    if (this.#collecting && deep && !this.#collecting.deep) {
      await this.#collecting.done.catch(() => undefined);
      return this.#renew(true);
    }
    if (!this.#collecting) {
      const done = this.#collect(deep)
        .catch((error: unknown) => {
          this.#isStale = true;
          throw error;
        })
        .finally(() => {
          this.#collecting = undefined;
        });
      this.#collecting = { deep, done };
    }
    await this.#collecting.done;
  }

  async #collect(deep: boolean): Promise<void> {
    const { now, monotonic, base, collect } = this.#deps;
    const [ts, started] = [now(), monotonic()];
    this.#isStale = false;
    const parts = soundParts(await collect(deep));
    const value = assembleHealth(base(), parts, { ts, durationMs: Math.round(monotonic() - started) });
    const changed = this.#cached === undefined || healthSignature(this.#cached.value) !== healthSignature(value);
    this.#cached = {
      at: monotonic(),
      heads: { full: headOf(value), open: headOf(withoutPaths(value)) },
      value,
      status: statusParts(parts),
      failing: parts.filter((p) => !p.ok).map((p) => p.part),
      problems: problemsOf(parts),
    };
    if (changed) this.#version += 1;
    if (changed || this.#isAwaited) this.#publish(this.#cached);
  }

  #publish({ heads }: Snapshot): void {
    this.#isAwaited = false;
    // Nodes hear nothing that they did not ask for.
    const reads = (paths: boolean) => (c: ClientInfo) => c.role === "operator" && hasScope(c.scopes, "operator.admin") === paths;
    this.#deps.publish(`${heads.full},${this.#liveText()}`, reads(true));
    this.#deps.publish(`${heads.open},${this.#liveText()}`, reads(false));
  }

  #liveText(): string {
    const { monotonic, eventLoop } = this.#deps;
    if (monotonic() - this.#live.at > MIN_AGE_MS) {
      const memory = process.memoryUsage();
      const figures = { eventLoop: eventLoop(), memory: { rssBytes: memory.rss, heapUsedBytes: memory.heapUsed } };
      this.#live = { at: monotonic(), text: JSON.stringify(figures).slice(1) };
    }
    return this.#live.text;
  }
}
