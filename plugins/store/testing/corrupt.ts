import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";

const pageBytes = 4_096;

/** Repeatable numbers in [0, 1) from a seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Ways in which a file gets damaged: by a bad sector, a lost write, a program that wrote to the wrong place. */
export const corruptions = [
  "header",
  "first page",
  "one page",
  "some pages",
  "some bytes",
  "cut short",
  "zero length",
  "log cut",
  "log overwritten",
] as const;
export type Corruption = (typeof corruptions)[number];

/** Damages a database that no process has open. */
export function corrupt(path: string, kind: Corruption, random: () => number): void {
  const pages = Math.max(1, Math.floor(statSync(path).size / pageBytes));
  const anyPage = () => 1 + Math.floor(random() * Math.max(1, pages - 1));
  switch (kind) {
    case "header":
      return overwrite(path, 0, junk(100, random));
    case "first page":
      return overwrite(path, 0, junk(pageBytes, random));
    case "one page":
      return overwrite(path, anyPage() * pageBytes, junk(pageBytes, random));
    case "some pages":
      for (let n = 0; n < Math.max(2, pages / 8); n += 1) overwrite(path, anyPage() * pageBytes, junk(pageBytes, random));
      return;
    case "some bytes":
      for (let n = 0; n < 50; n += 1) overwrite(path, Math.floor(random() * pages * pageBytes), junk(8, random));
      return;
    case "cut short":
      return truncateSync(path, Math.floor(random() * statSync(path).size));
    case "zero length":
      return writeFileSync(path, "");
    case "log cut":
      return truncateSync(`${path}-wal`, Math.floor(random() * readFileSync(`${path}-wal`).length));
    case "log overwritten":
      return overwrite(`${path}-wal`, Math.floor(random() * statSync(`${path}-wal`).size), junk(64, random));
  }
}

function junk(bytes: number, random: () => number): Buffer {
  return Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256)));
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  try {
    writeSync(file, bytes, 0, bytes.length, at);
  } finally {
    closeSync(file);
  }
}
