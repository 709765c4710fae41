import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { continueReplacement, hasReplacement } from "svc/sdk/internal";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { atFailpoints } from "../../../test/fixtures/failpoints.ts";
import { openConnection } from "../native.ts";
import { schemaSteps } from "../schema.ts";
import { append, type TempStore, tempStore } from "../testing/temp-store.ts";
import { isOccupying, isReplaced, judgeEntry } from "./contents.ts";
import { type BackupOptions, createBackup } from "./create.ts";
import { type BackupManifest, readManifest } from "./manifest.ts";
import { type RestoreOptions, restoreBackup } from "./restore-backup.ts";
import { verifyBackup } from "./verify.ts";

const { signal } = new AbortController();
const CONFIG = '{ gateway: { mode: "local" } }\n';

/** Two states with something of everything, made once, and a backup of the first. */
const made = { one: "", two: "", backup: "" };

beforeAll(async () => {
  for (const mark of ["one", "two"] as const) made[mark] = await makeState(mark);
  made.backup = join(tempStore(afterAll).dir, "b");
  await back(made.one, made.backup);
});

async function makeState(mark: string): Promise<string> {
  const temp = tempStore(afterAll);
  const files = {
    "svc.json": CONFIG,
    "svc.json.last-good": CONFIG,
    ".env": "KEY=secret-of-the-environment\n",
    "identity/device.json": "{}",
    "workspace/MEMORY.md": `notes of ${mark}\n`,
    "workspace/run.sh": "#!/bin/sh\n",
    "workspace/list.jsonl": '{"last line": "without an end"}',
    "logs/gateway-2026-01-01.jsonl": '{"a":1}\n{"half',
    "memory/main.sqlite": "derived",
    "gateway/boots.json": "{}",
    "odd.txt": "of somebody else",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(temp.dir, path, ".."), { recursive: true });
    writeFileSync(join(temp.dir, path), text, { mode: path.endsWith(".sh") ? 0o755 : 0o600 });
  }
  const store = await temp.open();
  await store.commit([append(mark)]);
  await store.close();
  return temp.dir;
}

/** A copy of such a state, and an empty folder beside it. */
function stateWith(mark: "one" | "two"): { temp: TempStore; stateDir: string; beside: TempStore } {
  const [temp, beside] = [tempStore(onTestFinished), tempStore(onTestFinished)];
  cpSync(made[mark], temp.dir, { recursive: true });
  return { temp, stateDir: temp.dir, beside };
}

function backupIn(beside: TempStore): string {
  const dir = join(beside.dir, "b");
  cpSync(made.backup, dir, { recursive: true });
  return dir;
}

function back(stateDir: string, dir: string, given: Partial<BackupOptions> = {}): Promise<BackupManifest> {
  const configPath = join(stateDir, "svc.json");
  const texts = existsSync(configPath) ? [{ path: configPath, text: CONFIG, redacted: CONFIG }] : [];
  return createBackup({ stateDir, configPath, texts, outside: [], version: "1.2.3" }, dir, {
    withSecrets: false,
    signal,
    now: 1_000,
    ...given,
  });
}

function restore(dir: string, stateDir: string, given: Partial<RestoreOptions> = {}) {
  const target = {
    stateDir,
    configPath: join(stateDir, "svc.json"),
    refill: (text: string) => ({ text, missing: [] }),
    holdState: async <T>(work: () => Promise<T>) => {
      await continueReplacement(stateDir);
      return work();
    },
  };
  return restoreBackup(dir, target, { replace: false, signal, now: 2_000, ...given });
}

async function messagesIn(stateDir: string): Promise<unknown> {
  const db = await openConnection(join(stateDir, "state.sqlite"), { readonly: true, fileMustExist: true });
  try {
    return db.prepare("SELECT id FROM messages ORDER BY row").pluck().all();
  } finally {
    db.close();
  }
}

const notesIn = (stateDir: string) => readFileSync(join(stateDir, "workspace/MEMORY.md"), "utf8");
const pathsOf = ({ files }: BackupManifest) => files.map(({ path }) => path);

