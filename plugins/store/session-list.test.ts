import { expect, onTestFinished, test } from "vitest";
import { put, session, tempStore } from "./testing/temp-store.ts";

async function fiveSessions() {
  const store = await tempStore(onTestFinished).open();
  await store.commit([
    put(session("agent:main:a", { updatedAt: 10, lastInteractionAt: 50, label: "Holiday" })),
    put(session("agent:main:b", { updatedAt: 20, archived: true })),
    put(session("agent:main:c", { updatedAt: 30, lastInteractionAt: 40, derivedTitle: "Über den ÄRGER" })),
    put(session("agent:ops:d", { updatedAt: 30, agentId: "ops" })),
    put(session("agent:ops:e", { updatedAt: 5, agentId: "ops", label: "Holiday plans 100%" })),
  ]);
  return {
    list: (query: Partial<Parameters<typeof store.sessions.list>[0]> = {}) => {
      const { rows, total } = store.sessions.list({ limit: 10, ...query });
      return [rows.map((row) => row.key.slice(-1)).join(""), total];
    },
  };
}

test("sessions are listed newest first, ties by key", async () => {
  const { list } = await fiveSessions();

  expect(list()).toEqual(["cdbae", 5]);
});

test("a list can be sorted by the last interaction; sessions without one come last", async () => {
  const { list } = await fiveSessions();

  expect(list({ sortBy: "lastInteractionAt" })).toEqual(["acbde", 5]);
});

test("offset and limit cut a page out of the list; the total is that of all", async () => {
  const { list } = await fiveSessions();

  expect(list({ limit: 1 })).toEqual(["c", 5]);
  expect(list({ limit: 2 })).toEqual(["cd", 5]);
  expect(list({ limit: 2, offset: 2 })).toEqual(["ba", 5]);
  expect(list({ limit: 2, offset: 4 })).toEqual(["e", 5]);
  expect(list({ limit: 2, offset: 5 })).toEqual(["", 5]);
  expect(list({ limit: 2, offset: -3 })).toEqual(["cd", 5]);
});

test("each filter narrows the list and the total", async () => {
  const { list } = await fiveSessions();

  expect(list({ agentId: "ops" })).toEqual(["de", 2]);
  expect(list({ archived: true })).toEqual(["b", 1]);
  expect(list({ archived: false })).toEqual(["cdae", 4]);
  expect(list({ label: "Holiday" })).toEqual(["a", 1]);
  expect(list({ updatedAfter: 20 })).toEqual(["cdb", 3]);
  expect(list({ updatedAfter: 21 })).toEqual(["cd", 2]);
  expect(list({ agentId: "ops", updatedAfter: 6, limit: 1 })).toEqual(["d", 1]);
});

test("kinds can be left out, and the sessions made by another one asked for", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([
    put(session("agent:main:a", { spawnedBy: "agent:main:main" })),
    put(session("agent:main:global", { kind: "global" })),
    put(session("agent:main:unknown", { kind: "unknown", spawnedBy: "agent:main:other" })),
  ]);
  const keys = (query: Partial<Parameters<typeof store.sessions.list>[0]>) =>
    store.sessions.list({ limit: 10, ...query }).rows.map((row) => row.key.slice(11));

  expect(keys({})).toEqual(["a", "global", "unknown"]);
  expect(keys({ withoutKinds: ["global", "unknown"] })).toEqual(["a"]);
  expect(keys({ withoutKinds: ["unknown", "unknown"] })).toEqual(["a", "global"]);
  expect(keys({ withoutKinds: [] })).toEqual(["a", "global", "unknown"]);
  expect(keys({ spawnedBy: "agent:main:main" })).toEqual(["a"]);
  expect(store.sessions.get("agent:main:unknown")).toMatchObject({ kind: "unknown", spawnedBy: "agent:main:other" });
});

test("the version changes with every commit that touches a session, and with no other", async () => {
  const store = await tempStore(onTestFinished).open();
  const first = store.sessions.version();
  await store.commit([{ op: "kv.put", scope: "s", key: "k", value: 1 }]);
  expect(store.sessions.version()).toBe(first);

  const versions = [first];
  const row = session("agent:main:a");
  for (const op of [
    put(row),
    { op: "session.patch" as const, key: row.key, patch: { label: "x" } },
    { op: "session.delete" as const, key: row.key, deleteTranscript: true },
  ]) {
    await store.commit([op]);
    versions.push(store.sessions.version());
  }
  expect(new Set(versions).size).toBe(4);
});

test("search finds parts of key, label and title in any case, and takes every character literally", async () => {
  const { list } = await fiveSessions();

  expect(list({ search: "OPS" })).toEqual(["de", 2]);
  expect(list({ search: "holiday" })).toEqual(["ae", 2]);
  expect(list({ search: "über den ärger" })).toEqual(["c", 1]);
  expect(list({ search: "100%" })).toEqual(["e", 1]);
  expect(list({ search: "%" })).toEqual(["e", 1]);
  expect(list({ search: "" })).toEqual(["cdbae", 5]);
  expect(list({ search: "nothing" })).toEqual(["", 0]);
});
