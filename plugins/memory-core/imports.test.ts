import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** Modules that are loaded with a file: value imports only. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const match of readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?"([^"]+)";/gms)) {
    const name = match[1] as string;
    if (name.startsWith(".")) loadedBy(join(dirname(file), name), seen);
    else seen.add(name);
  }
  return seen;
}

const at = (name: string) => join(import.meta.dirname, name);
const packages = (entry: string) => [...loadedBy(at(entry))].filter((name) => !name.startsWith("/")).sort();

test("loading the plugin loads no database and no watcher", () => {
  expect(packages("index.ts")).toEqual([
    "node:crypto",
    "node:events",
    "node:fs/promises",
    "node:path",
    "node:path/posix",
    "node:timers/promises",
    "svc/sdk",
    "svc/sdk/internal",
  ]);
});

test("the thread loads the database, and not the SDK with its schemas", () => {
  expect(packages("index.worker.ts")).toContain("better-sqlite3");
  expect(packages("index.worker.ts")).not.toContain("svc/sdk");
  expect(packages("index.worker.ts")).not.toContain("svc/sdk/internal");
});

test("a command loads no database", () => {
  for (const name of ["status", "index", "search", "reset", "dream", "promote", "rem"])
    expect(packages(`cli/memory-${name}.ts`)).toEqual(["svc/sdk", "svc/sdk/internal"]);
});
