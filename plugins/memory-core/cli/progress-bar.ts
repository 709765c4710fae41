import type { CliContext, MemoryProgress } from "svc/sdk";

const WIDTH = 28;
const words: Record<MemoryProgress["phase"], string> = {
  scan: "reading folders",
  embed: "embedding",
  write: "indexing",
  swap: "putting the new index in place",
  done: "done",
  error: "failed",
};

/** One line of progress, without colour. */
export function progressLine(agentId: string, { phase, done, total }: MemoryProgress): string {
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const filled = Math.round(share * WIDTH);
  const bar = `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}]`;
  const count = phase === "write" && total > 0 ? ` ${done}/${total} files` : "";
  return `${agentId} ${bar} ${String(Math.round(share * 100)).padStart(3)} % ${words[phase]}${count}`;
}

/** A bar on stderr that redraws itself; silent where nobody watches. */
export function createProgressBar(cli: CliContext, agentId: string): { show(progress: MemoryProgress): void; clear(): void } {
  let drawn = false;
  const clear = () => {
    if (drawn) cli.stderr.write("\r\u001b[K");
    drawn = false;
  };
  return {
    show(progress) {
      if (!cli.stderr.isTTY || cli.json) return;
      cli.stderr.write(`\r${progressLine(agentId, progress)}\u001b[K`);
      drawn = true;
    },
    clear,
  };
}
