import { isRetryLater } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { withLimit } from "../../sdk/time.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { isLazy } from "./activation.ts";
import { PluginFault, retryDelayMs } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import { dropUnused, type Lifecycle, type ManagedPlugin, type Running } from "./lifecycle.ts";
import type { PluginTable } from "./plugin-table.ts";

/** A use waits this long for the plugin it brings. */
const FIRST_USE_MS = 30_000;
const SLOW_MS = 1_000;

/** Bringing plugins up and taking them down; the states tell what became of each. Steps of one plugin are run by the caller in turn. */
export interface Loading {
  /** Brings up a plugin of which nothing runs, or says what it lacks. */
  load(managed: ManagedPlugin): Promise<void>;
  /** Takes what runs out of the registries at once, then stops it: after its calls, within `drainMs`, when `calls` says so. */
  unload(managed: ManagedPlugin, instance: Running, calls: "finish" | "cut"): Promise<void>;
  /** True for a plugin that is loaded on first use, unless one that starts with the gateway cannot do without it. */
  mayWait(managed: ManagedPlugin): boolean;
  /** Notes what would be a first use. */
  await(managed: ManagedPlugin): void;
  /** The records follow what runs now: active, or degraded by its first refused registration. */
  settled(managed: ManagedPlugin): void;
  /** Active again, or degraded by its first refused registration: whatever else marked it is forgotten. */
  unmark(managed: ManagedPlugin): void;
  cancelRetry(managed: ManagedPlugin): void;
}

/** @param onUp told of each plugin that became active */
export function createLoading(
  table: PluginTable,
  { lifecycle, host, onUp }: { lifecycle: Lifecycle; host: LoaderHost; onUp(managed: ManagedPlugin): void },
): Loading {
  const stopping = () => table.stopping.aborted;

  const bringUp = async (managed: ManagedPlugin) => {
    const before = managed.code;
    managed.code = await lifecycle.obtain(managed);
    if (managed.code !== before) void dropUnused(managed, before);
    assertRunning(stopping());
    const made = await lifecycle.setUp(managed, managed.code);
    if (stopping()) await lifecycle.end(managed, made);
    assertRunning(stopping());
    managed.current = made;
    host.contributions.batch(() => made.instance.open());
    try {
      await lifecycle.start(managed, made);
    } catch (error) {
      if (managed.current !== made) return; // unloaded meanwhile, and announced as that
      await loading.unload(managed, made, "cut");
      throw error;
    }
    if (managed.current === made) loading.settled(managed);
  };
  const retryLater = (managed: ManagedPlugin, attempt: number, error: Error) => {
    const delayMs = retryDelayMs(attempt, host.retryMs);
    const again = () => table.serial(managed, async () => (managed.retry && !stopping() ? loading.load(managed) : undefined));
    managed.retry = { attempt, timer: setTimeout(() => void again(), delayMs) };
    const reason = `${messageOf(error)}; try ${attempt + 1} in ${Math.ceil(delayMs / 1000)} s`;
    table.move(managed, "retrying", { code: "retry-later", reason });
  };

  const loading: Loading = {
    async load(managed) {
      const { id, record } = managed;
      await Promise.all(waitingNeeds(managed).map((other) => host.activation.useOf(other)));
      const unmet = stopping() ? { code: "dependency-failed", reason: "the gateway is stopping" } : table.graph().unmet(id);
      if (unmet) {
        host.activation.remove(id);
        return table.move(managed, "failed", unmet);
      }
      const started = performance.now();
      const attempt = (managed.retry?.attempt ?? 0) + 1;
      loading.cancelRetry(managed);
      table.move(managed, "loading");
      try {
        await bringUp(managed);
      } catch (error) {
        if (stopping()) table.move(managed, "failed", { code: "dependency-failed", reason: "the gateway is stopping" });
        else if (isRetryLater(error)) retryLater(managed, attempt, error);
        else giveUp(managed, error);
      }
      host.activation.remove(id);
      record.ms = Math.round(performance.now() - started);
      if (record.ms > SLOW_MS) host.logger.warn(`plugin "${id}" took ${record.ms} ms to load`, { slow: true });
    },
    async unload(managed, instance, calls) {
      managed.current = undefined;
      host.contributions.batch(() => instance.instance.close());
      const drain = { limitMs: host.config().plugins.reload.drainMs, cut: table.stopping };
      await lifecycle.end(managed, instance, calls === "finish" ? drain : undefined);
      const left = managed.current ? [] : host.contributions.ownedBy(managed.id);
      if (left.length > 0) host.logger.warn(`plugin "${managed.id}" left behind: ${left.join(", ")}`, { code: "leak" });
    },
    mayWait: ({ id, candidate }) =>
      isLazy(candidate.manifest) &&
      table
        .graph()
        .dependents(id)
        .every((other) => isLazy(table.get(other)?.candidate.manifest)),
    await(managed) {
      const load = () => table.serial(managed, async () => (managed.current ? undefined : loading.load(managed)));
      host.activation.add(managed.id, managed.candidate.manifest as Manifest, () => withLimit(load(), FIRST_USE_MS, () => undefined));
    },
    settled(managed) {
      const { identity, diagnostics } = (managed.current as Running).instance;
      const { isolation } = (managed.current as Running).entry;
      delete managed.record.isolation;
      Object.assign(managed.record, { instance: identity.instance, version: identity.version, diagnostics }, isolation && { isolation });
      loading.unmark(managed);
      onUp(managed);
    },
    unmark(managed) {
      // What is deprecated still works.
      const first = managed.record.diagnostics.find(({ code }) => !code.startsWith("SVC_DEP"));
      table.move(managed, first ? "degraded" : "active", first && { code: first.code, reason: first.message });
    },
    cancelRetry(managed) {
      clearTimeout(managed.retry?.timer);
      managed.retry = undefined;
    },
  };

  const waitingNeeds = ({ id }: ManagedPlugin) =>
    table
      .graph()
      .needs(id)
      .filter((other) => table.get(other)?.record.state === "ready");
  const giveUp = (managed: ManagedPlugin, error: unknown) => {
    const fault = error instanceof PluginFault ? error : new PluginFault("setup-failed", messageOf(error), error);
    if (fault.cause instanceof Error) host.logger.debug(`plugin "${managed.id}"`, { error: fault.cause });
    table.move(managed, fault.code === "integrity" ? "blocked" : "failed", { code: fault.code, reason: fault.message });
  };
  return loading;
}

function assertRunning(isStopping: boolean): void {
  if (isStopping) throw new PluginFault("dependency-failed", "the gateway is stopping");
}
