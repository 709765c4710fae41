import { statfs } from "node:fs/promises";
import { storeErrors } from "../errors.ts";

/** Bytes that stay free besides: for the log of the database and for what else is written meanwhile. */
const SPARE_BYTES = 16_000_000;

/** @throws {SvcError} `backup-no-room` when a copy of this size does not fit into a folder */
export async function requireRoom(folder: string, bytes: number): Promise<void> {
  const free = await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  );
  const needed = bytes + SPARE_BYTES;
  if (free < needed) throw storeErrors.backupNoRoom({ folder, free: megabytes(free), needed: megabytes(needed) });
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
