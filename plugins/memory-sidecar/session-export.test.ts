import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MemoryTranscript } from "svc/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exportSessions } from "./session-export.ts";
import { createTestState, type TestState, transcript } from "./test-sidecar.ts";

let state: TestState;
let exportDir: string;
beforeEach(() => {
  state = createTestState();
  exportDir = join(state.stateDir, "said");
});
afterEach(() => state.dispose());

const now = 1_800_000_000_000;
const day = 86_400_000;
const options = { now, signal: new AbortController().signal };

function run(sessions: MemoryTranscript[], retentionDays?: number) {
  const read = async function* ({ updatedAfter = 0 }) {
    for (const one of sessions) if (one.updatedAt > updatedAfter) yield one;
  };
  return exportSessions({ exportDir, retentionDays }, read, options);
}

test("a transcript becomes a file of its own, for its owner alone", async () => {
  expect(await run([transcript("s1", now, "User: hello", "Assistant: hi")])).toEqual({ files: 1, written: 1, deleted: 0 });
  expect(readFileSync(join(exportDir, "s1.md"), "utf8")).toBe("# Session Session s1\n\nUser: hello\nAssistant: hi\n");
  expect(statSync(join(exportDir, "s1.md")).mode & 0o777).toBe(0o600);
});

test("one that did not change is not read again, one that changed is written again, one with the same words is not", async () => {
  const one = transcript("s1", now - 5, "User: a");
  await run([one]);
  expect(await run([one])).toMatchObject({ written: 0 });
  expect(one.reads).toBe(1);
  expect(await run([transcript("s1", now - 4, "User: a")])).toMatchObject({ written: 0 });
  expect(await run([transcript("s1", now - 3, "User: a", "User: b")])).toMatchObject({ written: 1 });
});

test("files of sessions that are gone, or older than the retention, are deleted", async () => {
  await run([transcript("s1", now, "User: a"), transcript("s2", now - 8 * day, "User: b")]);
  expect(await run([transcript("s1", now, "User: a"), transcript("s2", now - 8 * day, "User: b")], 7)).toEqual({
    files: 1,
    written: 0,
    deleted: 1,
  });
  expect(await run([])).toMatchObject({ deleted: 1 });
  expect(readdirSync(exportDir)).toEqual([]);
});

describe("what is no export of ours", () => {
  test("stays", async () => {
    mkdirSync(exportDir);
    writeFileSync(join(exportDir, "shopping.md"), "# Shopping\n");
    writeFileSync(join(exportDir, "notes.txt"), "# Session x\n");
    await run([]);
    expect(readdirSync(exportDir).sort()).toEqual(["notes.txt", "shopping.md"]);
  });

  test("is not written through: neither a link in the folder nor one in its place", async () => {
    const target = join(state.stateDir, "target.md");
    writeFileSync(target, "mine");
    mkdirSync(exportDir);
    symlinkSync(target, join(exportDir, "s1.md"));
    await run([transcript("s1", now, "User: a")]);
    expect(readFileSync(target, "utf8")).toBe("mine");

    const elsewhere = join(state.stateDir, "elsewhere");
    mkdirSync(elsewhere);
    exportDir = join(state.stateDir, "link");
    symlinkSync(elsewhere, exportDir);
    await expect(run([transcript("s1", now, "User: a")])).rejects.toThrow("is a symbolic link");
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("an id that is no plain name is left out", async () => {
    expect(await run([transcript("../evil", now, "User: a")])).toMatchObject({ files: 0 });
    expect(existsSync(join(state.stateDir, "evil.md"))).toBe(false);
  });
});
