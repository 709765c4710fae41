import assert from "node:assert/strict";
import type { MemoryBackend } from "../types/memory-backend.ts";
import { type ContractCase, defineCases, rejectionOf, within } from "./contract.ts";

/** A backend over an empty set of notes, and the hand that writes them. */
export interface MemoryBackendSubject {
  backend: MemoryBackend;
  agentId: string;
  /** Puts a note where the backend finds it; it is searched for after the next `sync`. */
  write(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Undoes everything; the backend was closed before. */
  dispose?(): Promise<void>;
}

const boiler = "# Boiler\n\nThe boiler needs 1.4 bar when cold.\nThe valve is behind the red panel.\n";

/**
 * Conformance suite of a memory backend, to be called inside `describe`.
 * @param create makes a fresh subject without notes; called once per case
 */
export function memoryBackendContract(create: () => Promise<MemoryBackendSubject>): void {
  defineCases(memoryBackendCases(create));
}

/** The statements of `memoryBackendContract`, for running them without a test runner. */
export function memoryBackendCases(create: () => Promise<MemoryBackendSubject>): ContractCase[] {
  const make = (name: string, check: (subject: MemoryBackendSubject) => Promise<void>): ContractCase => ({
    name,
    async run() {
      const subject = await create();
      try {
        await check(subject);
      } finally {
        await subject.backend.close();
        await subject.dispose?.();
      }
    },
  });
  return [
    make("nothing is found where nothing is", async ({ backend, agentId }) => {
      await backend.sync(agentId);
      assert.deepEqual(await backend.search(agentId, "boiler", {}), []);
    }),
    make("a note is found after a sync, with its lines and a score in [0, 1]", checkFound),
    make("maxResults and minScore hold", checkLimits),
    make("hits come best first", async (subject) => {
      await writeNotes(subject, 5);
      const scores = (await subject.backend.search(subject.agentId, "boiler", { maxResults: 5 })).map((h) => h.score);
      assert.deepEqual(
        scores,
        [...scores].sort((a, b) => b - a),
      );
    }),
    make("a changed and a removed note are noticed by the next sync", checkChanges),
    make("get reads a note, and lines of it", checkGet),
    make("get refuses what is not a note", async ({ backend, agentId }) => {
      for (const path of ["memory/nowhere.md", "../secret.md", "/etc/passwd"]) {
        assert.notEqual(await rejectionOf(backend.get(agentId, path, {})), undefined, `get("${path}") resolved`);
      }
    }),
    make("status counts what was synced", async (subject) => {
      await writeNotes(subject, 3);
      const status = await subject.backend.status(subject.agentId);
      assert.equal(status.agentId, subject.agentId);
      assert.equal(status.backend, subject.backend.id);
      assert.equal(status.files, 3);
    }),
    make("an aborted search rejects within a second", async (subject) => {
      await writeNotes(subject, 1);
      const call = rejectionOf(subject.backend.search(subject.agentId, "boiler", { signal: AbortSignal.abort() }));
      assert.notEqual(await within(call, 1_000, "an aborted search"), undefined, "an aborted search resolved");
    }),
    make("another agent's notes stay its own", async (subject) => {
      await writeNotes(subject, 1);
      const hits = await subject.backend.search("somebody-else", "boiler", {}).catch(() => []);
      assert.deepEqual(hits, []);
    }),
    make("it may be closed twice, and answers nothing afterwards", async ({ backend, agentId }) => {
      await backend.close();
      await backend.close();
      assert.notEqual(await rejectionOf(backend.search(agentId, "boiler", {})), undefined, "a search after close resolved");
    }),
  ];
}

async function writeNotes({ backend, agentId, write }: MemoryBackendSubject, count: number): Promise<void> {
  for (let i = 1; i <= count; i++) await write(`memory/boiler-${i}.md`, `${boiler}${"Seen on a walk. ".repeat(i * 3)}\n`);
  await backend.sync(agentId, { reason: "contract" });
}

async function checkFound({ backend, agentId, write }: MemoryBackendSubject): Promise<void> {
  await write("memory/boiler.md", boiler);
  await write("memory/train.md", "# Train\n\nThe train to the airport leaves at seven.\n");
  await backend.sync(agentId);
  const [hit] = await backend.search(agentId, "boiler cold bar", {});
  assert.ok(hit, "the note was not found");
  assert.equal(hit.path, "memory/boiler.md");
  assert.ok(hit.score >= 0 && hit.score <= 1, `score ${hit.score}`);
  assert.ok(
    hit.startLine >= 1 && hit.startLine <= hit.endLine && hit.endLine <= boiler.split("\n").length,
    `lines ${hit.startLine}–${hit.endLine}`,
  );
  assert.match(hit.snippet, /1\.4 bar/);
}

async function checkLimits(subject: MemoryBackendSubject): Promise<void> {
  await writeNotes(subject, 5);
  const { backend, agentId } = subject;
  assert.equal((await backend.search(agentId, "boiler", { maxResults: 2 })).length, 2);
  for (const hit of await backend.search(agentId, "boiler", { minScore: 0.3 })) assert.ok(hit.score >= 0.3, `score ${hit.score} < 0.3`);
  assert.deepEqual(await backend.search(agentId, "boiler", { minScore: 1.01 }), []);
}

async function checkChanges({ backend, agentId, write, remove }: MemoryBackendSubject): Promise<void> {
  await write("memory/one.md", "The router stands in the hall.\n");
  await backend.sync(agentId);
  await write("memory/one.md", "The bicycle stands in the cellar.\n");
  await backend.sync(agentId);
  assert.equal((await backend.search(agentId, "bicycle", {})).length, 1);
  assert.deepEqual(await backend.search(agentId, "router", {}), []);
  await remove("memory/one.md");
  await backend.sync(agentId);
  assert.deepEqual(await backend.search(agentId, "bicycle", {}), []);
}

async function checkGet({ backend, agentId, write }: MemoryBackendSubject): Promise<void> {
  await write("memory/boiler.md", boiler);
  await backend.sync(agentId);
  const whole = await backend.get(agentId, "memory/boiler.md", {});
  assert.equal(whole.text.trimEnd(), boiler.trimEnd());
  const part = await backend.get(agentId, "memory/boiler.md", { from: 3, lines: 1 });
  assert.equal(part.text.trimEnd(), "The boiler needs 1.4 bar when cold.");
}
