import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import Sqlite from "better-sqlite3";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestEngine } from "../test-engine.ts";
import { createTestHost, TEST_DIMS, testFacts } from "../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import type { RebuildStep } from "./rebuild.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** The engine, compiled as the product is: from sources each process would start a translator first. */
const compiled = join(root, "test/.tmp/rebuild-kill");
const compile = `
  import { joinPart } from "./bin/join.mjs";
  await joinPart("plugins/memory-core/engine/engine.ts", process.argv[1]);
`;

beforeAll(() => {
  rmSync(compiled, { recursive: true, force: true });
  execFileSync(process.execPath, ["--input-type=module", "-e", compile, compiled], { cwd: root, timeout: 60_000 });
});

/** Rebuilds for ever with vectors of its own, or changes a note again and again; `killAt` of the second rebuild is its end. */
const program = ({ settings, killAt, edits }: { settings: unknown; killAt: RebuildStep | undefined; edits: string | undefined }) => `
  import { writeFileSync } from "node:fs";
  import { IndexEngine } from ${JSON.stringify(pathToFileURL(join(compiled, "plugins/memory-core/engine/engine.js")).href)};
  const vector = (text) => Float32Array.from({ length: ${TEST_DIMS} }, (_, i) => Math.sin(i * text.length + i));
  const host = { call: async (method, { texts }) => texts.map(vector) };
  let isReady = false;
  const step = (name) => {
    if (name === "moved-in") process.stdout.write("swap\\n");
    if (isReady && name === ${JSON.stringify(killAt ?? "never")}) process.kill(process.pid, "SIGKILL");
  };
  const engine = new IndexEngine(${JSON.stringify(settings)}, () => {}, { host, step });
  await engine.setProvider({ provider: ${JSON.stringify(testFacts())}, keepVectors: false });
  await engine.sync({ force: false, reason: "test" });
  isReady = true;
  process.stdout.write("ready\\n");
  const note = ${JSON.stringify(edits ?? null)};
  for (let round = 0; ; round++) {
    if (note !== null) writeFileSync(note, Array.from({ length: 400 }, (_, i) => "edit " + round + " of line " + i + " of this note").join("\\n"));
    await engine.sync({ force: note === null, reason: "test" });
    if (note !== null) process.stdout.write("edited\\n");
  }
`;

let ws: TestWorkspace;
let child: ChildProcess | undefined;
beforeEach(() => {
  ws = createTestWorkspace({ "MEMORY.md": "the router stands in the hall" });
  for (let i = 0; i < 60; i++) ws.write(`memory/${i}.md`, `# Note ${i}\n\n${"some words that fill the page\n".repeat(40)}`);
});
afterEach(() => {
  child?.kill("SIGKILL");
  ws.remove();
});

function start({ killAt, edits }: { killAt?: RebuildStep; edits?: string } = {}): {
  output(): string;
  kill(): Promise<void>;
  ended: Promise<NodeJS.Signals | null>;
} {
  const started = spawn(process.execPath, ["--input-type=module", "-e", program({ settings: ws.settings, killAt, edits })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = started;
  let output = "";
  started.stdout.on("data", (data) => {
    output += data;
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => started.once("exit", (_code, signal) => resolve(signal)));
  return {
    output: () => output,
    ended,
    async kill() {
      started.kill("SIGKILL");
      await ended;
    },
  };
}

const leftovers = () => readdirSync(dirname(ws.settings.dbPath)).filter((name) => /tmp-|backup-/.test(name));

/** The index answers at once, as it is, with words and vectors; it is whole, and nothing else is there. */
async function expectRecovered(): Promise<void> {
  const index = createTestEngine(ws.settings, createTestHost());
  try {
    await index.provide(testFacts());
    const { hits, mode, degraded } = await index.search("router");
    expect({ mode, degraded }).toEqual({ mode: "hybrid", degraded: undefined });
    expect(hits.find((hit) => hit.path === "MEMORY.md")).toMatchObject({ textScore: expect.any(Number) });
    expect(await index.status()).toMatchObject({ files: 61, vector: { dims: TEST_DIMS } });
  } finally {
    await index.close();
  }
  const db = new Sqlite(ws.settings.dbPath, { readonly: true });
  try {
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
    expect([count("chunk_vectors"), count("chunk_codes")]).toEqual([count("chunks"), count("chunks")]);
  } finally {
    db.close();
  }
  expect(leftovers()).toEqual([]);
}

const steps: RebuildStep[] = [
  "created",
  "cache-copied",
  "indexed",
  "finished",
  "closed",
  "synced",
  "live-closed",
  "moved-away",
  "moved-in",
  "backup-removed",
];

test.each(steps)(
  "killed at %s, the index answers at once, is whole, and leaves nothing behind",
  async (step) => {
    const rebuilding = start({ killAt: step });
    expect(await rebuilding.ended).toBe("SIGKILL");
    expect(rebuilding.output()).toContain("ready");
    await expectRecovered();
  },
  60_000,
);

test("killed at random moments of a rebuild, too", async () => {
  let left = 0;
  for (let round = 0; round < 5; round++) {
    const rebuilding = start();
    await eventually(() => rebuilding.output().includes("ready"));
    const swaps = rebuilding.output().length;
    await eventually(() => rebuilding.output().length > swaps);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 150)); // a random moment is the point
    await rebuilding.kill();
    left += leftovers().length;
    await expectRecovered();
  }
  expect(left).toBeGreaterThan(0); // else no kill hit a rebuild and the test showed nothing
}, 120_000);

test("killed while a note is written again and again, each passage has its vector and its code", async () => {
  for (let round = 0; round < 3; round++) {
    const editing = start({ edits: ws.path("memory/0.md") });
    await eventually(() => editing.output().split("edited").length > 3);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 50)); // a random moment is the point
    await editing.kill();
    await expectRecovered();
  }
}, 120_000);
