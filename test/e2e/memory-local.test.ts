import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { needsPackages } from "../servers/vendored.ts";
import { buildEmbedModel } from "../tools/make-tiny-gguf.mjs";
import { configured, freshHome, gatewayIn, json, stopAll, token } from "./_cli.ts";
import { commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { type Finished, type Home, svcCommand } from "./_process.ts";

/** No word of it stands in the note that it finds. */
const QUESTION = "the automobile is quick";
const notes = {
  "memory/garage.md": "my car is fast",
  "memory/pets.md": "the kitten sleeps on the sofa",
  "memory/router.md": "router password in the drawer",
};

/** A command starts the model anew for each search, on a machine that may have other work. */
const limits = { timeoutMs: 60_000 };

interface Found {
  searchMode: string;
  provider: string;
  results: Array<{ path: string; score: number; vectorScore?: number; textScore?: number }>;
  warning?: string;
}

/** A home with three notes and a model made here and now. */
async function homeWith(memorySearch: object, model = buildEmbedModel()): Promise<Home> {
  const home = await freshHome();
  await configured(home, {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { memorySearch: { limits, ...memorySearch } } },
  });
  await writeFile(modelOf(home), model);
  for (const [path, text] of Object.entries(notes)) {
    await mkdir(dirname(join(home.stateDir, "workspace", path)), { recursive: true });
    await writeFile(join(home.stateDir, "workspace", path), `${text}\n`);
  }
  return home;
}

const modelOf = (home: Home) => join(home.stateDir, "tiny.gguf");

/** Asks a command until it says so, with pauses: beside a model that starts, twenty questions a second cost more than it does. */
async function seldom<T>(ask: () => Promise<T>): Promise<Exclude<T, false | null | undefined>> {
  return eventually(async () => {
    const answer = await ask();
    if (!answer) await new Promise((resolve) => setTimeout(resolve, 300));
    return answer;
  }, 30_000);
}

/** Whether `memory status` shows every note indexed. */
async function isIndexed(home: Home): Promise<boolean> {
  const { agents } = (await commandJson(home, ["memory", "status"])).value as { agents: Array<{ chunks: number; dirty: boolean }> };
  return agents.every(({ chunks, dirty }) => chunks === Object.keys(notes).length && !dirty);
}

async function search(home: Home, run = commandJson): Promise<Found> {
  return (await run(home, ["memory", "search", QUESTION])).value as unknown as Found;
}

/** Processes that run a model for this home. */
async function modelProcesses(home: Home): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const own = await Promise.all(
    pids.map(async (pid) => {
      const [command, variables] = await Promise.all(
        ["cmdline", "environ"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
      );
      return command?.includes("llama.worker") && variables?.split("\0").includes(`HOME=${home.env.HOME}`);
    }),
  );
  return pids.filter((_, i) => own[i]);
}

const runtime = await needsPackages("local-runtime");
runtime.describe("with the runtime", runWithModel);

