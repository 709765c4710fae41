import { readFileSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./native.ts";
import { repairDatabase } from "./repair.ts";
import { append, put, session, tempStore } from "./testing/temp-store.ts";

async function filled() {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  for (const key of ["one", "two"])
    await store.commit([put(session(key)), append(`of ${key}`, { content: [{ type: "text", text: key }] })]);
  await store.close();
  return temp;
}

test("a database that is whole stays as it is, and one that was never there is not made", async () => {
  const temp = await filled();
  const before = readFileSync(temp.path);
  expect(await repairDatabase(temp.path, { now: 5 })).toEqual({});
  expect(readFileSync(temp.path).equals(before)).toBe(true);
  expect(await repairDatabase(`${temp.path}.other`, { now: 5 })).toBeUndefined();
});

test("damage that a start after a clean stop would not look for is found and restored", async () => {
  const temp = await filled();
  const bytes = readFileSync(temp.path);
  bytes.fill(0x5a, 4_096 * 2, 4_096 * 4);
  writeFileSync(temp.path, bytes);
  expect(await repairDatabase(temp.path, { now: 5 })).toMatchObject({ restored: { damaged: `${temp.path}.corrupt.5` } });
  const store = await temp.open();
  expect(store.status()).toMatchObject({ ok: true });
});

test("rows that do not parse are moved to a file, those set aside before go along, and no finding is left", async () => {
  const temp = await filled();
  const db = await openConnection(temp.path, {});
  db.exec("UPDATE sessions SET body = '{' WHERE key = 'one'; UPDATE messages SET body = 'x' WHERE id = 'of two'");
  db.exec("INSERT INTO set_aside (origin, at, data) VALUES ('sessions', 1, '{}')");
  db.close();
  const { keptRows } = (await repairDatabase(temp.path, { now: 5 })) ?? {};
  expect(keptRows).toEqual({ path: `${temp.path}.unreadable.5.jsonl`, count: 3 });
  const lines = readFileSync(`${temp.path}.unreadable.5.jsonl`, "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as { table: string })).toMatchObject([
    { table: "sessions", key: "one", body: "{" },
    { table: "messages", id: "of two", body: "x" },
    { table: "set_aside", origin: "sessions" },
  ]);
  const store = await temp.open();
  expect(store.sessions.list({ limit: 10 }).rows.map(({ key }) => key)).toEqual(["two"]);
  expect(store.status()).not.toHaveProperty("unreadableRows");
});
