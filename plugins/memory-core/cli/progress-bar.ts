import type { CliContext, MemoryProgress } from "svc/sdk";

const WIDTH = 28;
const words: Record<MemoryProgress["phase"], string> = {
  download: "downloading the model",
  scan: "reading folders",
  embed: "embedding",
  write: "indexing",
  swap: "putting the new index in place",
  done: "done",
  error: "failed",
};

/** Speed of a phase, and time since it last advanced. */
export interface Pace {
  perSecond?: number;
  /** Seconds without a step; a batch job of a vendor takes minutes to hours. */
  waitedS?: number;
}

/** One line of progress, without colour. */
export function progressLine(agentId: string, { phase, done, total }: MemoryProgress, { perSecond, waitedS = 0 }: Pace = {}): string {
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const filled = Math.round(share * WIDTH);
  const bar = `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}]`;
  const isBytes = phase === "download";
  const counts =
    (isBytes || phase === "write" || phase === "embed") && total > 0 ? ` ${shownCount(done, isBytes)}/${shownCount(total, isBytes)}` : "";
  const rate =
    perSecond === undefined || phase === "done" || phase === "error"
      ? ""
      : `, ${isBytes ? shownCount(perSecond, true) : formatRate(perSecond)}/s`;
  const waited = waitedS >= 2 ? `, waiting for ${formatSeconds(waitedS)}` : "";
  return `${agentId} ${bar} ${String(Math.round(share * 100)).padStart(3)} % ${words[phase]}${counts}${rate}${waited}`;
}

/** Estimates the pace after each step. Pure but for the clock it is given. */
export function createPace(nowMs: () => number): { step(progress: MemoryProgress): void; pace(): Pace } {
  let first: { total: number; done: number; atMs: number } | undefined;
  let last: { done: number; atMs: number } | undefined;
  return {
    step({ done, total }) {
      const atMs = nowMs();
      // Embedding and writing take turns over one count; another total, or a step back, is other work.
      if (first?.total !== total || done < (last?.done ?? 0)) {
        first = { total, done, atMs };
        last = { done, atMs };
      } else if (done !== last?.done) last = { done, atMs };
    },
    pace() {
      if (!first || !last) return {};
      const waitedS = (nowMs() - last.atMs) / 1_000;
      const seconds = (last.atMs - first.atMs) / 1_000;
      return { waitedS, ...(seconds > 0 ? { perSecond: (last.done - first.done) / seconds } : {}) };
    },
  };
}

/** A bar on stderr that redraws itself, at least each second; silent where nobody watches. */
export function createProgressBar(cli: CliContext, agentId: string): { show(progress: MemoryProgress): void; clear(): void } {
  const { step, pace } = createPace(() => performance.now());
  let latest: MemoryProgress | undefined;
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    if (latest) cli.stderr.write(`\r${progressLine(agentId, latest, pace())}\u001b[K`);
  };
  return {
    show(progress) {
      if (!cli.stderr.isTTY || cli.json) return;
      latest = progress;
      step(progress);
      timer ??= setInterval(draw, 1_000);
      draw();
    },
    clear() {
      clearInterval(timer);
      timer = undefined;
      if (latest) cli.stderr.write("\r\u001b[K");
      latest = undefined;
    },
  };
}

function shownCount(count: number, isBytes: boolean): string {
  return isBytes ? `${(count / 1_000_000).toFixed(count < 10_000_000 ? 1 : 0)} MB` : String(count);
}

function formatRate(perSecond: number): string {
  return perSecond >= 10 ? String(Math.round(perSecond)) : perSecond.toFixed(1);
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
