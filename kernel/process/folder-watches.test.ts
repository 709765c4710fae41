import { EventEmitter } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import type { FolderWatches } from "../../sdk/types/folder-watches.ts";
import { createFolderWatches } from "./folder-watches.ts";

let root: string;
let open: FolderWatches | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-watches-"));
});
afterEach(async () => {
  open?.close();
  await rm(root, { recursive: true, force: true });
});

/** Watches that are opened by hand, and their handles by folder. */
function byHand() {
  const handles = new Map<string, EventEmitter & { isClosed: boolean; close(): void }>();
  const lost: unknown[][] = [];
  const watches = createFolderWatches({
    onEvent: () => undefined,
    onLost: (...why) => lost.push(why),
    open(folder) {
      if (folder.startsWith("bad")) throw new Error(`no ${folder}`);
      const handle = Object.assign(new EventEmitter(), {
        isClosed: false,
        close() {
          handle.isClosed = true;
        },
      });
      handles.set(folder, handle);
      return handle as never;
    },
  });
  return { watches, handles, lost };
}

test("an entry that comes or changes in a followed folder is told with its folder and name", async () => {
  await mkdir(join(root, "a"));
  const seen = new Set<string>();
  open = createFolderWatches({ onEvent: (folder, _event, name) => seen.add(`${folder} ${name}`), onLost: () => undefined });
  expect(open.follow([{ path: join(root, "a") }])).toBe(true);

  await writeFile(join(root, "a", "x.md"), "1");
  await writeFile(join(root, "y.md"), "1");

  await eventually(() => seen.has(`${join(root, "a")} x.md`));
  expect([...seen]).toEqual([`${join(root, "a")} x.md`]);
});

test("following others closes what is not among them and leaves the rest open", () => {
  const { watches, handles } = byHand();
  expect(watches.follow([{ path: "a" }, { path: "b" }])).toBe(true);
  const kept = handles.get("b");
  expect(watches.follow([{ path: "b" }])).toBe(false);
  expect([handles.get("a")?.isClosed, handles.get("b") === kept, kept?.isClosed]).toEqual([true, true, false]);
  expect([watches.has("a"), watches.has("b"), watches.size]).toEqual([false, true, 1]);
});

test("a folder in the place of another is watched anew", () => {
  const { watches, handles } = byHand();
  watches.follow([{ path: "a", key: "1" }]);
  const first = handles.get("a");
  expect(watches.follow([{ path: "a", key: "2" }])).toBe(true);
  expect([first?.isClosed, handles.get("a")?.isClosed]).toEqual([true, false]);
});

test("one that cannot be opened, or ends by itself, is told and tried again when it is followed again", () => {
  const { watches, handles, lost } = byHand();
  expect(watches.follow([{ path: "bad" }])).toBe(false);
  watches.add({ path: "a" });
  const first = handles.get("a");
  first?.emit("error", "gone");
  expect(lost).toEqual([
    ["bad", new Error("no bad"), false],
    ["a", "gone", true],
  ]);
  expect([first?.isClosed, watches.has("a")]).toEqual([true, false]);
  expect(watches.follow([{ path: "a" }])).toBe(true);

  first?.emit("error", "once more");
  expect(watches.has("a")).toBe(true);
});

test("nothing is open after the end", () => {
  const { watches, handles } = byHand();
  watches.follow([{ path: "a" }, { path: "b" }]);
  watches.close();
  expect([...handles.values()].map(({ isClosed }) => isClosed)).toEqual([true, true]);
  expect(watches.size).toBe(0);
});
