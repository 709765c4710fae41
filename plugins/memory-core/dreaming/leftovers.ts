import { readdir, rm, stat } from "node:fs/promises";
import { inFolder } from "svc/sdk/internal";
import { daysBetween } from "./days.ts";
import { CORPUS_FOLDER } from "./session-ingestion.ts";
import { STATE_FOLDER } from "./state-files.ts";

/** Twice the age at which a statement may still be promoted. */
const KEPT_DAYS = 60;
/** A file that is being written is younger. */
const LEFT_MS = 60_000;

/** Removes files of the corpus that no promotion reads any more (the conversations themselves are elsewhere), and files that a kill left half written. */
export async function removeLeftovers(workspace: string, today: string): Promise<void> {
  await removeIn(workspace, CORPUS_FOLDER, async (name, path) => {
    const day = /^(\d{4}-\d{2}-\d{2})\.txt$/.exec(name)?.[1];
    return (day !== undefined && daysBetween(day, today) > KEPT_DAYS) || ((await isHalfWritten(name, path)) && name.includes(".txt."));
  });
  await removeIn(workspace, STATE_FOLDER, isHalfWritten);
  const own = /^\.(?:MEMORY|memory|DREAMS|dreams)\.md\./;
  await removeIn(workspace, [], async (name, path) => own.test(name) && isHalfWritten(name, path));
}

/** Temporary files of `writeFileAtomic`, and drafts of the lock. */
async function isHalfWritten(name: string, path: string): Promise<boolean> {
  if (!/^\..+\.[0-9a-f]{12}\.tmp$|\.lock\.[0-9a-f]{12}$/.test(name)) return false;
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > LEFT_MS;
}

async function removeIn(
  workspace: string,
  parts: readonly string[],
  isOld: (name: string, path: string) => Promise<boolean>,
): Promise<void> {
  const names = await readdir([workspace, ...parts].join("/")).catch(() => [] as string[]);
  if (names.length === 0) return;
  await inFolder(workspace, parts, async (folder) => {
    for (const name of names) if (await isOld(name, folder.pathOf(name))) await rm(folder.pathOf(name), { force: true });
  });
}
