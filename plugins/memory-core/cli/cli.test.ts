import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createTestGateway, eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { svc as run } from "../../../test/tools/svc.ts";

const program = join(import.meta.dirname, "../../../bin/svc.mjs");
let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "svc-memory-cli-"));
  put(
    "svc.json",
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "a-token-for-this-test" } },
      agents: { defaults: { memorySearch: { provider: "none" } }, list: [{ id: "main" }, { id: "work" }] },
    }),
  );
  put("workspace/MEMORY.md", "# Home\n\nThe router stands in the hall cupboard.\n\u001b[31mred\u001b[0m\n");
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

function put(path: string, content: string): void {
  mkdirSync(dirname(join(stateDir, path)), { recursive: true });
  writeFileSync(join(stateDir, path), content);
}

const environment = () => ({ PATH: process.env.PATH ?? "", HOME: stateDir, SVC_STATE_DIR: stateDir, NO_COLOR: "1" });
const svc = (...args: string[]) => run(args, { env: environment(), cwd: stateDir });

describe("with no gateway", () => {
  test("the program searches by itself and prints place, score and lines; control characters of a note never reach the terminal", async () => {
    const args = [program, "memory", "search", "where", "is", "the", "router"];
    const found = await promisify(execFile)(process.execPath, args, { env: environment(), timeout: 50_000 });
    expect(found.stderr).toBe("");
    expect(found.stdout).toMatch(
      /^MEMORY\.md:1-4 {2}score \d\.\d\d\n {4}# Home\n\n {4}The router stands in the hall cupboard\.\n {4}\\u001b\[31mred/,
    );
  });

  test("the flag wins over the words, and JSON is one document", async () => {
    const found = await svc("memory", "search", "nothing", "--query", "router", "--json");
    expect(JSON.parse(found.stdout)).toEqual({
      ok: true,
      agentId: "main",
      provider: "none",
      searchMode: "fts-only",
      results: [expect.objectContaining({ path: "MEMORY.md", startLine: 1, endLine: 4 })],
    });
  });

  test("no query and an unknown agent fail with 1, a number out of range with 2, no match is no failure", async () => {
    expect(await svc("memory", "search")).toMatchObject({ code: 1, stderr: expect.stringContaining("a query is missing") });
    expect(await svc("memory", "search", "x", "--agent", "nobody")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unknown agent id "nobody"'),
    });
    expect((await svc("memory", "search", "x", "--max-results", "0")).code).toBe(2);
    expect(await svc("memory", "search", "xylophone")).toMatchObject({ code: 0, stdout: "No matches.\n" });
  });

  test("index, status and reset work on the files, agent by agent", async () => {
    const indexed = await svc("memory", "index", "--json");
    expect(JSON.parse(indexed.stdout)).toMatchObject({
      ok: true,
      agents: [
        { agentId: "main", files: 1, chunks: 1, started: true },
        { agentId: "work", files: 0 },
      ],
    });
    const status = await svc("memory", "status", "--agent", "main");
    expect(status.code).toBe(0);
    expect(status.stdout).toContain("Index      1 file, 1 chunk; not compared with the files yet");
    expect(JSON.parse((await svc("memory", "status", "--index", "--json")).stdout)).toMatchObject({
      ok: true,
      agents: [{ agentId: "main", dirty: false }, { agentId: "work" }],
    });
    expect((await svc("memory", "reset")).stdout).toBe("main: index dropped; the notes are untouched\n");
    expect(existsSync(join(stateDir, "memory/main.sqlite"))).toBe(false);
    expect(existsSync(join(stateDir, "workspace/MEMORY.md"))).toBe(true);
  });

  test("a problem is shown, exits with 1, and --fix rebuilds once its cause is gone", async () => {
    put("memory/main.sqlite/in-the-way", "x");
    const status = await svc("memory", "status", "--agent", "main");
    expect(status).toMatchObject({ code: 1, stdout: expect.stringMatching(/Problem +.*no regular file/) });
    rmSync(join(stateDir, "memory"), { recursive: true });
    expect((await svc("memory", "status", "--agent", "main", "--fix")).code).toBe(0);
  });
});

test("with a gateway the commands go through it", async () => {
  const gateway = await createTestGateway({ stateDir, plugins: ["memory-core"], workspace: { "memory/a.md": "the boiler" } });
  try {
    await eventually(async () => (await gateway.rpc<{ files: number }>("memory.status")).files === 2);
    expect((await svc("memory", "search", "boiler")).stdout).toMatch(/^memory\/a\.md:1 {2}score/);
    expect((await svc("memory", "index", "--force")).stdout).toMatch(/^main: 2 files, 2 chunks, \d+\.\d s\n$/);
    expect((await svc("memory", "status")).stdout).toContain("2 files, 2 chunks; up to date");
    expect(JSON.parse((await svc("memory", "reset", "--json")).stdout)).toEqual({ ok: true, agentId: "main", removed: true });
  } finally {
    await gateway.close();
  }
});

test("a state directory that somebody holds is never worked on past its holder", async () => {
  put(
    "gateway/state.lock",
    JSON.stringify({ pid: process.pid, startTime: null, createdAt: Date.now(), configPath: "", stateDir, port: 9, version: "0" }),
  );
  const found = await svc("memory", "search", "router");
  expect(found).toMatchObject({ code: 1, stderr: expect.stringContaining("gateway not reachable") });
  expect(existsSync(join(stateDir, "memory"))).toBe(false);
});
