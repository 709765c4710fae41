import {
  type Agents,
  type DeliveryDir,
  isSvcError,
  type Lease,
  type Messaging,
  type OpResult,
  type PluginContext,
  type Store,
  type StoreOp,
  sleep,
} from "svc/sdk";

/** Rows that are processed here; wakes are done when they are accepted. */
export const PROCESSED_DIRS: readonly DeliveryDir[] = ["hook-agent"];

/** Dependencies shared by the parts of this folder. Services are asked for at each use: a provider may be replaced. */
export interface DeliveryDeps {
  readonly ctx: Pick<PluginContext, "clock" | "timers" | "logger">;
  /** Owner of claimed rows: this instance of the plugin in this boot. What another one has claimed, and did not end, is found as left behind. */
  readonly lease: string;
  /** Acquires the role of the one instance that processes; an earlier one loses it. */
  acquire(): Promise<Lease>;
  store(): Store;
  agents(): Agents;
  /** Undefined where nobody carries messages. */
  messaging(): Messaging | undefined;
}

/** Codes by which nothing about the work is wrong: its receiver cannot take it at the moment. */
const transient = ["draining", "busy", "service-unavailable", "deliveries-full"];
const FIRST_PAUSE_MS = 250;
/** Short, so that work goes on within seconds after a full disk has space again. */
const MAX_PAUSE_MS = 2_000;

/** True for an error that passes by itself. */
export function isTransient(error: unknown): boolean {
  return isSvcError(error) && (transient.includes(error.code) || error.code.startsWith("storage-"));
}

/**
 * Retries until the work is taken. No attempt is counted against the row: it waits in its place, nothing of it is lost meanwhile.
 * @throws what is not transient, and the signal's reason
 */
export async function untilAvailable<T>(work: () => Promise<T>, signal: AbortSignal, deps: Pick<DeliveryDeps, "ctx">): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      deps.ctx.logger.debug("a hook delivery waits", { error: String(error) });
      await sleep(Math.max(pauseMs, isSvcError(error) ? Math.min(error.retryAfterMs ?? 0, MAX_PAUSE_MS) : 0), signal, deps.ctx.timers);
    }
  }
}

/**
 * Commits as soon as the storage takes it.
 * @param isStored asked before each further attempt: a commit that failed with the writer may have been stored all the same
 */
export async function commitWhenAvailable(
  ops: StoreOp[],
  { deps, signal, isStored }: { deps: DeliveryDeps; signal: AbortSignal; isStored: () => Promise<boolean> },
): Promise<OpResult[]> {
  let isRepeat = false;
  return untilAvailable(
    async () => {
      if (isRepeat && (await isStored())) return [];
      isRepeat = true;
      return deps.store().commit(ops);
    },
    signal,
    deps,
  );
}