function runWithModel(): void {
  describe("a gateway", () => {
    afterEach(stopAll);

    test("a question finds a note by its meaning, without a shared word; by keywords alone it does not", async () => {
      const meaning = await homeWith({ local: { modelPath: "tiny.gguf" } });
      const { child } = await gatewayIn(meaning);
      await seldom(() => isIndexed(meaning));
      const found = await search(meaning);
      expect(found).toMatchObject({ provider: "local", searchMode: "hybrid" });
      expect(found.results[0]).toMatchObject({ path: "memory/garage.md" });
      expect(found.results[0]?.vectorScore).toBeGreaterThan(0.7);
      expect(found.results[0]?.textScore ?? 0).toBe(0);

      const words = await homeWith({ provider: "none", local: { modelPath: "tiny.gguf" } });
      await gatewayHere(words);
      await seldom(() => isIndexed(words));
      const none = await search(words);
      expect(none).toMatchObject({ provider: "none", searchMode: "fts-only" });
      expect(none.results.map(({ path }) => path)).not.toContain("memory/garage.md");

      expect(await modelProcesses(meaning)).toHaveLength(1);
      child.kill("SIGKILL");
      await eventually(async () => (await modelProcesses(meaning)).length === 0);
    });

    test("a model that cannot be loaded costs the vectors, not the search; status, doctor and the answer say why", async () => {
      const home = await homeWith({ provider: "local", local: { modelPath: "tiny.gguf" } }, Buffer.from("no model"));
      await gatewayIn(home);
      const found = await seldom(async () => {
        const { value } = await commandJson(home, ["memory", "search", "kitten"]);
        const answer = value as unknown as Found;
        return answer.results.length > 0 && answer.warning?.includes("tiny.gguf") && answer;
      });
      expect(found.results[0]).toMatchObject({ path: "memory/pets.md" });
      const { value } = await commandJson(home, ["memory", "status", "--deep"]);
      expect(value).toMatchObject({ ok: false, agents: [{ probe: { ok: false, error: expect.stringContaining("tiny.gguf") } }] });
      const doctor = await commandJson(home, ["doctor", "--only", "memory/embeddings"]);
      expect(doctor.value).toMatchObject({ findings: [{ id: "memory/embeddings", severity: "warning" }] });
    });
  });

  // Each command starts the model, so one index serves what happens to it one thing after the other.
  describe("an index that was made without a gateway", () => {
    let home: Home;
    let indexed: Finished;
    beforeAll(async () => {
      home = await homeWith({ provider: "local", local: { modelPath: "tiny.gguf" } });
      indexed = await svcCommand(home, ["memory", "index"]);
    });
    afterAll(stopAll);

    test("the commands run the model themselves, and leave no process", async () => {
      expect(indexed.stdout).toMatch(/^main: 3 files, 3 chunks, /);
      const shown = await svcCommand(home, ["memory", "search", QUESTION]);
      expect(shown.stdout).toMatch(/^memory\/garage\.md:1 {2}score 0\.\d\d {2}vector 0\.\d\d {2}words –\n {4}my car is fast\n/);
      const status = await svcCommand(home, ["memory", "status", "--deep"]);
      expect(status.code).toBe(0);
      expect(status.stdout).toMatch(/^ {2}Provider {3}local, tiny\.gguf$/m);
      expect(status.stdout).toMatch(/^ {2}Probe {6}answered in \d+ ms with 64 dimensions$/m);
      expect(status.stdout).toMatch(/^ {2}Vectors {4}64 dimensions, (sqlite-vec|compared in the process)/m);
      expect(await modelProcesses(home)).toEqual([]);
    });

    test("another model is another index: the old vectors are never compared, and the new ones answer after the rebuild", async () => {
      await writeFile(modelOf(home), buildEmbedModel({ dim: 32 }));
      await svcCommand(home, ["memory", "index"]);
      expect((await search(home, json)).results[0]).toMatchObject({ path: "memory/garage.md" });
      expect((await json(home, ["memory", "status", "--index"])).value.agents).toMatchObject([{ vector: { dims: 32 }, dirty: false }]);
    });

    test("doctor finds an index of another model that could not be rebuilt, and --fix makes it once its cause is gone", async () => {
      await writeFile(join(home.stateDir, "other.gguf"), "no model");
      await configured(home, {
        gateway: { mode: "local", auth: { token } },
        agents: { defaults: { memorySearch: { limits, provider: "local", local: { modelPath: "other.gguf" } } } },
      });
      await gatewayIn(home);
      const only = ["doctor", "--only", "memory/index-identity"];
      const found = await seldom(async () => {
        const { value } = await commandJson(home, only);
        return (value.findings as unknown[]).length > 0 && value;
      });
      const message =
        'agent "main": the index holds vectors of local tiny.gguf, and the provider is local other.gguf; only words are searched';
      expect(found).toMatchObject({ findings: [{ id: "memory/index-identity", severity: "warning", message, fixable: true }] });

      await writeFile(join(home.stateDir, "other.gguf"), buildEmbedModel());
      expect((await commandJson(home, [...only, "--fix"])).value).toMatchObject({ fixes: [{ id: "memory/index-identity", done: true }] });
      await seldom(async () => (await search(home)).results[0]?.path === "memory/garage.md");
      expect((await commandJson(home, only)).value).toEqual({ ok: true, findings: [] });
    });
  });
}
