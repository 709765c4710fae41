import { closeSync, copyFileSync, existsSync, openSync, readSync, rmSync, statSync, writeSync } from "node:fs";

const pageBytes = 4_096;
const headerBytes = 100;
/** First bytes of every database file. */
const magic = Buffer.from("SQLite format 3\0", "latin1");

/** A copy of a damaged database to read from; the original stays as it was found. */
export interface DamagedCopy {
  path: string;
  remove(): void;
}

/**
 * Copies a damaged database with its log, and repairs the first page as far as another database of the same schema allows: without it SQLite
 * does not open the file, and everything behind it is out of reach.
 * @param like a sound database to take the header, or the whole first page, from
 */
export function copyDamaged(path: string, like: string): DamagedCopy {
  const target = `${path}.salvage`;
  const remove = () => {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(target + suffix, { force: true });
  };
  remove();
  copyFileSync(path, target);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${target}-wal`);
  repairFirstPage(target, like);
  return { path: target, remove };
}

function repairFirstPage(target: string, like: string): void {
  const file = openSync(target, "r+");
  try {
    const first = Buffer.alloc(pageBytes);
    const present = readSync(file, first, 0, pageBytes, 0);
    const model = readFirstPage(like);
    if (hasHeader(first, model)) return;
    // The schema begins right behind the header: a leaf or an inner page of a table.
    const isSchemaThere = present === pageBytes && (first[headerBytes] === 0x0d || first[headerBytes] === 0x05);
    model.copy(first, 0, 0, isSchemaThere ? headerBytes : pageBytes);
    // Read and written by way of a log, and as long as the file is: these counters differ, so the size in the header is ignored.
    first.writeUInt8(2, 18);
    first.writeUInt8(2, 19);
    first.writeUInt32BE(1, 24);
    first.writeUInt32BE(0, 92);
    writeSync(file, first, 0, pageBytes, 0);
  } finally {
    closeSync(file);
  }
}

/** The fields on which everything else depends: the name, the size of a page, the unused bytes of each and the encoding. */
function hasHeader(first: Buffer, model: Buffer): boolean {
  return (
    first.subarray(0, magic.length).equals(magic) &&
    first.subarray(16, 18).equals(model.subarray(16, 18)) &&
    first.subarray(20, 24).equals(model.subarray(20, 24)) &&
    first.readUInt32BE(44) === model.readUInt32BE(44) &&
    first.readUInt32BE(56) === model.readUInt32BE(56)
  );
}

function readFirstPage(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const page = Buffer.alloc(pageBytes);
    readSync(file, page, 0, pageBytes, 0);
    return page;
  } finally {
    closeSync(file);
  }
}

/** 0 for a file that is missing. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
