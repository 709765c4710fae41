import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 100;

/** How to watch and signal the process. */
export interface EndOptions {
  /** Looked at right before each signal and until it has worked: a pid may be somebody else's by now. */
  isStillThere(): Promise<boolean>;
  /** Called with each signal before it is sent. */
  told?(signal: NodeJS.Signals): void;
  /** Default `process.kill`. */
  kill?(pid: number, signal: NodeJS.Signals): void;
}

/**
 * Ends a process: SIGTERM, up to 5 s, SIGKILL, up to 2 s. Resolves also when it is still there after that.
 * @throws what `kill` throws, other than "no such process"
 */
export async function endProcess(pid: number, options: EndOptions): Promise<void> {
  const kill = options.kill ?? ((id, signal) => void process.kill(id, signal));
  const steps = [
    { signal: "SIGTERM", limitMs: 5_000 },
    { signal: "SIGKILL", limitMs: 2_000 },
  ] as const;
  for (const { signal, limitMs } of steps) {
    if (!(await options.isStillThere())) return;
    options.told?.(signal);
    try {
      kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH") return;
      throw error;
    }
    for (let waited = 0; waited < limitMs; waited += POLL_MS) {
      await sleep(POLL_MS);
      if (!(await options.isStillThere())) return;
    }
  }
}
