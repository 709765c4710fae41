import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import Sqlite from "better-sqlite3";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryIndex } from "../open-memory-index.ts";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";

/** Rebuilds for ever, with a word in it that says which round it was. */
const program = (engine: string, settings: unknown) => `
  import { createJiti } from ${JSON.stringify(import.meta.resolve("jiti"))};
  const jiti = createJiti(${JSON.stringify(pathToFileURL(engine).href)});
  const { IndexEngine } = await jiti.import(${JSON.stringify(engine)});
  const engine = new IndexEngine(${JSON.stringify(settings)}, (news) => {
    if (news.news === "progress" && news.progress.phase === "swap") process.stdout.write("swap\\n");
  });
  await engine.sync({ force: false, reason: "test" });
  process.stdout.write("ready\\n");
  for (;;) await engine.sync({ force: true, reason: "test" });
`;

let ws: TestWorkspace;
let child: ChildProcess | undefined;
beforeEach(() => {
  ws = createTestWorkspace({ "MEMORY.md": "the router stands in the hall" });
  for (let i = 0; i < 120; i++) ws.write(`memory/${i}.md`, `# Note ${i}\n\n${"some words that fill the page\n".repeat(40)}`);
});
afterEach(() => {
  child?.kill("SIGKILL");
  ws.remove();
});

function start(): { output(): string; kill(): Promise<void> } {
  const engine = fileURLToPath(new URL("./engine.ts", import.meta.url));
  const started = spawn(process.execPath, ["--input-type=module", "-e", program(engine, ws.settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = started;
  let output = "";
  started.stdout.on("data", (data) => {
    output += data;
  });
  return {
    output: () => output,
    kill: () =>
      new Promise((resolve) => {
        started.once("exit", () => resolve());
        started.kill("SIGKILL");
      }),
  };
}

test("whenever a rebuild is killed, the index answers afterwards, is whole, and leaves nothing behind", async () => {
  let leftovers = 0;
  for (let round = 0; round < 6; round++) {
    const rebuilding = start();
    await eventually(() => rebuilding.output().includes("ready"), 30_000);
    if (round % 2 === 0) {
      const swaps = rebuilding.output().length;
      await eventually(() => rebuilding.output().length > swaps);
    } else await new Promise((resolve) => setTimeout(resolve, Math.random() * 150)); // a random moment is the point
    await rebuilding.kill();
    leftovers += readdirSync(dirname(ws.settings.dbPath)).filter((name) => /tmp-|backup-/.test(name)).length;

    const index = openMemoryIndex(ws.settings);
    try {
      const search = {
        query: "router",
        maxResults: 6,
        minScore: 0.35,
        explicit: false,
        candidateMultiplier: 4,
        maxSnippetChars: 700,
        timeoutMs: 15_000,
      };
      const { hits } = await index.search({ ...search, syncAfter: "never" });
      expect(hits.map((hit) => hit.path)).toEqual(["MEMORY.md"]);
      expect(await index.status()).toMatchObject({ files: 121, dirty: true });
    } finally {
      await index.close();
    }
    const db = new Sqlite(ws.settings.dbPath, { readonly: true });
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    db.close();
    expect(readdirSync(dirname(ws.settings.dbPath)).filter((name) => /tmp-|backup-/.test(name))).toEqual([]);
  }
  expect(leftovers).toBeGreaterThan(0); // else no kill hit a rebuild and the test showed nothing
  expect(existsSync(ws.settings.dbPath)).toBe(true);
}, 60_000);
