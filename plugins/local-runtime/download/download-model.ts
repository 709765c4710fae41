import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { mkdir, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { type HttpRequestFunction, type HttpResponse, messageOf, sleep } from "svc/sdk";
import { reached } from "svc/sdk/internal";
import { DownloadFailure } from "./download-failure.ts";
import type { ModelAddress } from "./model-address.ts";
import { type FileFacts, firstByte, openDownload } from "./open-download.ts";
import { PartFile } from "./part-file.ts";

/** Times that a download is taken up again without a byte more than before. */
const MAX_TRIES = 4;
/** Times in all: a server that sends a byte at a time is given up on. */
const MAX_RESUMES = 500;
const PAUSE_MS = 1_000;
/** Room that is left on the disk. */
const SPARE_BYTES = 16 * 1024 * 1024;
/** A file of weights begins with it. */
const MAGIC = "GGUF";

export interface DownloadDeps {
  request: HttpRequestFunction;
  /** Free bytes of the file system of a folder; undefined: nobody knows. */
  freeBytes?(folder: string): Promise<number | undefined>;
  /** Pause before it is taken up again; default a second, doubled each time. */
  pauseMs?: number;
}

export interface DownloadOptions {
  /** In hex; it counts besides the one that the hub announces. */
  sha256: string | undefined;
  token: string | undefined;
  signal: AbortSignal;
  /** `totalBytes` is 0 while it is not known. */
  onProgress(progress: { doneBytes: number; totalBytes: number }): void;
}

/**
 * Brings a model file to its place, whole and checked by size and SHA-256 as far as its server announces them. What came of an earlier try is continued.
 * @throws {DownloadFailure}, or the reason of the signal
 */
export async function downloadModel(
  address: ModelAddress,
  path: string,
  { deps, options }: { deps: DownloadDeps; options: DownloadOptions },
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = new PartFile(path);
  const held = await part.hold();
  try {
    const isThere = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
    if (!isThere) await complete(address, part, { deps, options });
  } finally {
    await held.release();
  }
}

async function complete(address: ModelAddress, part: PartFile, parts: { deps: DownloadDeps; options: DownloadOptions }): Promise<void> {
  const { pauseMs = PAUSE_MS } = parts.deps;
  let tries = 0;
  let before = -1;
  for (let resumes = 1; ; resumes++) {
    try {
      return await resume(address, part, parts);
    } catch (error) {
      parts.options.signal.throwIfAborted();
      if (!(error instanceof DownloadFailure) || !error.isPassing) throw error;
      const { bytes } = await part.left();
      tries = bytes > before ? 1 : tries + 1;
      before = bytes;
      if (tries >= MAX_TRIES || resumes >= MAX_RESUMES) throw error;
      await sleep(pauseMs * 2 ** (tries - 1), parts.options.signal);
    }
  }
}

/** One request for what is missing. @throws {DownloadFailure} `isPassing`: it may be taken up again */
async function resume(
  address: ModelAddress,
  part: PartFile,
  { deps, options }: { deps: DownloadDeps; options: DownloadOptions },
): Promise<void> {
  const left = await part.left();
  // Before the request: bytes that nobody reads yet are lost when the connection ends.
  const known = left.bytes > 0 ? await part.hash(options.signal) : createHash("sha256");
  const { response, facts } = await openDownload(address, { ...options, request: deps.request, from: left.bytes });
  response.body.on("error", () => undefined);
  try {
    const wanted = expected(facts, options.sha256);
    const isOther = left.bytes > 0 && !isSameFile(left.facts, wanted);
    const begin = firstByte(response);
    if (response.status === 416 && !isOther && left.bytes === wanted.size) return await check(part, wanted, known, options);
    if (response.status === 416 || isOther || (begin !== 0 && begin !== left.bytes)) {
      await part.discard();
      throw new DownloadFailure("network", "its server has another file than the part that is here; it was begun anew", {
        isPassing: true,
      });
    }
    const hash = begin === 0 ? createHash("sha256") : known;
    await receive(response, part, { begin: begin ?? 0, hash, wanted, deps, options });
  } finally {
    response.body.destroy();
  }
}

interface Receiving {
  begin: number;
  /** Of the bytes before. */
  hash: Hash;
  wanted: FileFacts;
  deps: DownloadDeps;
  options: DownloadOptions;
}

async function receive(response: HttpResponse, part: PartFile, { begin, hash, wanted, deps, options }: Receiving): Promise<void> {
  const totalBytes = wanted.size ?? 0;
  await checkRoom(part, { missing: totalBytes - begin, deps });
  const file = await part.append(begin, wanted);
  let doneBytes = begin;
  try {
    options.onProgress({ doneBytes, totalBytes });
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      options.signal.throwIfAborted();
      doneBytes += chunk.length;
      if (wanted.size !== undefined && doneBytes > wanted.size) {
        await part.discard();
        throw new DownloadFailure("network", `its server sent more than the ${wanted.size} bytes that it announced`);
      }
      await write(file, chunk, part);
      hash.update(chunk);
      options.onProgress({ doneBytes, totalBytes });
    }
    if (doneBytes < totalBytes) throw cut(doneBytes, totalBytes);
    await check(part, wanted, hash, options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw error instanceof DownloadFailure ? error : cut(doneBytes, totalBytes, error);
  } finally {
    await file.close();
  }
}

function cut(doneBytes: number, totalBytes: number, cause?: unknown): DownloadFailure {
  const of = totalBytes > 0 ? ` of ${totalBytes}` : "";
  const reason = cause === undefined ? "" : ` (${messageOf(cause).slice(0, 200)})`;
  return new DownloadFailure("network", `the connection ended after ${doneBytes}${of} bytes${reason}; the next try goes on from there`, {
    isPassing: true,
    cause,
  });
}

async function write(file: FileHandle, chunk: Buffer, part: PartFile): Promise<void> {
  try {
    await reached("local-runtime.before-write");
    await file.appendFile(chunk);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT") throw noRoom(part, "there is no room left on the disk");
    throw new DownloadFailure("network", `it cannot be written to ${dirname(part.path)}: ${code ?? messageOf(error)}`, { cause: error });
  }
}

async function checkRoom(part: PartFile, { missing, deps }: { missing: number; deps: DownloadDeps }): Promise<void> {
  const folder = dirname(part.path);
  const free = await (deps.freeBytes ?? freeBytesOf)(folder).catch(() => undefined);
  if (free !== undefined && missing + SPARE_BYTES > free) throw noRoom(part, `${missing} bytes are missing and ${free} are free`);
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function noRoom(part: PartFile, problem: string): DownloadFailure {
  const { path } = part;
  return new DownloadFailure(
    "model",
    `${problem} in ${dirname(path)}; free some, or set memorySearch.local.modelCacheDir; what came stays, and the next try goes on from there`,
  );
}

/** Facts that the file has to fit. @throws {DownloadFailure} where the config wants another one than its server has */
function expected(facts: FileFacts, sha256: string | undefined): FileFacts {
  const configured = sha256?.toLowerCase();
  if (configured !== undefined && facts.sha256 !== undefined && configured !== facts.sha256)
    throw new DownloadFailure(
      "model",
      `local.sha256 is ${configured}, and its server announces a file with ${facts.sha256}; correct one of both`,
    );
  return { ...facts, sha256: configured ?? facts.sha256 };
}

/** Whether bytes that came earlier belong to the file that is announced now. */
function isSameFile(before: FileFacts | undefined, now: FileFacts): boolean {
  if (!before || before.size !== now.size) return false;
  return before.sha256 === undefined && now.sha256 === undefined ? before.etag === now.etag : before.sha256 === now.sha256;
}

/** The file takes its place when it is what was announced; else nothing of it stays. @throws {DownloadFailure} */
async function check(part: PartFile, { size, sha256 }: FileFacts, hash: Hash, options: DownloadOptions): Promise<void> {
  options.signal.throwIfAborted();
  const found = hash.digest("hex");
  const isWeights = (await part.firstBytes(MAGIC.length)).toString("latin1") === MAGIC;
  if (isWeights && (sha256 === undefined || sha256 === found)) return part.finish();
  await part.discard();
  const what = !isWeights
    ? "it is no GGUF file; a proxy or a sign-in page may have answered in the place of its server"
    : `its SHA-256 is ${found}, expected ${sha256}`;
  throw new DownloadFailure("model", `what came (${size ?? "unknown"} bytes) is not the model: ${what}; nothing of it was kept, try again`);
}
