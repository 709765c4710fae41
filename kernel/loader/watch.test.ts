import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import { rootSchema } from "../config/root-schema.ts";
import { watchTree } from "../process/watch-tree.ts";
import { createPluginWatch } from "./watch.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-plugin-watch-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const manifest = { id: "x", version: "1.0.0", svc: { api: "^1.0.0" } };
const plugin = async (id: string, more: Partial<PluginCandidate> = {}): Promise<PluginCandidate> => {
  const folder = join(root, id);
  await mkdir(folder);
  return { id, version: "1.0.0", root: folder, origin: "config", entry: join(folder, "index.ts"), manifest, ...more };
};

test("folders are watched while the config says so, of plugins that are on and not part of the program", async () => {
  const off = { state: "disabled" as const, code: "not-enabled" as const, reason: "off" };
  const candidates = [
    await plugin("mine"),
    await plugin("bundled", { origin: "bundled" }),
    await plugin("off", { problem: off }),
    await plugin("file", { manifest: undefined }),
  ];
  let watching = true;
  const reloaded: string[] = [];
  const watch = createPluginWatch({
    config: () => rootSchema.parse({ plugins: { reload: { watch: watching } } }),
    candidates: () => candidates,
    reload: async (id) => void reloaded.push(id),
  });
  let quiet = 0;
  const later = watchTree(root, 600, () => quiet++); // tells after everybody else would have
  const touchAll = async () => {
    for (const { root: folder } of candidates) await writeFile(join(folder, "index.ts"), String(Math.random()));
    await writeFile(join(root, "touched"), String(Math.random()));
  };

  watch.sync();
  watch.sync();
  await touchAll();
  await eventually(() => quiet === 1);
  expect(reloaded).toEqual(["mine"]);

  watching = false;
  watch.sync();
  await touchAll();
  await eventually(() => quiet === 2);
  expect(reloaded).toEqual(["mine"]);

  watching = true;
  watch.sync();
  await watch.dispose();
  await touchAll();
  await eventually(() => quiet === 3);
  expect(reloaded).toEqual(["mine"]);
  await later.dispose();
});

test("however often files change while a reload takes its time, one more follows it", async () => {
  const mine = await plugin("mine");
  let begun = 0;
  let end: () => void = () => undefined;
  const watch = createPluginWatch({
    config: () => rootSchema.parse({ plugins: { reload: { watch: true } } }),
    candidates: () => [mine],
    reload: () => {
      begun += 1;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    },
  });
  let seen = 0;
  const later = watchTree(mine.root, 400, () => seen++); // tells after the watch would have
  watch.sync();
  for (let n = 1; n <= 4; n++) {
    await writeFile(join(mine.root, "index.ts"), String(n));
    await eventually(() => seen === n);
  }

  expect(begun).toBe(1);
  end();
  await eventually(() => begun === 2);
  end();
  await watch.dispose();
  await later.dispose();
  expect(begun).toBe(2);
});
