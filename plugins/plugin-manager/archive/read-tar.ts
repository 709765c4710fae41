import { Parser, type ReadEntry } from "tar";

/** Beginning of a member of an archive; its content follows in pieces. */
export interface TarMember {
  name: string;
  kind: "file" | "folder" | "symbolic link" | "hard link" | "device" | "FIFO" | "special entry";
}

const BLOCK = 512;
/** Maximum size of an extended header or a long name. */
const MAX_META_BYTES = 65_536;
/** Maximum number of extended headers and long names before one member; packers write two. */
const MAX_META = 4;
const kinds: Partial<Record<ReadEntry["type"], TarMember["kind"]>> = {
  File: "file",
  OldFile: "file",
  ContiguousFile: "file",
  Directory: "folder",
  Link: "hard link",
  SymbolicLink: "symbolic link",
  CharacterDevice: "device",
  BlockDevice: "device",
  FIFO: "FIFO",
};

/**
 * Reads a tar archive in order and with bounded memory: each member, then the pieces of its content. Nothing is kept or written.
 *
 * The package's parser is lenient where an archive can mean two things; whatever other readers might take differently is refused here. Members flow as they
 * are parsed and are never left waiting, because the parser hangs on a paused member that breaks off (tar 7.5.23).
 * @throws {Error} with a short reason for a damaged archive, or one without its end
 */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarMember | Buffer> {
  const steps: Array<TarMember | Buffer> = [];
  const metas: string[] = [];
  let failure: Error | undefined;
  let ended = false;
  const fail = (error: Error) => {
    if (!ended) failure ??= error;
  };
  const parser = new Parser({ strict: true, zstd: false, maxMetaEntrySize: MAX_META_BYTES });
  parser.on("error", (cause) => fail(new Error("it is no tar archive, or a damaged one", { cause })));
  parser.on("nullBlock", () => {
    if (metas.length > 0) fail(damagedMeta());
    ended = true;
  });
  parser.on("meta", (text: string) => {
    metas.push(text);
    if (metas.length > MAX_META) fail(new Error(`it has more than ${MAX_META} extended headers for one entry`));
  });
  parser.on("ignoredEntry", ({ meta, header }: ReadEntry) => {
    if (meta) fail(new Error("it has an extended header of more than 64 KiB"));
    else steps.push({ name: header.path ?? "", kind: "special entry" });
  });
  parser.on("entry", (entry: ReadEntry) => {
    const problem = problemOf(entry, metas.splice(0));
    if (problem) fail(problem);
    if (failure || ended) return entry.resume();
    steps.push({ name: entry.header.path ?? "", kind: kinds[entry.type] ?? "special entry" });
    entry.on("data", (piece) => steps.push(piece));
  });

  let isFirst = true;
  for await (const piece of wholeCharacters(chunks)) {
    // The parser would unpack another layer, whose size nobody counts.
    if (isFirst && piece[0] === 0x1f && piece[1] === 0x8b) throw new Error("it is packed twice");
    isFirst = false;
    // The parser keeps all bytes that follow the end. They are read only to let the decompressor check its sum.
    if (!ended) parser.write(piece);
    yield* steps.splice(0);
    if (failure) throw failure;
  }
  if (!ended) throw new Error("it breaks off in the middle");
}

/** Reports a header that another reader could take differently. */
function problemOf(entry: ReadEntry, metas: readonly string[]): Error | undefined {
  const { path, linkpath, size } = entry.header;
  if (size === undefined) return new Error("it has an entry whose size is no plain number");
  for (const text of metas) {
    const keys = recordKeys(text);
    if (keys?.includes("size")) return new Error("it has an entry whose size is no plain number");
    // Anything but a list of records is the long name of this entry.
    const name = text.replace(/\0.*$/s, "");
    if (!keys && name !== path && name !== linkpath) return damagedMeta();
  }
  const { globalExtended } = entry;
  const isShared = globalExtended?.path !== undefined || globalExtended?.linkpath !== undefined;
  return isShared ? new Error("it gives every entry the same name") : undefined;
}

function damagedMeta(): Error {
  return new Error("it has a damaged extended header");
}

/**
 * Keys of an extended header's records (`<length> <key>=<value>\n`); undefined when it is anything else. The parser goes line by line and skips what it
 * does not understand, so a value of two lines could hide a record from it, or from others.
 */
function recordKeys(text: string): string[] | undefined {
  const keys: string[] = [];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const [, length, key] = /^([1-9]\d{0,5}) ([^=]+)=/.exec(line) ?? [];
    if (key === undefined || Number(length) !== Buffer.byteLength(line) + 1) return undefined;
    keys.push(key);
  }
  return keys;
}

/**
 * Cuts bytes into pieces of at least a block that end with a whole character: the parser decodes a long name piece by piece, and must see enough of the first
 * block to know what it reads.
 */
async function* wholeCharacters(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const end = bytes.length < BLOCK ? 0 : characterEnd(bytes);
    held = bytes.subarray(end);
    if (end > 0) yield bytes.subarray(0, end);
  }
  if (held.length > 0) yield held;
}

/** Position before the last character of more than one byte, if the bytes end with one. */
function characterEnd(bytes: Buffer): number {
  let end = bytes.length;
  while (end > bytes.length - 4 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end -= 1;
  return (bytes[end - 1] as number) >= 0xc0 ? end - 1 : end;
}
