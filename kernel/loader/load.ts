import { isRetryLater } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { withLimit } from "../../sdk/limit.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { isLazy } from "./activation.ts";
import { PluginFault, retryDelayMs } from "./faults.ts";
import type { LoaderHost } from "./host.ts";
import { dropUnused, type Life, type Running, type Slot } from "./lifecycle.ts";
import type { Slots } from "./plugin-table.ts";

/** A use waits this long for the plugin it brings. */
const FIRST_USE_MS = 30_000;
const SLOW_MS = 1_000;

/** Bringing plugins up and taking them down; the states tell what became of each. Steps of one plugin are run by the caller in turn. */
export interface Loading {
  /** Brings up a plugin of which nothing runs, or says what it lacks. */
  load(slot: Slot): Promise<void>;
  /** Takes what runs out of the registries at once, then stops it: after its calls, within `drainMs`, when `calls` says so. */
  takeDown(slot: Slot, instance: Running, calls: "finish" | "cut"): Promise<void>;
  /** True for a plugin that is loaded on first use, unless one that starts with the gateway cannot do without it. */
  mayWait(slot: Slot): boolean;
  /** Notes what would be a first use. */
  await(slot: Slot): void;
  /** The records follow what runs now: active, or degraded by its first refused registration. */
  settled(slot: Slot): void;
  /** Active again, or degraded by its first refused registration: whatever else marked it is forgotten. */
  unmark(slot: Slot): void;
  cancelRetry(slot: Slot): void;
}

/** @param onUp told of each plugin that became active */
export function createLoading(slots: Slots, { life, host, onUp }: { life: Life; host: LoaderHost; onUp(slot: Slot): void }): Loading {
  const stopping = () => slots.stopping.aborted;

  const bringUp = async (slot: Slot) => {
    const before = slot.code;
    slot.code = await life.obtain(slot);
    if (slot.code !== before) void dropUnused(slot, before);
    assertRunning(stopping());
    const made = await life.setUp(slot, slot.code);
    if (stopping()) await life.end(slot, made);
    assertRunning(stopping());
    slot.current = made;
    host.contributions.batch(() => made.instance.open());
    try {
      await life.start(slot, made);
    } catch (error) {
      if (slot.current !== made) return; // taken down meanwhile, and told as that
      await loading.takeDown(slot, made, "cut");
      throw error;
    }
    if (slot.current === made) loading.settled(slot);
  };
  const retryLater = (slot: Slot, attempt: number, error: Error) => {
    const delayMs = retryDelayMs(attempt, host.retryMs);
    const again = () => slots.serial(slot, async () => (slot.retry && !stopping() ? loading.load(slot) : undefined));
    slot.retry = { attempt, timer: setTimeout(() => void again(), delayMs) };
    const reason = `${messageOf(error)}; try ${attempt + 1} in ${Math.ceil(delayMs / 1000)} s`;
    slots.move(slot, "retrying", { code: "retry-later", reason });
  };

  const loading: Loading = {
    async load(slot) {
      const { id, record } = slot;
      await Promise.all(waitingNeeds(slot).map((other) => host.activation.useOf(other)));
      const unmet = stopping() ? { code: "dependency-failed", reason: "the gateway is stopping" } : slots.graph().unmet(id);
      if (unmet) {
        host.activation.remove(id);
        return slots.move(slot, "failed", unmet);
      }
      const started = performance.now();
      const attempt = (slot.retry?.attempt ?? 0) + 1;
      loading.cancelRetry(slot);
      slots.move(slot, "loading");
      try {
        await bringUp(slot);
      } catch (error) {
        if (stopping()) slots.move(slot, "failed", { code: "dependency-failed", reason: "the gateway is stopping" });
        else if (isRetryLater(error)) retryLater(slot, attempt, error);
        else giveUp(slot, error);
      }
      host.activation.remove(id);
      record.ms = Math.round(performance.now() - started);
      if (record.ms > SLOW_MS) host.logger.warn(`plugin "${id}" took ${record.ms} ms to load`, { slow: true });
    },
    async takeDown(slot, instance, calls) {
      slot.current = undefined;
      host.contributions.batch(() => instance.instance.close());
      const drain = { limitMs: host.config().plugins.reload.drainMs, cut: slots.stopping };
      await life.end(slot, instance, calls === "finish" ? drain : undefined);
      const left = slot.current ? [] : host.contributions.ownedBy(slot.id);
      if (left.length > 0) host.logger.warn(`plugin "${slot.id}" left behind: ${left.join(", ")}`, { code: "leak" });
    },
    mayWait: ({ id, candidate }) =>
      isLazy(candidate.manifest) &&
      slots
        .graph()
        .dependents(id)
        .every((other) => isLazy(slots.get(other)?.candidate.manifest)),
    await(slot) {
      const load = () => slots.serial(slot, async () => (slot.current ? undefined : loading.load(slot)));
      host.activation.add(slot.id, slot.candidate.manifest as Manifest, () => withLimit(load(), FIRST_USE_MS, () => undefined));
    },
    settled(slot) {
      const { identity, diagnostics } = (slot.current as Running).instance;
      const { isolation } = (slot.current as Running).entry;
      delete slot.record.isolation;
      Object.assign(slot.record, { instance: identity.instance, version: identity.version, diagnostics }, isolation && { isolation });
      loading.unmark(slot);
      onUp(slot);
    },
    unmark(slot) {
      // What is deprecated still works.
      const first = slot.record.diagnostics.find(({ code }) => !code.startsWith("SVC_DEP"));
      slots.move(slot, first ? "degraded" : "active", first && { code: first.code, reason: first.message });
    },
    cancelRetry(slot) {
      clearTimeout(slot.retry?.timer);
      slot.retry = undefined;
    },
  };

  const waitingNeeds = ({ id }: Slot) =>
    slots
      .graph()
      .needs(id)
      .filter((other) => slots.get(other)?.record.state === "ready");
  const giveUp = (slot: Slot, error: unknown) => {
    const fault = error instanceof PluginFault ? error : new PluginFault("setup-failed", messageOf(error), error);
    if (fault.cause instanceof Error) host.logger.debug(`plugin "${slot.id}"`, { error: fault.cause });
    slots.move(slot, fault.code === "integrity" ? "blocked" : "failed", { code: fault.code, reason: fault.message });
  };
  return loading;
}

function assertRunning(isStopping: boolean): void {
  if (isStopping) throw new PluginFault("dependency-failed", "the gateway is stopping");
}
