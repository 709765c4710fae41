import type { HealthPart } from "../../sdk/hooks.ts";
import { limits } from "../../sdk/protocol/frames.ts";
import { hasScope } from "../../sdk/scopes.ts";
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
  /** Why they are not, by part. */
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

/** Collects the parts of `health` from the kernel and from plugins, and keeps the result ready to send. */
export function createHealth(deps: {
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
}): Health {
  let cached: Snapshot | undefined;
  let stale = true;
  let collecting: { deep: boolean; done: Promise<void> } | undefined;
  let version = 1;
  let later: NodeJS.Timeout | undefined;
  /** The next collection is told of even if nothing changed. */
  let isAwaited = false;

  const collect = async (deep: boolean) => {
    const [ts, started] = [deps.now(), deps.monotonic()];
    stale = false;
    const parts = soundParts(await deps.collect(deep));
    const value = assembleHealth(deps.base(), parts, { ts, durationMs: Math.round(deps.monotonic() - started) });
    const changed = cached === undefined || healthSignature(cached.value) !== healthSignature(value);
    cached = {
      at: deps.monotonic(),
      heads: { full: headOf(value), open: headOf(withoutPaths(value)) },
      value,
      status: statusParts(parts),
      failing: parts.filter((p) => !p.ok).map((p) => p.part),
      problems: problemsOf(parts),
    };
    if (changed) version += 1;
    if (changed || isAwaited) publish(cached);
  };
  const refresh = async (deep: boolean): Promise<void> => {
    // A caller that wants a look in depth does not take the result of one that began without.
    if (collecting && deep && !collecting.deep) {
      await collecting.done.catch(() => undefined);
      return refresh(true);
    }
    if (!collecting) {
      const done = collect(deep)
        .catch((error: unknown) => {
          stale = true;
          throw error;
        })
        .finally(() => {
          collecting = undefined;
        });
      collecting = { deep, done };
    }
    await collecting.done;
  };
  const publish = ({ heads }: Snapshot) => {
    isAwaited = false;
    // Nodes hear nothing that they did not ask for.
    const reads = (paths: boolean) => (c: ClientInfo) => c.role === "operator" && hasScope(c.scopes, "operator.admin") === paths;
    deps.publish(`${heads.full},${liveText()}`, reads(true));
    deps.publish(`${heads.open},${liveText()}`, reads(false));
  };
  const ageOf = () => (cached ? deps.monotonic() - cached.at : Number.POSITIVE_INFINITY);
  const current = async (probe: boolean) => {
    const age = ageOf();
    if (probe || age > limits.healthCacheMs || (stale && age > MIN_AGE_MS)) await refresh(probe);
    return cached as Snapshot;
  };

  let live = { at: Number.NEGATIVE_INFINITY, text: "" };
  const liveText = () => {
    if (deps.monotonic() - live.at > MIN_AGE_MS) {
      const memory = process.memoryUsage();
      const figures = { eventLoop: deps.eventLoop(), memory: { rssBytes: memory.rss, heapUsedBytes: memory.heapUsed } };
      live = { at: deps.monotonic(), text: JSON.stringify(figures).slice(1) };
    }
    return live.text;
  };

  return {
    async text({ probe = false, paths = false } = {}) {
      const { heads } = await current(probe);
      return `${paths ? heads.full : heads.open},${liveText()}`;
    },
    async value() {
      const { value, status } = await current(false);
      return { health: { ...value, ...JSON.parse(`{${liveText()}`) }, status };
    },
    invalidate() {
      stale = true;
    },
    refresh() {
      stale = true;
      isAwaited = true;
      const waitMs = collecting ? MIN_AGE_MS : Math.max(0, MIN_AGE_MS - ageOf());
      later ??= setTimeout(() => {
        later = undefined;
        refresh(false).catch(deps.onFault);
      }, waitMs);
    },
    version: () => version,
    failing: () => cached?.failing ?? [],
    problems: () => cached?.problems ?? {},
    dispose() {
      clearTimeout(later);
    },
  };
}
