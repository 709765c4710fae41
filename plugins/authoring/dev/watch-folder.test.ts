import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CliContext } from "svc/sdk";
import { eventually, expectNoLeaks } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFolderWatches } from "../../../test/tools/folder-watches.ts";
import { type FolderWatch, watchFolder } from "./watch-folder.ts";

let root: string;
let watch: FolderWatch | undefined;
let seen: string[][];
let faults: unknown[];
const open: CliContext["watchFolders"] = async (options) => createFolderWatches(options);

expectNoLeaks();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-watch-"));
  await mkdir(join(root, "src"));
  await writeFile(join(root, "src/a.ts"), "1");
  seen = [];
  faults = [];
});

afterEach(async () => {
  watch?.dispose();
  await rm(root, { recursive: true, force: true });
});

const start = async (onChange: (paths: string[]) => Promise<void> = async (paths) => void seen.push(paths)) => {
  watch = await watchFolder(root, { open, debounceMs: 50, onChange, onFault: (error) => void faults.push(error) });
};

test("an edit, a new file and a removed one are told by their paths", async () => {
  await start();

  await writeFile(join(root, "src/a.ts"), "22");
  await eventually(() => seen.length === 1);
  await rm(join(root, "src/a.ts"));
  await writeFile(join(root, "b.json"), "{}");
  await eventually(() => seen.flat().length === 3);

  expect(seen[0]).toEqual(["src/a.ts"]);
  expect(seen.slice(1).flat().sort()).toEqual(["b.json", "src/a.ts"]);
});

test("a file in a folder that came later is seen too", async () => {
  await start();

  await mkdir(join(root, "src/deep"));
  await writeFile(join(root, "src/deep/c.ts"), "1");
  await eventually(() => seen.flat().includes("src/deep/c.ts"));
  await writeFile(join(root, "src/deep/c.ts"), "22");

  await eventually(() => seen.flat().filter((path) => path === "src/deep/c.ts").length === 2);
});

test("packages and dot files are nobody's edit", async () => {
  await start();

  await mkdir(join(root, "node_modules"));
  await writeFile(join(root, "node_modules/x.js"), "1");
  await writeFile(join(root, ".swap"), "1");
  await writeFile(join(root, "src/a.ts"), "22");

  await eventually(() => seen.length === 1);
  expect(seen.flat()).toEqual(["src/a.ts"]);
});

test("what changes while the last edit is worked on is told afterwards", async () => {
  let go: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  await start(async (paths) => {
    seen.push(paths);
    if (seen.length === 1) await held;
  });

  await writeFile(join(root, "src/a.ts"), "22");
  await eventually(() => seen.length === 1);
  // A second watch, begun later, says when the first one has looked too.
  const alsoSeen: string[] = [];
  const second = await watchFolder(root, {
    open,
    debounceMs: 50,
    onChange: async (paths) => void alsoSeen.push(...paths),
    onFault: () => undefined,
  });
  await writeFile(join(root, "b.ts"), "1");
  await writeFile(join(root, "c.ts"), "1");
  await eventually(() => alsoSeen.length === 2);
  second.dispose();
  go();

  await eventually(() => seen.slice(1).flat().length === 2);
  expect(seen.slice(1).flat().sort()).toEqual(["b.ts", "c.ts"]);
});

test("a tree that grows too large ends the watching, and is told", async () => {
  await start();

  await Promise.all(Array.from({ length: 257 }, (_, i) => mkdir(join(root, `src/f${i}`))));
  await eventually(() => faults.length > 0);
  await writeFile(join(root, "src/a.ts"), "22");

  expect(faults).toMatchObject([{ message: expect.stringContaining("too large to watch") }]);
  expect(seen).toEqual([]);
});

test("whoever cannot be told of a change ends it too", async () => {
  await start(() => Promise.reject(new Error("the gateway is gone")));

  await writeFile(join(root, "src/a.ts"), "22");
  await eventually(() => faults.length > 0);

  expect(faults).toMatchObject([{ message: "the gateway is gone" }]);
});
