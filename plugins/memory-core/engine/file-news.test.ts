import { expect, test } from "vitest";
import { createChangedFiles, createFileNews } from "./file-news.ts";

test("files are told once, and too many of them as a whole", () => {
  const news = createFileNews(2);
  for (const path of ["a", "b", "a"]) news.add(path);
  expect([news.take(), news.take()]).toEqual([["a", "b"], []]);
  for (const path of ["a", "b", "c"]) news.add(path);
  expect([news.take(), news.take()]).toEqual([undefined, []]);
  news.add("a");
  news.unclear();
  news.add("b");
  expect(news.take()).toBeUndefined();
});

test("changes are enough for the index that had everything before, and for no other", () => {
  const changed = createChangedFiles();
  const [index, another] = [{}, {}];
  expect(changed.take(index)).toBeUndefined();
  changed.settled(index);
  changed.add(["a"]);
  expect(changed.take(index)).toEqual(["a"]);
  expect(changed.take(another)).toBeUndefined();
  expect(changed.take(index)).toBeUndefined();
});

test.each<[string, (changed: ReturnType<typeof createChangedFiles>, index: object) => void]>([
  ["a sync that failed", (changed) => changed.failed()],
  ["an index that is being made", (changed) => void changed.take(undefined)],
  ["something unclear", (changed) => changed.add(undefined)],
])("after %s everything is looked at", (_, happen) => {
  const changed = createChangedFiles();
  const index = {};
  changed.settled(index);
  changed.add(["a"]);
  happen(changed, index);
  expect(changed.take(index)).toBeUndefined();
});
