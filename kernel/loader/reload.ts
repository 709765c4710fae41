import { messageOf } from "../../sdk/errors.ts";
import type { LoadedCode } from "./code.ts";
import type { PluginEntry } from "./entry-change.ts";
import type { LoaderHost } from "./host.ts";
import { dropUnused, type Lifecycle, type ManagedPlugin, type Running } from "./lifecycle.ts";

interface ReplaceDeps {
  lifecycle: Lifecycle;
  contributions: LoaderHost["contributions"];
  isStopping(): boolean;
  drain(): { limitMs: number; cut: AbortSignal };
  /** Makes the recorded state follow the instance that runs now. */
  settled(managed: ManagedPlugin): void;
  /** Remembers work that goes on after the answer. */
  retire(work: Promise<void>): void;
}

export type Replaced = { status: "reloaded" } | { status: "rolled-back" | "failed"; error: unknown };

/**
 * Puts a new instance in the place of a running one. Everything that can fail happens beside the old instance, which serves on
 * until the swap: one turn in which the registries change hands. Calls under way end on the old one, which is stopped after the last of them.
 */
export async function replaceInstance(managed: ManagedPlugin, code: LoadedCode, deps: ReplaceDeps): Promise<Replaced> {
  if (managed.candidate.manifest?.reload?.exclusive) return replaceExclusive(managed, code, deps);
  const old = managed.current as Running;
  let next: Running | undefined;
  try {
    next = await deps.lifecycle.setUp(managed, code);
    await deps.lifecycle.start(managed, next);
    if (managed.current !== old || deps.isStopping()) throw new Error("it was stopped meanwhile");
  } catch (error) {
    if (next) await deps.lifecycle.end(managed, next);
    return { status: "failed", error };
  }
  swap(managed, { old, next, code }, deps);
  deps.retire(deps.lifecycle.end(managed, old, deps.drain()));
  return { status: "reloaded" };
}

/** Only one instance may hold what this plugin holds: the old one goes first, and comes back when the new one does not start. */
async function replaceExclusive(managed: ManagedPlugin, code: LoadedCode, deps: ReplaceDeps): Promise<Replaced> {
  const old = managed.current as Running;
  try {
    await deps.lifecycle.parseConfig(managed, code); // what can be refused is refused before anything stops
  } catch (error) {
    return { status: "failed", error };
  }
  old.instance.close();
  managed.current = undefined;
  await deps.lifecycle.end(managed, old, deps.drain());
  try {
    await bringUp(managed, { code }, deps);
    return { status: "reloaded" };
  } catch (error) {
    try {
      await bringUp(managed, old, deps);
      return { status: "rolled-back", error };
    } catch (again) {
      return { status: "failed", error: new Error(`${messageOf(error)}; the old one did not start again: ${messageOf(again)}`) };
    }
  }
}

async function bringUp(
  managed: ManagedPlugin,
  { code, entry }: { code: LoadedCode; entry?: PluginEntry },
  deps: ReplaceDeps,
): Promise<void> {
  const next = await deps.lifecycle.setUp(managed, code, entry);
  try {
    await deps.lifecycle.start(managed, next);
    if (deps.isStopping()) throw new Error("the gateway is stopping");
  } catch (error) {
    await deps.lifecycle.end(managed, next);
    throw error;
  }
  swap(managed, { old: undefined, next, code }, deps);
}

function swap(
  managed: ManagedPlugin,
  { old, next, code }: { old: Running | undefined; next: Running; code: LoadedCode },
  deps: ReplaceDeps,
): void {
  deps.contributions.batch(() => {
    old?.instance.close();
    next.instance.open();
  });
  const before = managed.code;
  managed.current = next;
  managed.code = code;
  deps.settled(managed);
  void dropUnused(managed, before);
}
