import { EventEmitter, once } from "node:events";
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FileWatch, type FileWatchOptions, watchFiles } from "./watch-files.ts";

let dir: string;
let main: string;
let open: FileWatch[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-watch-"));
  main = join(dir, "svc.json");
  await writeFile(main, "{}");
  open = [];
});

afterEach(async () => {
  for (const watch of open) watch.dispose();
  await rm(dir, { recursive: true, force: true });
});

/** Watches the main file; resolves once the call that follows `setFiles` has come. */
async function follow(own: Partial<FileWatchOptions> = {}, files = [main]) {
  const seen = { changes: 0, warnings: [] as string[] };
  const bus = new EventEmitter();
  const watch = watchFiles({
    debounceMs: () => 20,
    onChange: () => {
      seen.changes += 1;
      bus.emit("change");
    },
    onWarning: (message) => seen.warnings.push(message),
    ...own,
  });
  open.push(watch);
  const first = once(bus, "change");
  watch.setFiles(files);
  await first;
  return { watch, seen, change: () => once(bus, "change") };
}

/** The next change is that of this file alone: whatever came before it was silent. */
async function nothingElse(at: Awaited<ReturnType<typeof follow>>, before: number) {
  const change = at.change();
  await writeFile(main, `{ "last": ${before} }`);
  await change;
  expect(at.seen.changes).toBe(before + 1);
}

describe("a followed file", () => {
  test("is reported once for a burst of writes", async () => {
    const at = await follow();
    const change = at.change();
    for (let i = 0; i < 20; i++) await writeFile(main, `{ "n": ${i} }`);
    await change;
    await nothingElse(at, 2);
  });

  test("is reported when it is replaced, deleted and made again", async () => {
    const at = await follow();
    for (const act of [
      async () => {
        await writeFile(join(dir, "temp"), "new");
        await rename(join(dir, "temp"), main);
      },
      () => rm(main),
      () => writeFile(main, "again"),
    ]) {
      const change = at.change();
      await act();
      await change;
    }
    expect(at.seen.changes).toBe(4);
  });

  test("that is still being written is read until two reads agree", async () => {
    const reads = ["start", "start", "half", "more", "whole", "whole"];
    const done: string[] = [];
    const fingerprint = async () => {
      done.push(reads.shift() ?? "too many");
      return done.at(-1) as string;
    };
    const at = await follow({ fingerprint });
    const change = at.change();
    await writeFile(main, "x");
    await change;
    expect(done).toEqual(["start", "start", "half", "more", "whole", "whole"]);
    expect(at.seen.changes).toBe(2);
  });

  test("is silent when it is touched, written with equal bytes, or when a neighbour changes", async () => {
    const at = await follow();
    await utimes(main, new Date(), new Date());
    await writeFile(main, "{}");
    await writeFile(join(dir, "other.json"), "x");
    await nothingElse(at, 1);
  });

  test("in another folder is followed from the moment it is named, and no longer than that", async () => {
    await mkdir(join(dir, "parts"));
    const part = join(dir, "parts", "a.json5");
    await writeFile(part, "1");
    const at = await follow();
    const named = at.change();
    at.watch.setFiles([main, part]);
    await named;
    const change = at.change();
    await writeFile(part, "2");
    await change;
    const dropped = at.change();
    at.watch.setFiles([main]);
    await dropped;
    await writeFile(part, "3");
    await nothingElse(at, 4);
  });

  test("is reported once when it is named: it may have changed before", async () => {
    const at = await follow();
    at.watch.setFiles([main]);
    await nothingElse(at, 1);
  });
});

describe("without a folder watch", () => {
  test.each(["EMFILE", "ENOSPC"])("%s is one warning, and the poll finds the change", async (code) => {
    const watchFolder = () => {
      throw Object.assign(new Error(`${code}: no more watches`), { code });
    };
    const at = await follow({ watchFolder, pollMs: 20 });
    const change = at.change();
    await writeFile(main, '{ "a": 1 }');
    await change;
    expect(at.seen.warnings).toEqual([`${dir} cannot be watched, so it is checked for changes every 0.02 s: ${code}: no more watches`]);
  });

  test("that dies later the poll takes over and opens a new one", async () => {
    const made: EventEmitter[] = [];
    const watchFolder = () => {
      const watcher = Object.assign(new EventEmitter(), { close: () => undefined });
      made.push(watcher);
      return watcher as never;
    };
    const at = await follow({ watchFolder, pollMs: 20 });
    made[0]?.emit("error", new Error("gone"));
    const change = at.change();
    await writeFile(main, '{ "a": 1 }');
    await change;
    expect(made.length).toBeGreaterThan(1);
    expect(at.seen.warnings).toHaveLength(1);
  });

  test("a folder that is not there yet is no crash", async () => {
    const later = join(dir, "later", "a.json5");
    const at = await follow({ pollMs: 20 }, [main, later]);
    const change = at.change();
    await mkdir(join(dir, "later"));
    await writeFile(later, "1");
    await change;
    expect(at.seen.changes).toBe(2);
  });
});

test("a poll that died silently is noticed by its age and started again", async () => {
  let now = 0;
  let started = 0;
  const timers = { setInterval: () => ++started, clearInterval: () => undefined };
  const at = await follow({ timers, now: () => now, pollMs: 5_000 });

  now = 15_000;
  expect(at.watch.revive()).toBe(false);
  expect(at.watch.lastRanAgeMs()).toBe(15_000);

  now = 15_001;
  expect(at.watch.revive()).toBe(true);
  expect(started).toBe(2);
  expect(at.watch.lastRanAgeMs()).toBe(0);
});

test("following nothing has no age and is never dead", async () => {
  let now = 0;
  const at = await follow({ now: () => now });
  at.watch.setFiles([]);
  now = 1e9;
  expect(at.watch.lastRanAgeMs()).toBeUndefined();
  expect(at.watch.revive()).toBe(false);
});
