import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createTestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { svc as run } from "../../../test/tools/svc.ts";
import { recordSearches } from "../dreaming/recall-recorder.ts";

const NOTE = "workspace/memory/2026-04-09.md";
let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "svc-dream-cli-"));
  const agents = { defaults: { memorySearch: { provider: "none" } }, list: [{ id: "main" }] };
  put("svc.json", JSON.stringify({ gateway: { mode: "local", auth: { token: "a-token-for-this-test" } }, agents }));
  put(NOTE, "# 2026-04-09\n\n- The door code of the garden house is 4711\n- Nora always prefers green tea\n");
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

function put(path: string, content: string): void {
  mkdirSync(dirname(join(stateDir, path)), { recursive: true });
  writeFileSync(join(stateDir, path), content);
}
const read = (path: string) => readFileSync(join(stateDir, path), "utf8");
const env = () => ({ PATH: process.env.PATH ?? "", HOME: stateDir, SVC_STATE_DIR: stateDir, NO_COLOR: "1" });
const svc = (...args: string[]) => run(args, { env: env(), cwd: stateDir });

/** Searches of the last six days. */
async function searched(): Promise<void> {
  const workspace = join(stateDir, "workspace");
  const hits = [{ path: "memory/2026-04-09.md", startLine: 3, endLine: 3, score: 0.9, snippet: "", source: "memory" as const }];
  for (let i = 0; i < 6; i += 1) {
    const at = new Date().getTime() - i * 86_400_000;
    await recordSearches(workspace, [{ workspace, query: `door code ${i}`, hits, at }], new AbortController().signal);
  }
}

test("with no gateway the commands work on the files: look, explain, promote, sweep, fill back, put in order", async () => {
  expect(await svc("memory", "promote")).toMatchObject({ code: 0, stdout: "The short-term memory is empty.\n" });
  await searched();
  expect((await svc("memory", "promote")).stdout).toMatch(
    /^0\.\d{3} promotable memory\/2026-04-09\.md:3-3 {2}The door code of the garden house is 4711\n$/,
  );
  const explained = await svc("memory", "promote-explain", "door", "code");
  for (const part of ["relevance", "frequency", "diversity", "recency", "consolidation", "richness", "phase boost", "6 signals"])
    expect(explained.stdout).toContain(part);
  expect(await svc("memory", "promote-explain", "xylophone")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing in the short-term memory matches"),
  });
  expect(await svc("memory", "promote", "--apply", "--min-score", "0.99")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Nothing is good enough"),
  });
  expect(existsSync(join(stateDir, "workspace/MEMORY.md"))).toBe(false);

  const swept = await svc("memory", "dream", "run", "--json");
  expect(JSON.parse(swept.stdout)).toMatchObject({
    ok: true,
    workspaces: [{ agentIds: ["main"], result: { promoted: [{ source: "memory/2026-04-09.md:3-3" }], diary: "plain" } }],
  });
  expect(read("workspace/MEMORY.md")).toContain("The door code of the garden house is 4711 [score=");
  expect((await svc("memory", "promote", "--include-promoted")).stdout).toContain("promoted");
  const status = await svc("memory", "dream", "status");
  expect(status).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("off; plugins.entries.memory-core.config.dreaming.enabled switches it on"),
  });
  expect(status.stdout).toContain("1 promoted");

  expect((await svc("memory", "rem-harness", "--path", "memory", "--grounded")).stdout).toContain("Possible Lasting Updates");
  expect((await svc("memory", "rem-backfill", "--path", "memory", "--stage-short-term")).stdout).toMatch(
    /^main: 1 entries written, \d statements staged\n$/,
  );
  expect((await svc("memory", "rem-backfill", "--rollback")).stdout).toBe("main: 1 entries removed\n");
  expect((await svc("memory", "rem-backfill", "--rollback-short-term", "--json")).stdout).toContain('"removed"');
  expect(await svc("memory", "rem-backfill")).toMatchObject({ code: 2, stderr: expect.stringContaining("expected one of --path") });
  expect(await svc("memory", "rem-backfill", "--path", "../..")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("has the part `..`"),
  });

  put("workspace/memory/.dreams/short-term-promotion.lock", `${process.pid}:1`);
  expect((await svc("memory", "status", "--fix")).stdout).toContain("main: removed the lock of a process that is gone");
  expect((await svc("memory", "status")).stdout).toContain("Dreaming    off");
});

test("with a gateway the commands go through it", async () => {
  await searched();
  const gateway = await createTestGateway({ stateDir, plugins: ["memory-core", "store"] });
  try {
    const swept = await svc("memory", "dream", "run");
    expect(swept).toMatchObject({ code: 0, stdout: expect.stringContaining("1 promoted") });
    expect(swept.stdout).toContain("the diary has a new entry, in the plain form");
    expect((await svc("memory", "promote-explain", "door", "code")).stdout).toContain("promoted already, at");
    await gateway.reload({ plugins: { entries: { "memory-core": { config: { dreaming: { enabled: true } } } } } });
    expect(await svc("memory", "dream", "status")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("the plugin cron is not running"),
    });
  } finally {
    await gateway.close({ keepState: true });
  }
});
