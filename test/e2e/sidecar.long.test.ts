import { execFile } from "node:child_process";
import { access, chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { createTestGateway, type TestGateway } from "../../sdk/testing/gateway.ts";
import { skippedFor } from "../servers/needs.ts";

const MINUTE = 60_000;
const ENGINE = "@tobilu/qmd@2.8.3";
/** The engine wants a newer Node than svc. The package `node` brings it by a script that npm may not run; this is the package that the script installs. */
const NODE = `node-${process.platform}-${process.arch}@24`;

const folder = await mkdtemp(join(tmpdir(), "svc-real-engine-"));
const command = join(folder, "qmd");
const problem = await installed();
const { describe, test } = problem === undefined ? await import("vitest") : skippedFor(problem);
if (problem !== undefined) await rm(folder, { recursive: true, force: true });

/** Installs the engine. @returns why it cannot be run here */
async function installed(): Promise<string | undefined> {
  const run = promisify(execFile);
  try {
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
    await run("npm", ["install", "--no-audit", "--no-fund", "--engine-strict=false", ENGINE, NODE], {
      cwd: folder,
      timeout: 10 * MINUTE,
      maxBuffer: 16_000_000,
    });
    const node = await installedFile(`node_modules/node-${process.platform}-${process.arch}/bin/node`);
    const script = await installedFile("node_modules/@tobilu/qmd/dist/cli/qmd.js");
    await writeFile(command, `#!/bin/sh\nexec "${node}" "${script}" "$@"\n`);
    await chmod(command, 0o700);
    await run(command, ["status"], {
      cwd: folder,
      timeout: MINUTE,
      env: { PATH: process.env.PATH, HOME: folder, QMD_CONFIG_DIR: join(folder, "probe") },
    });
    return undefined;
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    const line = (stderr || message).split("\n").find((one) => /error/i.test(one)) ?? message;
    return `the engine ${ENGINE} with ${NODE} from npm (${line.slice(0, 120)})`;
  }
}

async function installedFile(path: string): Promise<string> {
  await access(join(folder, path));
  return join(folder, path);
}

interface Status {
  backend: string;
  files: number;
  fallback?: object;
  lastError?: string;
}

describe("the real engine", () => {
  const notes = {
    "MEMORY.md": "# Home\n\nThe router stands in the hall cupboard.\n",
    "memory/2026-04-01.md": "# Day\n\n## Network work\n\nMoved the guest wifi to channel 11.\n",
    "memory/My Ideas (2026).md": "# Ideas\n\nA bicycle for the summer.\n",
  };
  let gateway: TestGateway;
  const search = (query: string, options: object = {}) => gateway.service("memory@1").search("main", query, options);
  const status = () => gateway.rpc<Status>("memory.status");

  beforeAll(async () => {
    const team = join(folder, "team");
    await mkdir(team, { recursive: true });
    await writeFile(join(team, "api.md"), "# API\n\nThe tariff endpoint answers in cents.\n");
    const sidecar = {
      command,
      paths: [{ name: "team", path: team }],
      sessions: { enabled: true },
      update: { debounceMs: 0 },
      limits: { timeoutMs: 20_000 },
    };
    gateway = await createTestGateway({
      plugins: ["store", "memory-core", "memory-sidecar"],
      workspace: notes,
      env: { PATH: process.env.PATH, HOME: folder },
      config: { memory: { backend: "sidecar", sidecar } },
    });
    await eventually(async () => (await status()).files === 4, 2 * MINUTE);
  }, 5 * MINUTE);
  afterAll(async () => {
    await gateway.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("finds notes with their lines, and they can be read by their paths", async () => {
    expect(await search("router")).toMatchObject({
      provider: "sidecar",
      fallback: null,
      results: [{ path: "MEMORY.md", source: "memory" }],
    });
    const [hit] = (await search("guest wifi")).results;
    expect(hit).toMatchObject({ path: "memory/2026-04-01.md", snippet: expect.stringContaining("channel 11") });
    const lines = { from: hit?.startLine as number, lines: (hit?.endLine as number) - (hit?.startLine as number) + 1 };
    expect((await gateway.service("memory@1").get("main", hit?.path as string, lines)).text).toContain("channel 11");
    expect((await search("nothing of the kind")).results).toEqual([]);
  });

  test("finds notes whose names it writes in another way, and those outside of the workspace", async () => {
    expect((await search("bicycle")).results).toMatchObject([{ path: "memory/My Ideas (2026).md" }]);
    const [hit] = (await search("tariff")).results;
    expect(hit).toMatchObject({ path: "sidecar/team/api.md" });
    expect((await gateway.service("memory@1").get("main", "sidecar/team/api.md")).text).toContain("in cents");
  });

  test("takes odd queries as words", async () => {
    for (const query of ["-n 99", "--json", "lex: a\nvec: b", "\"'`$(x)", "NEAR( * :", "ключ 鍵"])
      expect((await search(query)).fallback, query).toBeNull();
  });

  test("notices changed and deleted notes", async () => {
    const path = join(gateway.workspace, "memory/new.md");
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "The ladder is in the shed.\n");
    await gateway.service("memory@1").sync("main", { reason: "note" });
    expect((await search("ladder")).results).toMatchObject([{ path: "memory/new.md" }]);
    await rm(path);
    await gateway.service("memory@1").sync("main", { reason: "note" });
    expect((await search("ladder")).results).toEqual([]);
  });

  test(
    "keeps its files in the home of the agent, and its collections over a change of the config",
    async () => {
      const home = join(gateway.stateDir, "agents/main/sidecar");
      expect(await readdir(join(home, "xdg-cache/qmd"))).toContain("index.sqlite");
      expect(await readdir(join(home, "xdg-config/qmd"))).toContain("index.yml");
      await gateway.reload({
        memory: { backend: "sidecar", sidecar: { command, includeDefaultMemory: true, limits: { timeoutMs: 20_000 } } },
      });
      await eventually(async () => (await search("router")).results.length === 1, MINUTE);
      expect((await search("tariff")).results).toEqual([]);
    },
    3 * MINUTE,
  );

  test(
    "is stopped at its limit where it has no models to answer with, and the builtin engine answers",
    async () => {
      await gateway.reload({
        memory: {
          backend: "sidecar",
          sidecar: { command, searchMode: "query", update: { embedTimeoutMs: 5_000 }, limits: { timeoutMs: 20_000 } },
        },
      });
      expect((await search("router")).results).toMatchObject([{ path: "MEMORY.md" }]);
      expect(await status()).toMatchObject({ files: 3 });
    },
    3 * MINUTE,
  );
});
