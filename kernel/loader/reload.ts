import { messageOf } from "../../sdk/errors.ts";
import type { LoadedCode } from "./code.ts";
import type { PluginEntry } from "./entry-change.ts";
import type { LoaderHost } from "./host.ts";
import { dropUnused, type Life, type Running, type Slot } from "./lifecycle.ts";

interface ReplaceDeps {
  life: Life;
  contributions: LoaderHost["contributions"];
  isStopping(): boolean;
  drain(): { limitMs: number; cut: AbortSignal };
  /** The states of the slot follow what runs in it now. */
  settled(slot: Slot): void;
  /** Remembers work that goes on after the answer. */
  retire(work: Promise<void>): void;
}

export type Replaced = { status: "reloaded" } | { status: "rolled-back" | "failed"; error: unknown };

/**
 * Puts a new instance in the place of a running one. Everything that can fail happens beside the old instance, which serves on
 * until the swap: one turn in which the registries change hands. Calls under way end on the old one, which is stopped after the last of them.
 */
export async function replaceInstance(slot: Slot, code: LoadedCode, deps: ReplaceDeps): Promise<Replaced> {
  if (slot.candidate.manifest?.reload?.exclusive) return replaceExclusive(slot, code, deps);
  const old = slot.current as Running;
  let next: Running | undefined;
  try {
    next = await deps.life.setUp(slot, code);
    await deps.life.start(slot, next);
    if (slot.current !== old || deps.isStopping()) throw new Error("it was stopped meanwhile");
  } catch (error) {
    if (next) await deps.life.end(slot, next);
    return { status: "failed", error };
  }
  swap(slot, { old, next, code }, deps);
  deps.retire(deps.life.end(slot, old, deps.drain()));
  return { status: "reloaded" };
}

/** Only one instance may hold what this plugin holds: the old one goes first, and comes back when the new one does not start. */
async function replaceExclusive(slot: Slot, code: LoadedCode, deps: ReplaceDeps): Promise<Replaced> {
  const old = slot.current as Running;
  try {
    await deps.life.parseConfig(slot, code); // what can be refused is refused before anything stops
  } catch (error) {
    return { status: "failed", error };
  }
  old.instance.close();
  slot.current = undefined;
  await deps.life.end(slot, old, deps.drain());
  try {
    await bringUp(slot, { code }, deps);
    return { status: "reloaded" };
  } catch (error) {
    try {
      await bringUp(slot, old, deps);
      return { status: "rolled-back", error };
    } catch (again) {
      return { status: "failed", error: new Error(`${messageOf(error)}; the old one did not start again: ${messageOf(again)}`) };
    }
  }
}

async function bringUp(slot: Slot, { code, entry }: { code: LoadedCode; entry?: PluginEntry }, deps: ReplaceDeps): Promise<void> {
  const next = await deps.life.setUp(slot, code, entry);
  try {
    await deps.life.start(slot, next);
    if (deps.isStopping()) throw new Error("the gateway is stopping");
  } catch (error) {
    await deps.life.end(slot, next);
    throw error;
  }
  swap(slot, { old: undefined, next, code }, deps);
}

function swap(slot: Slot, { old, next, code }: { old: Running | undefined; next: Running; code: LoadedCode }, deps: ReplaceDeps): void {
  deps.contributions.batch(() => {
    old?.instance.close();
    next.instance.open();
  });
  const before = slot.code;
  slot.current = next;
  slot.code = code;
  deps.settled(slot);
  void dropUnused(slot, before);
}
