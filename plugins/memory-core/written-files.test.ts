import { expect, test } from "vitest";
import { WrittenFiles } from "./written-files.ts";

const signal = AbortSignal.timeout(10_000);

test("an agent that wrote a file has it indexed before its next search, once", async () => {
  const synced: string[] = [];
  const written = new WrittenFiles(async (agentId) => ({ joined: synced.push(agentId) === 1 }));
  await written.indexed("main", signal);
  expect(synced).toEqual([]);
  written.add("main");
  await written.indexed("other", signal);
  await written.indexed("main", signal);
  await written.indexed("main", signal);
  expect(synced).toEqual(["main", "main"]);
});

test("an index that cannot be brought up to date stops no search", async () => {
  const written = new WrittenFiles(() => Promise.reject(new Error("down")));
  written.add("main");
  await written.indexed("main", signal);
});
