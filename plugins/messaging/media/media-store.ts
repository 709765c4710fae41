import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Clock, commonErrors, type Logger, limits, messageOf } from "svc/sdk";
import { messagingErrors } from "../errors.ts";
import { writeLimited } from "./write-limited.ts";

/** File of a message, or of one that is about to come. */
export interface SavedMedia {
  path: string;
  bytes: number;
  mime: string;
}

export interface MediaLimits {
  /** Bytes of one file. */
  fileBytes: number;
  /** Bytes of all files. */
  totalBytes: number;
  totalFiles: number;
  /** Files of one account that are being written, and that no message has named yet. */
  atOnce: number;
  waiting: number;
  waitingBytes: number;
  /** Time without a byte, and for a whole file. */
  stallMs: number;
  wholeMs: number;
  /** Time for the message of a file to come. */
  waitingMs: number;
}

export const mediaLimits: MediaLimits = {
  fileBytes: limits.attachmentMaxBytes,
  totalBytes: 512 * 1024 * 1024,
  totalFiles: 4_000,
  atOnce: 8,
  waiting: 100,
  waitingBytes: 128 * 1024 * 1024,
  stallMs: 15_000,
  wholeMs: 120_000,
  waitingMs: 600_000,
};

interface Waiting extends SavedMedia {
  savedAt: number;
  /** Its message is being taken on: a stop of the account waits for that. */
  isHeld?: boolean;
  /** Its message may have been stored by a commit whose answer was lost. */
  isDoubtful?: boolean;
}

/**
 * Files of messages that wait or are being answered, each under a random name in one folder. A file belongs to an account until the message that names it is
 * stored, and to that message until its row ends; what belongs to nothing is removed.
 */
export class MediaStore {
  readonly #folder: string;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #logger: Logger;
  readonly #limits: MediaLimits;
  /** Sizes by name: of what is there, and of what is being written. */
  readonly #sizes = new Map<string, number>();
  readonly #inboxes = new Set<MediaInbox>();
  #bytes = 0;

  constructor(
    folder: string,
    { clock, logger, bounds = mediaLimits }: { clock: Pick<Clock, "monotonic">; logger: Logger; bounds?: MediaLimits },
  ) {
    this.#folder = folder;
    this.#clock = clock;
    this.#logger = logger;
    this.#limits = bounds;
  }

