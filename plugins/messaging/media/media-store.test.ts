import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { eventually, type FakeClock, fakeClock } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MediaStore, mediaLimits } from "./media-store.ts";

const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
const bounds = { ...mediaLimits, fileBytes: 1_000, totalBytes: 3_000, totalFiles: 10, atOnce: 2, waiting: 3, waitingBytes: 2_500 };

let folder: string;
let clock: FakeClock;
let stopping: AbortController;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-media-test-"));
  clock = fakeClock();
  stopping = new AbortController();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (changes: Partial<typeof bounds> = {}) => new MediaStore(folder, { clock, logger, bounds: { ...bounds, ...changes } });
const inboxOf = (store: MediaStore, maxBytes?: number) => store.inbox({ maxBytes, signal: stopping.signal });
const bytes = (length: number) => new Uint8Array(length).fill(120);
const text = { mime: "text/plain" };
const names = () => readdir(folder);

async function* chunks(...parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

describe("an attachment", () => {
  test("is kept as it came, from bytes and from a stream, where only this user may read it", async () => {
    const inbox = inboxOf(open());
    const one = await inbox.save(bytes(5), text);
    const two = await inbox.save(chunks(bytes(2), new Uint8Array(0), bytes(3)), text);
    for (const { path, bytes: size } of [one, two]) {
      expect(size).toBe(5);
      expect(await readFile(path, "utf8")).toBe("xxxxx");
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(basename(path)).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  test("that is too large leaves nothing, and neither does one whose stream fails", async () => {
    const inbox = inboxOf(open(), 4);
    await expect(inbox.save(bytes(5), text)).rejects.toMatchObject({ code: "media-too-large", fields: { maxBytes: 4 } });
    await expect(inboxOf(open()).save(chunks(bytes(600), bytes(600)), text)).rejects.toMatchObject({ code: "media-too-large" });
    const broken = (async function* () {
      yield bytes(1);
      throw new Error("the link broke");
    })();
    await expect(inbox.save(broken, text)).rejects.toThrow("the link broke");
    expect(await names()).toEqual([]);
  });

  test("whose stream stops, or never ends, is given up, and its source is told", async () => {
    let left = 0;
    const silent = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(nothing),
        async return() {
          left += 1;
          return { done: true as const, value: undefined };
        },
      }),
    };
    await expect(inboxOf(open({ stallMs: 20 })).save(silent, text)).rejects.toMatchObject({ code: "media-stalled" });
    const endless = (async function* () {
      for (;;) yield new Uint8Array(0);
    })();
    await expect(inboxOf(open({ wholeMs: 50 })).save(endless, text)).rejects.toMatchObject({ code: "media-stalled" });
    const waiting = inboxOf(open()).save(silent, text);
    stopping.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
    expect(left).toBe(2);
    expect(await names()).toEqual([]);
  });

  test("finds no room beside too many others: at once, waiting, and in all", async () => {
    const store = open();
    const inbox = inboxOf(store);
    const held = [0, 1].map(() =>
      inbox.save(
        (async function* () {
          await eventually(() => stopping.signal.aborted);
          yield bytes(1);
        })(),
        text,
      ),
    );
    for (const one of held) one.catch(nothing);
    await expect(inbox.save(bytes(1), text)).rejects.toMatchObject({ code: "media-full" });
    stopping.abort(new Error("stopped"));
    await Promise.allSettled(held);
    stopping = new AbortController();

    const second = inboxOf(store);
    for (let n = 0; n < 3; n++) await second.save(bytes(900), text);
    await expect(second.save(bytes(1), text)).rejects.toMatchObject({ code: "media-full" });
    await expect(inboxOf(store).save(bytes(900), text)).rejects.toMatchObject({ code: "media-full" });
    await second.close();
    await inboxOf(store).save(bytes(900), text);
    expect(await names()).toHaveLength(1);
  });

  test("lives as long as its message: removed when that is not taken on, does not come, or ends", async () => {
    const store = open();
    const inbox = inboxOf(store);
    const [a, b, c] = [await inbox.save(bytes(1), text), await inbox.save(bytes(2), text), await inbox.save(bytes(3), text)];
    await inbox.settle([a.path, "/etc/passwd"]);
    await inbox.settle([b.path], new Set([b.path]));
    expect((await names()).sort()).toEqual([basename(b.path), basename(c.path)].sort());
    await inbox.settle([b.path]);
    await clock.advance(mediaLimits.waitingMs + 1);
    store.expire();
    await eventually(async () => expect(await names()).toEqual([basename(b.path)]) ?? true);
    expect(inbox.find(c.path)).toBeUndefined();
    await inbox.close();
    expect(await store.read(basename(b.path), 10)).toEqual(Buffer.from("xx"));
    expect(await store.read(basename(b.path), 1)).toBeUndefined();
    await store.remove([basename(b.path), "../../etc/passwd"]);
    expect(await names()).toEqual([]);
  });

  test("of a message that is being taken on outlasts a stop of its account, and the wait for its message", async () => {
    const inbox = inboxOf(open());
    const [stored, refused] = [await inbox.save(bytes(1), text), await inbox.save(bytes(2), text)];
    const release = inbox.hold([stored.path, refused.path]);
    await clock.advance(mediaLimits.waitingMs + 1);
    inbox.expire();
    await inbox.close();
    expect((await names()).sort()).toEqual([basename(stored.path), basename(refused.path)].sort());

    await inbox.settle([stored.path], new Set([stored.path]));
    await release();

    expect(await names()).toEqual([basename(stored.path)]);
  });

  test("of a message that may have been stored all the same is known again at its repeat", async () => {
    const inbox = inboxOf(open());
    const [sure, other] = [await inbox.save(bytes(1), text), await inbox.save(bytes(2), text)];
    inbox.doubt([sure.path, "/etc/passwd"]);

    expect([...inbox.doubtful([sure.path, other.path])]).toEqual([sure.path]);
  });

  test("of an earlier process is removed, unless a row still needs it, and counts", async () => {
    await writeFile(join(folder, "kept"), bytes(2_500));
    await writeFile(join(folder, "left"), bytes(10));
    await symlink("/etc/passwd", join(folder, "link"));
    const store = open();
    await store.takeOver(new Set(["kept", "link"]));
    expect((await names()).sort()).toEqual(["kept", "link"]);
    expect(await store.read("link", 1_000_000)).toBeUndefined();
    await expect(inboxOf(store).save(bytes(900), text)).rejects.toMatchObject({ code: "media-full" });
  });
});
