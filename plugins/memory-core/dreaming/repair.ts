import { rename } from "node:fs/promises";
import { isSvcError } from "svc/sdk";
import { inFolder } from "svc/sdk/internal";
import { loadState, saveState } from "./load-state.ts";
import { removeStaleLock, withDreamLock } from "./lock.ts";
import { readState, STATE_FOLDER, stateFiles } from "./state-files.ts";
import type { DreamPlace } from "./sweep.ts";

/** Puts the state of a workspace in order: a lock that was left behind goes, files that are no JSON are put aside, entries that are none go. @returns what was done, a line each */
export async function repair({ workspace }: DreamPlace, { signal, nowMs }: { signal: AbortSignal; nowMs: number }): Promise<string[]> {
  const done: string[] = [];
  if (await removeStaleLock(workspace, nowMs)) done.push("removed the lock of a process that is gone");
  if (!(await hasState(workspace))) return done;
  await withDreamLock(workspace, { signal }, async () => {
    for (const name of stateFiles) {
      const isBroken = await readState(workspace, name).then(() => false, isStateBroken);
      if (!isBroken) continue;
      const aside = `${name}.json.broken-${nowMs}`;
      await inFolder(workspace, STATE_FOLDER, (folder) => rename(folder.pathOf(`${name}.json`), folder.pathOf(aside)));
      done.push(`put ${name}.json aside as ${aside}`);
    }
    const state = await loadState(workspace);
    if (state.invalid === 0) return;
    await saveState(workspace, state, nowMs);
    done.push(`removed ${state.invalid} entries that could not be read`);
  });
  return done;
}

/** A workspace that was never dreamed in is left as it is. */
async function hasState(workspace: string): Promise<boolean> {
  try {
    await inFolder(workspace, STATE_FOLDER, async () => undefined);
    return true;
  } catch (error) {
    if (isSvcError(error, "unsafe-file")) return false;
    throw error;
  }
}

function isStateBroken(error: unknown): boolean {
  if (isSvcError(error, "dream-state-broken")) return true;
  throw error;
}