  /** Removes what an earlier process has left, but for files of rows that are still open. */
  async takeOver(kept: ReadonlySet<string>): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      if (this.#sizes.has(name)) continue;
      if (!kept.has(name)) await this.#erase(name);
      else this.#resize(name, (await stat(join(this.#folder, name)).catch(() => undefined))?.size ?? 0);
    }
  }

  /** Files of one run of an account. @param maxBytes what the platform allows for one */
  inbox({ maxBytes, signal }: { maxBytes: number | undefined; signal: AbortSignal }): MediaInbox {
    const fileBytes = Math.min(maxBytes ?? this.#limits.fileBytes, this.#limits.fileBytes);
    const inbox = new MediaInbox({
      clock: this.#clock,
      bounds: { ...this.#limits, fileBytes },
      write: (content, mime) => this.#write(content, { mime, fileBytes, signal }),
      remove: (names) => this.remove(names),
      onClose: () => this.#inboxes.delete(inbox),
    });
    this.#inboxes.add(inbox);
    return inbox;
  }

  /** Removes files whose message has not come. */
  expire(): void {
    for (const inbox of this.#inboxes) inbox.expire();
  }

  /** Bytes of a file of at most this size; undefined when it is gone or larger. */
  async read(name: string, maxBytes: number): Promise<Buffer | undefined> {
    if ((this.#sizes.get(name) ?? Number.POSITIVE_INFINITY) > maxBytes) return undefined;
    try {
      const file = await open(join(this.#folder, name), constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        return await file.readFile();
      } finally {
        await file.close();
      }
    } catch (error) {
      this.#logger.warn("an attachment could not be read", { error: messageOf(error) });
      return undefined;
    }
  }

  /** Never rejects: what stays is removed at the next start. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) if (this.#sizes.has(name)) await this.#erase(name);
  }

  async #write(content: Uint8Array | AsyncIterable<Uint8Array>, { mime, fileBytes, signal }: WriteRequest): Promise<SavedMedia> {
    const { totalBytes, totalFiles, stallMs, wholeMs } = this.#limits;
    if (this.#sizes.size >= totalFiles) throw messagingErrors.mediaFull({ reason: `${totalFiles} files wait` });
    const name = randomBytes(16).toString("hex");
    const path = join(this.#folder, name);
    this.#sizes.set(name, 0);
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const grow = (bytes: number) => {
        if (bytes > fileBytes) throw commonErrors.mediaTooLarge({ maxBytes: fileBytes });
        this.#resize(name, bytes);
        if (this.#bytes > totalBytes) throw messagingErrors.mediaFull({ reason: `all files together have ${totalBytes} bytes` });
      };
      return { path, ...(await writeLimited(path, content, { mime, grow, stallMs, wholeMs, signal })) };
    } catch (error) {
      await this.#erase(name);
      throw error;
    }
  }

  async #erase(name: string): Promise<void> {
    this.#resize(name, 0);
    this.#sizes.delete(name);
    await rm(join(this.#folder, name), { force: true, recursive: true }).catch((error: unknown) =>
      this.#logger.warn("an attachment could not be removed", { error: messageOf(error) }),
    );
  }

  #resize(name: string, bytes: number): void {
    this.#bytes += bytes - (this.#sizes.get(name) ?? 0);
    this.#sizes.set(name, bytes);
  }
}

interface WriteRequest {
  mime: string;
  fileBytes: number;
  signal: AbortSignal;
}

interface InboxDeps {
  clock: Pick<Clock, "monotonic">;
  bounds: MediaLimits;
  write(content: Uint8Array | AsyncIterable<Uint8Array>, mime: string): Promise<SavedMedia>;
  remove(names: readonly string[]): Promise<void>;
  onClose(): void;
}

/** Files that one run of an account has saved and no message has taken yet. */
export class MediaInbox {
  readonly #deps: InboxDeps;
  readonly #waiting = new Map<string, Waiting>();
  #writing = 0;
  #isClosed = false;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** @throws {SvcError} `media-too-large`, `media-stalled`, `media-full` */
  async save(content: Uint8Array | AsyncIterable<Uint8Array>, { mime }: { mime: string }): Promise<SavedMedia> {
    const { bounds, clock } = this.#deps;
    if (this.#writing >= bounds.atOnce) throw messagingErrors.mediaFull({ reason: `${bounds.atOnce} files are being received` });
    const bytes = [...this.#waiting.values()].reduce((sum, one) => sum + one.bytes, 0);
    if (this.#waiting.size >= bounds.waiting || bytes >= bounds.waitingBytes)
      throw messagingErrors.mediaFull({ reason: `${this.#waiting.size} files with ${bytes} bytes wait for their message` });
    this.#writing += 1;
    try {
      const saved = await this.#deps.write(content, mime);
      if (this.#isClosed) {
        await this.#deps.remove([basename(saved.path)]);
        throw messagingErrors.mediaFull({ reason: "the account was stopped" });
      }
      this.#waiting.set(saved.path, { ...saved, savedAt: clock.monotonic() });
      return saved;
    } finally {
      this.#writing -= 1;
    }
  }

  /** The file at this path, if it was saved here and no message has taken it. */
  find(path: string): SavedMedia | undefined {
    return this.#waiting.get(path);
  }

  /** Gives the message that names these files those that it keeps; the others go. */
  async settle(paths: readonly string[], kept: ReadonlySet<string> = new Set()): Promise<void> {
    const own = paths.filter((path) => this.#waiting.delete(path));
    await this.#deps.remove(own.filter((path) => !kept.has(path)).map((path) => basename(path)));
  }

  /** Keeps files through a stop and their expiry until their message is decided. @returns to be called then; removes what no message has taken of a stopped account */
  hold(paths: readonly string[]): () => Promise<void> {
    const held = paths.flatMap((path) => this.#waiting.get(path) ?? []);
    for (const file of held) file.isHeld = true;
    return async () => {
      for (const file of held) file.isHeld = false;
      if (this.#isClosed) await this.settle(paths);
    };
  }

  /** Marks files of a message that may have been stored all the same. */
  doubt(paths: Iterable<string>): void {
    for (const path of paths) {
      const file = this.#waiting.get(path);
      if (file) file.isDoubtful = true;
    }
  }

  /** Returns the files that `doubt` has marked. */
  doubtful(paths: readonly string[]): ReadonlySet<string> {
    return new Set(paths.filter((path) => this.#waiting.get(path)?.isDoubtful));
  }

  expire(): void {
    const oldest = this.#deps.clock.monotonic() - this.#deps.bounds.waitingMs;
    void this.settle(this.#free().filter((path) => (this.#waiting.get(path)?.savedAt ?? 0) < oldest));
  }

  /** Ends it with its run. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#deps.onClose();
    await this.settle(this.#free());
  }

  #free(): string[] {
    return [...this.#waiting].filter(([, { isHeld }]) => isHeld !== true).map(([path]) => path);
  }
}
