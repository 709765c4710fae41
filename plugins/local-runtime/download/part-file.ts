import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readFile, rename, rm, stat, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord, writeFileAtomic } from "svc/sdk";
import { isAlive, type LockOwner, processStartTime, syncFolder } from "svc/sdk/internal";
import { DownloadFailure } from "./download-failure.ts";
import type { FileFacts } from "./open-download.ts";

/** Bytes of a file that is on its way, beside the place where it will be, with what is known of the whole. */
export class PartFile {
  readonly path: string;
  readonly #part: string;
  readonly #facts: string;
  readonly #lock: string;

  /** @param path of the whole file */
  constructor(path: string) {
    this.path = path;
    this.#part = `${path}.part`;
    this.#facts = `${path}.part.json`;
    this.#lock = `${path}.part.lock`;
  }

  /** Keeps other processes out. @throws {DownloadFailure} while another one is at it */
  async hold(): Promise<{ release(): Promise<void> }> {
    const owner: LockOwner = { pid: process.pid, startTime: processStartTime(process.pid), createdAt: Date.now() };
    for (let isFirst = true; ; isFirst = false) {
      try {
        const file = await open(this.#lock, "wx", 0o600);
        await file.writeFile(JSON.stringify(owner)).finally(() => file.close());
        return { release: () => rm(this.#lock, { force: true }) };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        const other = await this.#owner();
        if (!isFirst || (other && isAlive(other)))
          throw new DownloadFailure("network", `another process (${other?.pid ?? "unknown"}) is downloading it`, { isPassing: true });
        await rm(this.#lock, { force: true });
      }
    }
  }

  async #owner(): Promise<LockOwner | undefined> {
    try {
      const read: unknown = JSON.parse(await readFile(this.#lock, "utf8"));
      return isRecord(read) && Number.isInteger(read.pid) ? (read as unknown as LockOwner) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Number of bytes that are here, and what was known of the whole when they came; none without both. */
  async left(): Promise<{ bytes: number; facts: FileFacts | undefined }> {
    try {
      const read: unknown = JSON.parse(await readFile(this.#facts, "utf8"));
      const { size: bytes } = await stat(this.#part);
      if (!isRecord(read)) return { bytes: 0, facts: undefined };
      const { size, sha256, etag } = read as Partial<FileFacts>;
      return { bytes, facts: { size, sha256, etag } };
    } catch {
      return { bytes: 0, facts: undefined };
    }
  }

  /** Opens it for appending behind its first bytes; what is beyond them goes. */
  async append(bytes: number, facts: FileFacts): Promise<FileHandle> {
    if (bytes === 0) await this.discard();
    await writeFileAtomic(this.#facts, JSON.stringify(facts));
    const file = await open(this.#part, "a", 0o600);
    if (bytes > 0) await truncate(this.#part, bytes);
    return file;
  }

  /** Hash of the bytes that are here. */
  async hash(signal: AbortSignal): Promise<Hash> {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(this.#part, { signal })) hash.update(chunk as Buffer);
    return hash;
  }

  async firstBytes(count: number): Promise<Buffer> {
    const file = await open(this.#part, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** It is whole: it takes its place. */
  async finish(): Promise<void> {
    const file = await open(this.#part, "r+");
    await file.sync().finally(() => file.close());
    await rename(this.#part, this.path);
    await rm(this.#facts, { force: true });
    await syncFolder(dirname(this.path));
  }

  async discard(): Promise<void> {
    await rm(this.#part, { force: true });
    await rm(this.#facts, { force: true });
  }
}
