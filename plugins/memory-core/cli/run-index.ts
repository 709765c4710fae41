import type { CliContext } from "svc/sdk";
import { memoryErrors } from "../errors.ts";
import type { MemoryAccess } from "./access.ts";
import { createProgressBar } from "./progress-bar.ts";

/** Brings one agent's index up to date with a bar on the terminal; Ctrl-C ends the wait. */
export async function runIndex(
  cli: CliContext,
  access: MemoryAccess,
  { agentId, force }: { agentId: string; force: boolean },
): Promise<{ started: boolean; joined: boolean }> {
  const bar = createProgressBar(cli, agentId);
  const work = access.index(agentId, { force, onProgress: (progress) => bar.show(progress) });
  try {
    return await Promise.race([work, interrupted(cli.signal)]);
  } finally {
    work.catch(() => undefined); // after an interrupt its end is of no interest
    bar.clear();
  }
}

export function interrupted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(memoryErrors.memorySyncAborted());
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
