/** One member of an archive. Its content must be read to its end, or not at all, before the next one is asked for. */
export interface TarMember {
  name: string;
  kind: "file" | "folder" | "symbolic link" | "hard link" | "device" | "FIFO" | "special entry";
  size: number;
  content(): AsyncGenerator<Buffer>;
}

const BLOCK = 512;
/** Of an extended header or a long name. */
const MAX_META_BYTES = 65_536;
const kinds: Record<string, TarMember["kind"]> = {
  "": "file",
  0: "file",
  7: "file",
  1: "hard link",
  2: "symbolic link",
  3: "device",
  4: "device",
  5: "folder",
  6: "FIFO",
};

/**
 * Reads a tar archive (POSIX ustar with pax headers, GNU long names) member by member, in order and with bounded memory; nothing is kept or written. Own code
 * rather than the stream parser of the package `tar`, which waits for ever for an entry that breaks off while nobody reads it yet (7.5.23).
 * @throws {Error} with a short reason for anything that is not exactly such an archive: wrong checksums, odd sizes, a missing end
 */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const source = createByteSource(chunks);
  let longName: string | undefined;
  for (;;) {
    const header = await source.exactly(BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const { name, type, size } = parseHeader(header);
    if (type === "x" || type === "g" || type === "L" || type === "K") {
      if (size > MAX_META_BYTES) throw new Error("it has an extended header of more than 64 KiB");
      const meta = (await source.exactly(paddedSize(size))).subarray(0, size).toString("utf8");
      if (type === "x") longName = paxPath(meta) ?? longName;
      if (type === "g" && paxPath(meta) !== undefined) throw new Error("it gives every entry the same name");
      if (type === "L") longName = meta.replace(/\0.*$/s, "");
      continue;
    }
    const own = longName ?? name;
    longName = undefined;
    let unread = paddedSize(size);
    yield {
      name: own,
      kind: own.endsWith("/") && size === 0 && kinds[type] === "file" ? "folder" : (kinds[type] ?? "special entry"),
      size,
      async *content() {
        for (let left = size; left > 0; ) {
          const piece = await source.upTo(left);
          left -= piece.length;
          unread -= piece.length;
          yield piece;
        }
      },
    };
    while (unread > 0) unread -= (await source.upTo(unread)).length;
  }
  // The rest is padding; reading it lets the decompressor check its sum.
  await source.rest();
}

interface Header {
  name: string;
  type: string;
  size: number;
}

function parseHeader(block: Buffer): Header {
  const magic = block.toString("latin1", 257, 263);
  if (!magic.startsWith("ustar") || checksumOf(block) !== octal(block, 148, 8)) throw new Error("it is no tar archive, or a damaged one");
  const prefix = magic === "ustar\0" ? text(block, 345, 155) : "";
  const name = text(block, 0, 100);
  return { name: prefix === "" ? name : `${prefix}/${name}`, type: text(block, 156, 1), size: octal(block, 124, 12) };
}

function checksumOf(block: Buffer): number {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 32 : (block[i] as number);
  return sum;
}

function text(block: Buffer, at: number, length: number): string {
  return block.toString("utf8", at, at + length).replace(/\0.*$/s, "");
}

function octal(block: Buffer, at: number, length: number): number {
  const digits = text(block, at, length).trim();
  if (!/^[0-7]{1,12}$/.test(digits)) throw new Error("it has an entry whose size is no plain number");
  return Number.parseInt(digits, 8);
}

/** `path` of an extended header; a `size` there would be another one than that of the entry. */
function paxPath(meta: string): string | undefined {
  let path: string | undefined;
  for (let rest = Buffer.from(meta); rest.length > 0; ) {
    const length = Number(/^(\d{1,6}) /.exec(rest.toString("latin1", 0, 8))?.[1]);
    if (!(length > 0 && length <= rest.length)) throw new Error("it has a damaged extended header");
    const record = rest.toString("utf8", 0, length - 1);
    const [, key, value] = /^\d+ ([^=]+)=(.*)$/s.exec(record) ?? [];
    if (key === "size") throw new Error("it has an entry whose size is no plain number");
    if (key === "path") path = value;
    rest = rest.subarray(length);
  }
  return path;
}

function paddedSize(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

/** Bytes of a stream as they are asked for. */
function createByteSource(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const fill = async (): Promise<boolean> => {
    const next = await iterator.next();
    if (next.done) return false;
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    return true;
  };
  const take = (count: number): Buffer => {
    const piece = rest.subarray(0, count);
    rest = rest.subarray(count);
    return piece;
  };
  const brokenOff = () => new Error("it breaks off in the middle");
  return {
    async exactly(count: number): Promise<Buffer> {
      while (rest.length < count) if (!(await fill())) throw brokenOff();
      return take(count);
    },
    /** At least one byte, at most so many. */
    async upTo(count: number): Promise<Buffer> {
      while (rest.length === 0) if (!(await fill())) throw brokenOff();
      return take(count);
    },
    async rest(): Promise<void> {
      do rest = Buffer.alloc(0);
      while (await fill());
    },
  };
}
