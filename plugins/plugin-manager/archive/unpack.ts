import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { messageOf } from "svc/sdk";
import { openRegular } from "svc/sdk/internal";
import { installErrors } from "../errors.ts";
import { entryName } from "./entry-name.ts";
import { type ContentLimits, contentLimits, createContentCounter } from "./limits.ts";
import { readTar, type TarMember } from "./read-tar.ts";

/** Headers and padding around the files themselves. */
const OVERHEAD_BYTES = 33_554_432;

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
    const isGzip = head[0] === 0x1f && head[1] === 0x8b;
    const packed = handle.createReadStream({ autoClose: false, start: 0 });
    const counter = createContentCounter(limits, isGzip ? size : undefined);
    const bytes = counted(isGzip ? gunzipped(packed) : packed, limits.bytes + OVERHEAD_BYTES, options.signal);
    await storeAll(bytes, target, counter);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw installErrors.archiveRefused({ archive, reason: messageOf(error) }, { cause: error });
  } finally {
    await handle.close();
  }
}

function gunzipped(packed: Readable): Readable {
  const plain = createGunzip();
  packed.once("error", (error) => plain.destroy(error));
  plain.once("close", () => packed.destroy());
  return packed.pipe(plain);
}

/** The stream as chunks, at most so many bytes of it, until somebody says stop. */
async function* counted(plain: Readable, maxBytes: number, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of plain as AsyncIterable<Buffer>) {
    signal?.throwIfAborted();
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`it unpacks to more than ${maxBytes} bytes`);
    yield chunk;
  }
}

async function storeAll(bytes: AsyncIterable<Buffer>, target: string, counter: ReturnType<typeof createContentCounter>): Promise<void> {
  // Folded: two names that one file system takes for the same could swap a checked file for another.
  const names = new Set<string>();
  const folders = new Set<string>();
  const makeFolder = async (path: string) => {
    if (folders.has(path)) return;
    await mkdir(path, { recursive: true, mode: 0o700 });
    folders.add(path);
  };
  const openFile = async (name: string): Promise<FileHandle> => {
    const path = join(target, name);
    const folded = name.normalize("NFC").toLowerCase();
    if (folded === "" || names.has(folded)) throw new Error(`entry ${JSON.stringify(name)} comes twice`);
    names.add(folded);
    await makeFolder(dirname(path));
    return open(path, "wx", 0o600);
  };
  let entries = 0;
  let file: FileHandle | undefined;
  try {
    for await (const step of readTar(bytes)) {
      if (Buffer.isBuffer(step)) {
        counter.bytes(step.length);
        await file?.writeFile(step);
        continue;
      }
      entries += 1;
      counter.entry();
      await file?.close();
      file = undefined;
      const name = plainName(step);
      if (step.kind === "folder") await makeFolder(join(target, name));
      else file = await openFile(name);
    }
  } finally {
    await file?.close();
  }
  if (entries === 0) throw new Error("it is an empty archive");
}

/** Name of a file or folder below the target. */
function plainName(member: TarMember): string {
  const checked = entryName(member.name);
  if ("reason" in checked) throw new Error(checked.reason);
  if (member.kind === "folder" || member.kind === "file") return checked.name;
  throw new Error(`entry ${JSON.stringify(checked.name)} is a ${member.kind}, not a file`);
}
