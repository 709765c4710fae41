import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./native.ts";
import { append, type TempStore, tempStore, until } from "./testing/temp-store.ts";

const guardMs = 20;

/** Ids of the messages in a file, read beside the store. */
async function messagesIn(path: string): Promise<string[]> {
  const db = await openConnection(path, { readonly: true, fileMustExist: true });
  try {
    return db.prepare("SELECT id FROM messages ORDER BY row").pluck().all() as string[];
  } finally {
    db.close();
  }
}

const detached = (temp: TempStore) => readdirSync(temp.dir).filter((name) => /\.detached\.\d+$/.test(name));

test.each([
  ["the database", [""]],
  ["the database and its log", ["", "-wal", "-shm"]],
  ["the log alone", ["-wal"]],
])("%s deleted while the store runs: it is written back whole, and life goes on in it", async (_, suffixes) => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open({ guardMs });
  await store.commit([append("m1")]);

  for (const suffix of suffixes) rmSync(temp.path + suffix);
  await store.commit([append("m2")]);
  await until(() => temp.notices.length > 0, "the loss is noticed");

  expect(temp.notices).toMatchObject([{ id: "state/written-back", severity: "warning", message: expect.stringContaining("deleted") }]);
  expect(store.messages.page("s", { limit: 9 }).map(({ id }) => id)).toEqual(["m1", "m2"]);
  await store.commit([append("m3")]);
  expect(store.messages.count("s")).toBe(3);
  expect(store.status()).toMatchObject({ ok: true, endpoint: temp.path });
  expect(store.status()).not.toHaveProperty("notReady");
  expect(statSync(temp.path).mode & 0o777).toBe(0o600);
  expect(await messagesIn(temp.path)).toEqual(["m1", "m2", "m3"]);
  await store.close();
  expect(readdirSync(temp.dir)).toEqual(["state.sqlite"]);
  expect(await messagesIn(temp.path)).toEqual(["m1", "m2", "m3"]);
});

test("commits that come while the file is written back are all there", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open({ guardMs });
  rmSync(temp.path);
  let n = 0;
  while (temp.notices.length === 0) {
    n += 1;
    await store.commit([append(`m${n}`)]);
    expect(store.messages.count("s")).toBe(n);
  }
  await store.commit([append(`m${n + 1}`)]);

  expect(store.messages.count("s")).toBe(n + 1);
  await store.close();
  expect(await messagesIn(temp.path)).toHaveLength(n + 1);
});

test("another file in its place is not touched; what the store knows goes on beside it, and it says which is which", async () => {
  const temp = tempStore(onTestFinished);
  const other = tempStore(onTestFinished);
  const foreign = await other.open();
  await foreign.commit([append("foreign")]);
  await foreign.close();
  const store = await temp.open({ guardMs });
  await store.commit([append("m1")]);

  copyFileSync(other.path, `${temp.path}.new`);
  renameSync(`${temp.path}.new`, temp.path);
  await store.commit([append("m2")]);
  await until(() => temp.notices.length > 0, "the replacement is noticed");
  await store.commit([append("m3")]);

  const [name] = detached(temp);
  expect(temp.notices).toMatchObject([{ id: "state/detached", severity: "error", message: expect.stringContaining(`${name} beside it`) }]);
  expect(temp.notices[0]?.message).toContain(`mv state.sqlite state.sqlite.other; mv ${name} state.sqlite`);
  expect(store.status()).toMatchObject({
    ok: true,
    endpoint: `${temp.dir}/${name}`,
    notReady: expect.stringContaining("in the place of state.sqlite while"),
  });
  expect(store.messages.page("s", { limit: 9 }).map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
  await store.close();
  // The log of the old database must not be applied to the new file.
  expect(existsSync(`${temp.path}-wal`)).toBe(false);
  expect(readFileSync(temp.path).equals(readFileSync(other.path))).toBe(true);
  expect(await messagesIn(`${temp.dir}/${name}`)).toEqual(["m1", "m2", "m3"]);
  expect(await messagesIn(temp.path)).toEqual(["foreign"]);
});

test("a stop right after the replacement saves what the store knows", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit([append("m1")]);
  writeFileSync(`${temp.path}.new`, "not a database\n");
  renameSync(`${temp.path}.new`, temp.path);

  await store.close();

  expect(readFileSync(temp.path, "utf8")).toBe("not a database\n");
  const [name] = detached(temp);
  expect(await messagesIn(`${temp.dir}/${name}`)).toEqual(["m1"]);
  expect(existsSync(`${temp.path}-wal`)).toBe(false);
});

test("as long as it cannot be saved the store says so, and tries again", async () => {
  const temp = tempStore(onTestFinished);
  const statuses: Array<string | undefined> = [];
  const store = await temp.open({ guardMs, onStatus: () => statuses.push(store.status().notReady) });
  await store.commit([append("m1")]);
  // A folder of that name stands in the way of the copy.
  const blocked = `${temp.path}.next.tmp`;
  mkdirSync(blocked);
  writeFileSync(`${blocked}/x`, "");
  rmSync(temp.path);
  await until(() => statuses.length > 0, "the failure is told");

  expect(store.status()).toMatchObject({ ok: true, notReady: expect.stringContaining("could not be saved yet") });
  expect(temp.logs.filter(({ message }) => message.includes("could not be saved"))).toHaveLength(1);
  rmSync(blocked, { recursive: true });
  await until(() => temp.notices.length > 0, "it is written back");

  expect(store.status()).not.toHaveProperty("notReady");
  expect(store.messages.count("s")).toBe(1);
});
