import { type Disposable, type Memory, type PluginContext, settledWithin } from "svc/sdk";

/** Tools that may change notes without the memory's knowledge. */
const writers = new Set(["write", "edit", "exec", "process"]);
/** Wait of a search for the index; then it answers from what it has. The watcher finds the rest a little later. */
const CATCH_UP_MS = 2_500;
/** More agents than a gateway has; each costs one sync too many at worst. */
const MAX_AGENTS = 1_000;

/** Remembers which agents have written since their notes were last looked at. */
export interface OwnWrites extends Disposable {
  /** Brings the index up to date when tools of the agent have written since the last time. Never rejects. */
  caughtUp(agentId: string, signal: AbortSignal): Promise<void>;
}

/** The watcher takes 1.5 s to tell of a note; an agent that searches right after it wrote is faster. */
export function createOwnWrites(ctx: Pick<PluginContext, "on">, memory: Pick<Memory, "sync">): OwnWrites {
  const written = new Set<string>();
  const tap = ctx.on("tool.after", ({ agentId, tool, ok }) => {
    if (ok && writers.has(tool) && written.size < MAX_AGENTS) written.add(agentId);
  });
  return {
    async caughtUp(agentId, signal) {
      if (!written.delete(agentId)) return;
      const work = synced(memory, agentId, signal).catch(() => undefined); // the search says what is wrong with the index
      await settledWithin(work, CATCH_UP_MS);
    },
    dispose: () => tap.dispose(),
  };
}

/** A sync that began before the note was written may have passed its file already: then once more. */
async function synced(memory: Pick<Memory, "sync">, agentId: string, signal: AbortSignal): Promise<void> {
  const { joined } = await memory.sync(agentId, { reason: "note", signal });
  if (joined) await memory.sync(agentId, { reason: "note", signal });
}
