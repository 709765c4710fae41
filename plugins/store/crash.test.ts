import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { DeliveryRow } from "svc/sdk";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { deliveryFailpoints, failpoints } from "./failpoint.ts";
import { openConnection } from "./native.ts";
import { append, type TempStore, tempStore, until } from "./testing/temp-store.ts";

/** Each starts a process, on a machine that may have other work. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
/** The program of a victim and the threads of its store, compiled as the product is: from sources each process would start a translator first. */
const compiled = join(root, "test/.tmp/store-crash");
const compile = `
  import { joinPart } from "./bin/join.mjs";
  for (const entry of ["plugins/store/open-store.ts", "plugins/store/testing/crash-child.ts"]) await joinPart(entry, process.argv[1]);
`;
const script = `
  const [work, path, failpoint] = process.argv.slice(1);
  import("${pathToFileURL(join(compiled, "plugins/store/testing/crash-child.js"))}").then((child) => child[work](failpoint ? { path, failpoint } : { path }));
`;

beforeAll(() => {
  rmSync(compiled, { recursive: true, force: true });
  execFileSync(process.execPath, ["--input-type=module", "-e", compile, compiled], { cwd: root, timeout: 60_000 });
});

interface Victim {
  process: ChildProcess;
  acknowledged: string[];
}

function startVictim(path: string, failpoint?: string, work: "commitForEver" | "deliverForEver" = "commitForEver"): Victim {
  const child = spawn(process.execPath, ["-e", script, work, path, ...(failpoint ? [failpoint] : [])], {
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

/** Asserts the invariants that hold after a crash at any moment. */
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

const aroundCommit = failpoints.filter((point) => /^store\.(?!after-copy|before-migrated)/.test(point));

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

/** Progress of a delivery, as its row shows it. */
function progressOf({ state, attempt, steps }: DeliveryRow): string {
  if (state === "done" || state === "failed") return "ended";
  if (state === "running") return attempt === 2 ? "claimed again" : "run" in steps ? "stepped" : "claimed";
  return attempt === 0 ? "accepted" : "requeued";
}

const life = ["accepted", "claimed", "stepped", "requeued", "claimed again", "ended"];

const isLong = process.env.SVC_TEST_LONG === "1";
/** A write has failpoints of its own in each operation; commit and reply are those of the group, whatever is in it, so one operation stands for all. */
const deliveryPoints = isLong ? deliveryFailpoints : deliveryFailpoints.filter((point) => /accept|-write$/.test(point));

for (const point of deliveryPoints) {
  test(`kill -9 at ${point}: each delivery is where it was said to be, or one commit further`, async () => {
    const temp = tempStore(onTestFinished);
    const victim = startVictim(temp.path, `${point}=kill@7`, "deliverForEver");

    const [, signal] = await once(victim.process, "close");

    expect(signal).toBe("SIGKILL");
    const { deliveries, ...store } = await temp.open();
    const said = new Map(victim.acknowledged.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]));
    const rows = deliveries.list({ limit: 1_000 });
    const further = rows.filter((row) => progressOf(row) !== said.get(row.uid));
    for (const [uid, what] of said) {
      const row = deliveries.get(uid);
      expect([life.indexOf(what), life.indexOf(what) + 1]).toContain(life.indexOf(progressOf(row as DeliveryRow)));
      expect(deliveries.byKey({ idemScope: "crash", idemKey: uid, fingerprint: "f" })?.uid).toBe(uid);
    }
    expect(rows.filter((row) => !said.has(row.uid)).every((row) => progressOf(row) === "accepted")).toBe(true);
    if (/after-commit|before-reply/.test(point)) expect(further).not.toEqual([]);
    else expect(further).toEqual([]);
    const open = rows.filter((row) => progressOf(row) !== "ended");
    expect(deliveries.counts().bytes).toBe(open.reduce((sum, row) => sum + JSON.stringify({ text: `payload of ${row.uid}` }).length, 0));
    expect(store.status()).toMatchObject({ ok: true });
    expect(store.status()).not.toHaveProperty("unreadableRows");
    await store.close();
    const db = await openConnection(temp.path, { readonly: true });
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    db.close();
  });
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
    const copies = readdirSync(temp.dir).filter((name) => name.includes(".pre-0-"));
    expect(copies.length).toBeGreaterThan(0);
    expect(copies.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
}