describe("a backup", () => {
  test("holds config, database, notes and logs up to their last whole line, says what it left out, and is whole", async () => {
    const { stateDir, beside } = stateWith("one");
    symlinkSync("/etc/passwd", join(stateDir, "workspace/link"));
    const dir = join(beside.dir, "b");

    const manifest = await back(stateDir, dir);

    expect(pathsOf(manifest).sort()).toEqual([
      "config/svc.json",
      "state/logs/gateway-2026-01-01.jsonl",
      "state/state.sqlite",
      "state/workspace/MEMORY.md",
      "state/workspace/list.jsonl",
      "state/workspace/run.sh",
    ]);
    expect(readFileSync(join(dir, "state/workspace/list.jsonl"), "utf8")).toContain("without an end");
    expect(manifest).toMatchObject({
      format: 1,
      svc: "1.2.3",
      createdAt: "1970-01-01T00:00:01.000Z",
      database: { schema: schemaSteps.length },
    });
    expect(manifest.leftOut.map(({ path }) => path).sort()).toEqual([".env", "identity", "memory", "odd.txt", "workspace/link"]);
    expect(readFileSync(join(dir, "state/logs/gateway-2026-01-01.jsonl"), "utf8")).toBe('{"a":1}\n');
    expect(await messagesIn(join(dir, "state"))).toEqual(["one"]);
    expect((await verifyBackup(dir, signal)).problems).toEqual([]);
    expect([statSync(dir).mode & 0o777, statSync(join(dir, "state/workspace/run.sh")).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test("of a running store is of one moment, and commits go on meanwhile", async () => {
    const { temp, stateDir, beside } = stateWith("one");
    const store = await temp.open();
    // Several steps of the copy: without its one read transaction it would begin again after each commit.
    for (let n = 0; n < 8; n += 1) await store.commit([append(`large${n}`, { content: [{ type: "text", text: "x".repeat(1_000_000) }] })]);
    let isDone = false;
    const dir = join(beside.dir, "b");
    const committing = (async () => {
      let count = 0;
      for (; !isDone; count += 1) await store.commit([append(`m${count}`), append(`pair${count}`)]);
      return count;
    })();

    const shares: number[] = [];
    const onProgress: BackupOptions["onProgress"] = ({ what }) => {
      const share = /^database (\d+) %$/.exec(what)?.[1];
      if (share !== undefined) shares.push(Number(share));
    };
    await back(stateDir, dir, { onProgress });
    isDone = true;

    expect(await committing).toBeGreaterThan(0);
    expect(shares.length).toBeGreaterThan(2);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    const found = (await messagesIn(join(dir, "state"))) as string[];
    // Both of a commit or none.
    expect(found.filter((id) => id.startsWith("m")).length).toBe(found.filter((id) => id.startsWith("pair")).length);
    expect((await verifyBackup(dir, signal)).problems).toEqual([]);
  });

  test("has secrets only when that is asked for", async () => {
    const { stateDir, beside } = stateWith("one");
    const manifest = await back(stateDir, join(beside.dir, "b"), { withSecrets: true });
    expect(pathsOf(manifest)).toEqual(expect.arrayContaining(["state/.env", "state/identity/device.json"]));
  });

  test("of a state without a database has none", async () => {
    const { stateDir, beside } = stateWith("one");
    rmSync(join(stateDir, "state.sqlite"));
    expect((await back(stateDir, join(beside.dir, "b"))).database).toBeUndefined();
  });

  test("goes to no folder in use, and to none inside the state", async () => {
    const { stateDir, beside } = stateWith("one");
    writeFileSync(join(beside.dir, "file"), "");
    for (const dir of [beside.dir, join(beside.dir, "file"), join(stateDir, "new/b")]) {
      await expect(back(stateDir, dir)).rejects.toMatchObject({ code: "backup-target" });
    }
    expect(readdirSync(beside.dir)).toEqual(["file"]);
  });

  test("of a damaged database is refused and leaves nothing", async () => {
    const { stateDir, beside } = stateWith("one");
    writeFileSync(join(stateDir, "state.sqlite"), "this is no database, and long enough to be looked at");
    await expect(back(stateDir, join(beside.dir, "b"))).rejects.toMatchObject({ code: "backup-database" });
    expect(readdirSync(beside.dir)).toEqual([]);
  });

  test.each(["backup.after-database", "backup.after-write", "backup.before-rename"])("that fails at %s leaves nothing", async (point) => {
    const { stateDir, beside } = stateWith("one");
    failAt(point);
    await expect(back(stateDir, join(beside.dir, "b"))).rejects.toThrow(point);
    expect(readdirSync(beside.dir)).toEqual([]);
  });

  test("removes what one that was killed has left, and nothing of one that runs", async () => {
    const { stateDir, beside } = stateWith("one");
    for (const name of [".b.backup-999999999-1", `.b.backup-${process.ppid}-0`, ".c.backup-999999999-1"]) mkdirSync(join(beside.dir, name));
    await back(stateDir, join(beside.dir, "b"));
    // The start time of a living process tells a recycled pid: that one is gone, too.
    expect(readdirSync(beside.dir).sort()).toEqual([".c.backup-999999999-1", "b"]);
  });
});

function failAt(point: string): void {
  atFailpoints((name) => {
    if (name === point) throw new Error(`failpoint ${point}`);
  });
}

test("a config elsewhere comes with what it includes below its folder, through links; the rest is told, and it is restored under the name that it has there", async () => {
  const { stateDir, beside } = stateWith("one");
  const configDir = join(beside.dir, "etc");
  mkdirSync(join(configDir, "parts"), { recursive: true });
  writeFileSync(join(configDir, "real.json"), CONFIG);
  symlinkSync(join(configDir, "real.json"), join(configDir, "mine.json"));
  writeFileSync(join(configDir, "parts/auth.json5"), "{}");
  const paths = [join(configDir, "mine.json"), join(configDir, "parts/auth.json5"), join(beside.dir, "far.json5")];
  const texts = paths.map((path) => ({ path, text: "", redacted: undefined }));
  const source = { stateDir, configPath: join(configDir, "mine.json"), texts, outside: ["/notes"], version: "1" };

  const manifest = await createBackup(source, join(beside.dir, "b"), { withSecrets: true, signal, now: 1 });

  expect(pathsOf(manifest).filter((path) => path.startsWith("config/"))).toEqual(["config/mine.json", "config/parts/auth.json5"]);
  expect(manifest.leftOut.map(({ path }) => path)).toEqual(expect.arrayContaining([paths[2], "/notes"]));
  const next = join(beside.dir, "next");
  mkdirSync(join(beside.dir, "etc2"));
  const target = { stateDir: next, configPath: join(beside.dir, "etc2/svc.json"), refill: (text: string) => ({ text, missing: [] }) };
  await restoreBackup(join(beside.dir, "b"), { ...target, holdState: (work) => work() }, { replace: false, signal, now: 1 });
  expect(readFileSync(join(beside.dir, "etc2/svc.json"), "utf8")).toBe(CONFIG);
  expect(readdirSync(join(beside.dir, "etc2")).sort()).toEqual(["parts", "svc.json"]);
  expect(existsSync(join(next, "svc.json"))).toBe(false);
});

test("nothing of a state that was at rest is changed by a backup but an empty log beside its database", async () => {
  const { stateDir, beside } = stateWith("one");
  const before = readFileSync(join(stateDir, "state.sqlite"));
  await back(stateDir, join(beside.dir, "b"));
  expect(readFileSync(join(stateDir, "state.sqlite")).equals(before)).toBe(true);
  const log = join(stateDir, "state.sqlite-wal");
  expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
});

describe("verify finds", () => {
  test.each<[string, (dir: string) => void, string, string]>([
    [
      "a changed byte",
      (dir) => writeFileSync(join(dir, "state/workspace/MEMORY.md"), "notes of two\n"),
      "state/workspace/MEMORY.md",
      "hash",
    ],
    ["a file that grew", (dir) => appendFileSync(join(dir, "config/svc.json"), "\n"), "config/svc.json", "bytes"],
    ["a missing file", (dir) => rmSync(join(dir, "state/workspace/run.sh")), "state/workspace/run.sh", "missing"],
    ["a file that nobody knows", (dir) => writeFileSync(join(dir, "state/new"), ""), "state/new", "does not know"],
  ])("%s", async (_, spoil, path, problem) => {
    const beside = tempStore(onTestFinished);
    const dir = backupIn(beside);
    spoil(dir);
    const { problems } = await verifyBackup(dir, signal);
    expect(problems).toMatchObject([{ path, problem: expect.stringContaining(problem) }]);
    await expect(restore(dir, join(beside.dir, "new"))).rejects.toMatchObject({ code: "backup-damaged" });
    expect(existsSync(join(beside.dir, "new"))).toBe(false);
  });

  const file = { bytes: 1, sha256: "0".repeat(64), mode: 0o600 };
  test.each<[string, string, object | string]>([
    ["a path out of it", "backup-unreadable", { files: [{ path: "state/../../x", ...file }] }],
    ["an absolute path", "backup-unreadable", { files: [{ path: "/etc/x", ...file }] }],
    ["a newer format", "backup-too-new", { format: 2 }],
    ["a manifest that does not parse", "backup-unreadable", "{"],
    ["no manifest", "backup-unreadable", ""],
  ])("%s", async (_, code, manifest) => {
    const { dir } = tempStore(onTestFinished);
    const whole = { format: 1, createdAt: "", svc: "9.9.9", node: "", platform: "", withSecrets: false, files: [], leftOut: [] };
    const text = typeof manifest === "string" ? manifest : JSON.stringify({ ...whole, ...manifest });
    if (text !== "") writeFileSync(join(dir, "manifest.json"), text);
    await expect(readManifest(dir)).rejects.toMatchObject({ code });
  });
});

describe("a restore", () => {
  test("into an empty folder brings everything back", async () => {
    const next = join(tempStore(onTestFinished).dir, "next");
    expect(await restore(made.backup, next)).toMatchObject({ setAside: [], missingSecrets: [] });
    expect([notesIn(next), await messagesIn(next), readFileSync(join(next, "svc.json"), "utf8")]).toEqual([
      "notes of one\n",
      ["one"],
      CONFIG,
    ]);
    expect(readdirSync(next).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("takes the place of a state in use only when that is asked for, keeps it, and leaves secrets and strange files alone", async () => {
    const two = stateWith("two");
    await expect(restore(made.backup, two.stateDir)).rejects.toMatchObject({
      code: "restore-occupied",
      message: expect.stringContaining("--replace"),
    });
    writeFileSync(`${two.stateDir}/state.sqlite.snapshot.5`, "an old copy that must not come back");

    const { setAside } = await restore(made.backup, two.stateDir, { replace: true });

    const kept = join(two.stateDir, "before-restore-19700101T000002Z");
    expect([notesIn(two.stateDir), await messagesIn(two.stateDir)]).toEqual(["notes of one\n", ["one"]]);
    expect([notesIn(kept), await messagesIn(kept)]).toEqual(["notes of two\n", ["two"]]);
    expect(setAside).toEqual(expect.arrayContaining([join(kept, "state.sqlite.snapshot.5"), join(kept, "svc.json"), join(kept, "memory")]));
    expect(readdirSync(two.stateDir).sort()).toEqual([
      ".env",
      "before-restore-19700101T000002Z",
      "gateway",
      "identity",
      "logs",
      "odd.txt",
      "state.sqlite",
      "svc.json",
      "workspace",
    ]);
  });

  test("of a newer state is refused with the version that made it", async () => {
    const { stateDir, beside } = stateWith("one");
    const db = await openConnection(join(stateDir, "state.sqlite"), {});
    db.pragma("user_version = 99");
    db.close();
    await back(stateDir, join(beside.dir, "b"));
    await expect(restore(join(beside.dir, "b"), join(beside.dir, "next"))).rejects.toMatchObject({
      code: "backup-too-new",
      message: expect.stringMatching(/schema 99, made by svc 1\.2\.3; this program knows schema \d+/),
    });
  });

  test("cut off at any point leaves the old state, or the next start completes it", async () => {
    const seen: string[] = [];
    const seeing = atFailpoints((name) => void seen.push(name));
    await restore(made.backup, stateWith("two").stateDir, { replace: true });
    seeing();
    const moments = new Map<string, number>();
    for (const name of seen) moments.set(name, (moments.get(name) ?? 0) + 1);
    expect([...moments.keys()]).toEqual(
      expect.arrayContaining([
        "restore.after-verify",
        "restore.after-stage",
        "replacement.after-rename",
        "replacement.between-renames",
        "replacement.before-end",
      ]),
    );

    for (const [name, times] of moments) {
      for (const at of new Set([1, times])) {
        const { stateDir } = stateWith("two");
        let left = at;
        const cutting = atFailpoints((found) => {
          if (found === name && --left === 0) throw new Error("cut off");
        });
        await restore(made.backup, stateDir, { replace: true }).catch(() => undefined);
        cutting();
        const isRecorded = await hasReplacement(stateDir);
        expect(await continueReplacement(stateDir), `${name} ${at}`).toBe(isRecorded);
        const mark = notesIn(stateDir).includes("one") ? "one" : "two";
        expect([name, notesIn(stateDir), await messagesIn(stateDir)]).toEqual([name, `notes of ${mark}\n`, [mark]]);
        expect(readdirSync(stateDir).filter((entry) => entry.startsWith(".restore-"))).toEqual([]);
        expect(mark === "one" || !isRecorded, `${name} ${at}`).toBe(true);
      }
    }
  });
});

describe("of the entries of a state directory", () => {
  test.each<[string, boolean, string, boolean]>([
    ["workspace", false, "copy", true],
    ["workspace-ops", false, "copy", true],
    ["plugins", false, "copy", true],
    [".env", false, "left out", false],
    [".env", true, "copy", true],
    ["state.sqlite", false, "pass", true],
    ["state.sqlite.pre-6-1", false, "pass", true],
    ["gateway", true, "pass", false],
    ["before-restore-19700101T000002Z", true, "pass", false],
    ["memory", false, "left out", true],
    ["my-notes.txt", true, "left out", false],
  ])("%s (with secrets: %s) is %s for a backup, replaced by a restore: %s", (name, withSecrets, verdict, replaced) => {
    const judged = judgeEntry(name, withSecrets);
    expect([typeof judged === "string" ? judged : "left out", isReplaced(name, withSecrets)]).toEqual([verdict, replaced]);
  });

  test("a log alone is nobody's work", () => expect(["logs", "gateway", "workspace"].map(isOccupying)).toEqual([false, false, true]));
});
