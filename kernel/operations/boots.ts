import { join } from "node:path";
import { writeFileAtomic } from "../../sdk/files.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";

/** So many unclean ends within this time are a crash loop. */
export const crashLoop = { ends: 3, withinMs: 300_000 } as const;

const MAX_BYTES = 65_536;

interface BootsFile {
  /** The process that is running, or that did not say that it ended. */
  running?: { bootId: string; startedAt: number };
  /** When unclean ends were found, epoch ms, oldest first; none is older than `crashLoop.withinMs` when it is written. */
  unclean: number[];
}

/** Counts the ends of gateways that nobody asked for, in `gateway/boots.json`: it has to work when nothing else does, the store included. */
export interface Boots {
  /** Unclean ends within the last five minutes, the one before this start included. */
  readonly unclean: readonly number[];
  /** The process before this one, when nobody had asked it to end. */
  readonly killed: { startedAt: number } | undefined;
  /** This process was asked to end: whatever happens from here on is no crash. */
  ended(): Promise<void>;
  /** The ends so far count no more. */
  forgive(): Promise<void>;
}

/** Notes that a gateway begins. The state lock must be held. An end is dated by the start that finds it: nobody knows better. */
export async function beginBoot(stateDir: string, { bootId, now }: { bootId: string; now: number }): Promise<Boots> {
  const path = bootsPath(stateDir);
  const before = await readBoots(path);
  let unclean = before.unclean.filter((at) => at <= now && now - at < crashLoop.withinMs);
  if (before.running) unclean = [...unclean, now].slice(-crashLoop.ends);
  const found = unclean;
  const write = (running: BootsFile["running"]) =>
    writeFileAtomic(path, JSON.stringify({ version: 1, ...(running ? { running } : {}), unclean }));
  let running: BootsFile["running"] = { bootId, startedAt: now };
  await write(running);
  return {
    unclean: found,
    killed: before.running,
    async ended() {
      running = undefined;
      await write(running);
    },
    async forgive() {
      unclean = [];
      await write(running);
    },
  };
}

export function isCrashLoop(unclean: readonly number[]): boolean {
  return unclean.length >= crashLoop.ends;
}

function bootsPath(stateDir: string): string {
  return join(stateDir, "gateway", "boots.json");
}

/** A damaged file counts nothing: it was made to keep a gateway up, not down. */
async function readBoots(path: string): Promise<BootsFile> {
  try {
    const { running, unclean } = JSON.parse(String(await readRegularFile(path, { maxBytes: MAX_BYTES }))) as Partial<BootsFile>;
    const isRunning = typeof running?.bootId === "string" && typeof running.startedAt === "number";
    return {
      ...(isRunning ? { running } : {}),
      unclean: Array.isArray(unclean) ? unclean.filter((at) => Number.isFinite(at)).slice(-crashLoop.ends) : [],
    };
  } catch {
    return { unclean: [] };
  }
}
