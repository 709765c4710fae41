import { once } from "node:events";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { messageOf, openRegular, SvcError } from "svc/sdk";
import { Parser, type ReadEntry } from "tar";
import "../errors.ts";
import { entryName } from "./entry-name.ts";
import { type ContentLimits, contentLimits, createContentCounter } from "./limits.ts";

const plainFiles = new Set(["File", "OldFile", "ContiguousFile"]);
/** Headers and padding around the files themselves. */
const OVERHEAD_BYTES = 33_554_432;
const MAX_META_BYTES = 65_536;

/**
 * Unpacks a tar archive, gzipped or not, into an empty folder. Only folders and regular files with plain names below the target are taken; the
 * first other entry, a name that comes twice, or a passed limit refuses the whole archive. Files get mode 0600, folders 0700.
 * @throws {SvcError} `archive-refused`; what was unpacked until then is the caller's to remove
 */
export async function unpackArchive(
  archive: string,
  target: string,
  options: { signal?: AbortSignal; limits?: ContentLimits } = {},
): Promise<void> {
  const limits = options.limits ?? contentLimits;
  const handle = await openRegular(archive, { maxBytes: limits.bytes });
  try {
    const { size } = await handle.stat();
    const head = Buffer.alloc(2);
    await handle.read(head, 0, 2, 0);
    const packed = handle.createReadStream({ autoClose: false, start: 0 });
    const isGzip = head[0] === 0x1f && head[1] === 0x8b;
    const plain = isGzip ? packed.pipe(createGunzip()) : packed;
    if (isGzip) packed.once("error", (error) => plain.destroy(error));
    const counter = createContentCounter(limits, isGzip ? size : undefined);
    await readEntries(plain, { target, counter, rawBytes: limits.bytes + OVERHEAD_BYTES, signal: options.signal });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new SvcError("archive-refused", { archive, reason: messageOf(error) }, { cause: error });
  } finally {
    await handle.close();
  }
}

interface Unpacking {
  target: string;
  counter: ReturnType<typeof createContentCounter>;
  rawBytes: number;
  signal: AbortSignal | undefined;
}

async function readEntries(plain: Readable, unpacking: Unpacking): Promise<void> {
  const written: Written = { names: new Set(), folders: new Set([""]) };
  const failed = new AbortController();
  const fail = (error: unknown) => failed.abort(error);
  let entries = 0;
  let storing = Promise.resolve();
  const parser = new Parser({
    strict: true,
    maxMetaEntrySize: MAX_META_BYTES,
    onReadEntry: (entry: ReadEntry) => {
      entries += 1;
      storing = storing
        .then(() => storeEntry(entry, written, { ...unpacking, signal: failed.signal }))
        .catch(fail)
        .finally(() => entry.resume());
    },
  });
  parser.on("ignoredEntry", (entry: ReadEntry) => fail(wrongKind(entry)));
  parser.on("error", fail);
  const ended = once(parser, "end", { signal: failed.signal }).catch(() => undefined);
  let raw = 0;
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      unpacking.signal?.throwIfAborted();
      raw += chunk.length;
      if (raw > unpacking.rawBytes) throw new Error(`it unpacks to more than ${unpacking.rawBytes} bytes`);
      if (!parser.write(chunk)) await once(parser, "drain", { signal: failed.signal });
      failed.signal.throwIfAborted();
    }
    parser.end();
    await ended;
  } catch (error) {
    fail(error);
  } finally {
    plain.destroy();
  }
  await storing;
  failed.signal.throwIfAborted();
  if (entries === 0) throw new Error("it is no tar archive, or an empty one");
}

interface Written {
  /** Of files, folded: two names that one file system takes for the same could swap a checked file for another. */
  names: Set<string>;
  folders: Set<string>;
}

async function storeEntry(entry: ReadEntry, written: Written, { target, counter, signal }: Unpacking): Promise<void> {
  signal?.throwIfAborted();
  counter.entry();
  const checked = entryName(entry.path);
  if ("reason" in checked) throw new Error(checked.reason);
  const { name } = checked;
  if (entry.type === "Directory") return makeFolder(join(target, name), written);
  if (!plainFiles.has(entry.type)) throw wrongKind(entry);
  const folded = name.normalize("NFC").toLowerCase();
  if (name === "" || written.names.has(folded)) throw new Error(`entry ${JSON.stringify(entry.path)} comes twice`);
  written.names.add(folded);
  await makeFolder(dirname(join(target, name)), written);
  const file = await open(join(target, name), "wx", 0o600);
  // An archive that breaks off in the middle leaves an entry that would never end.
  const giveUp = () => entry.destroy(signal?.reason);
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    for await (const chunk of entry as unknown as AsyncIterable<Buffer>) {
      counter.bytes(chunk.length);
      await file.write(chunk);
    }
  } finally {
    signal?.removeEventListener("abort", giveUp);
    await file.close();
  }
}

async function makeFolder(path: string, { folders }: Written): Promise<void> {
  if (folders.has(path)) return;
  await mkdir(path, { recursive: true, mode: 0o700 });
  folders.add(path);
}

function wrongKind(entry: ReadEntry): Error {
  return new Error(`entry ${JSON.stringify(entry.path)} is a ${entry.type}, not a file`);
}
