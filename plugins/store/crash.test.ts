import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { failpoints } from "./failpoint.ts";
import { openConnection } from "./native.ts";
import { append, type TempStore, tempStore, until } from "./testing/temp-store.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const script = `
  const { createJiti } = require("jiti");
  const [path, failpoint] = process.argv.slice(1);
  const jiti = createJiti(process.cwd() + "/", { alias: { "svc/sdk": process.cwd() + "/sdk/index.ts" } });
  jiti.import("./plugins/store/testing/crash-child.ts").then((child) => child.commitForEver(failpoint ? { path, failpoint } : { path }));
`;

interface Victim {
  process: ChildProcess;
  acknowledged: string[];
}

function startVictim(path: string, failpoint?: string): Victim {
  const child = spawn(process.execPath, ["-e", script, path, ...(failpoint ? [failpoint] : [])], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  const victim: Victim = { process: child, acknowledged: [] };
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    victim.acknowledged.push(...lines);
  });
  return victim;
}

/** What a crash must never break, whatever the moment. */
async function expectWhole(temp: TempStore, acknowledged: string[]): Promise<string[]> {
  const store = await temp.open();
  expect(store.status()).toMatchObject({ ok: true, queued: 0 });
  expect(store.status().damaged).toBeUndefined();
  const rows = Array.from({ length: 50 }, (_, page) => store.messages.scan("s", page * 1_000, 1_000)).flat();
  const stored = rows.map((row) => row.id);
  expect(rows.map((row) => row.seq)).toEqual(rows.map((_, n) => n + 1));
  expect(new Set(stored).size).toBe(stored.length);
  expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([]);
  for (const id of stored) {
    expect(store.runs.get(id)).toBeDefined();
    expect(store.kv.get("crash", id)).toBeDefined();
  }
  expect(await store.commit([append("life goes on")])).toEqual([{ seq: stored.length + 1 }]);
  await store.close();
  const db = await openConnection(temp.path, { readonly: true });
  expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  for (const table of ["runs", "kv"]) expect(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()).toBe(stored.length);
  db.close();
  return stored;
}

const aroundCommit = failpoints.filter((point) => !["store.after-copy", "store.before-migrated"].includes(point));

for (const point of aroundCommit) {
  for (const visit of [1, 9]) {
    test(`kill -9 at ${point}, visit ${visit}: every resolved commit is there, none is half there`, async () => {
      const temp = tempStore(onTestFinished);
      const victim = startVictim(temp.path, `${point}=kill@${visit}`);

      const [, signal] = await once(victim.process, "close");
      const stored = await expectWhole(temp, victim.acknowledged);

      expect(signal).toBe("SIGKILL");
      const durable = point === "store.after-commit" || point === "store.before-reply";
      if (durable) expect(stored.length).toBeGreaterThan(victim.acknowledged.length);
      else expect(stored.toSorted()).toEqual(victim.acknowledged.toSorted());
    });
  }
}

test("kill -9 from outside under load: every resolved commit is there, none is half there", async () => {
  const temp = tempStore(onTestFinished);
  const victim = startVictim(temp.path);
  await until(() => victim.acknowledged.length > 200, "200 commits are acknowledged");

  victim.process.kill("SIGKILL");
  await once(victim.process, "close");

  await expectWhole(temp, victim.acknowledged);
});

for (const point of ["store.after-copy", "store.before-migrated"]) {
  test(`kill -9 at ${point} of a migration: the next start succeeds without help`, async () => {
    const temp = tempStore(onTestFinished);
    const older = await openConnection(temp.path, {});
    older.exec("CREATE TABLE notes (text)");
    older.close();
    const victim = startVictim(temp.path, `${point}=kill`);

    const [, signal] = await once(victim.process, "close");
    await expectWhole(temp, []);

    expect(signal).toBe("SIGKILL");
    expect(existsSync(`${temp.path}.pre-0`)).toBe(true);
    expect(existsSync(`${temp.path}.pre-0.tmp`)).toBe(false);
  });
}
