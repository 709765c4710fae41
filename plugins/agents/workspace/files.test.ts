import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentInfo } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWorkspacePrompt, ensureWorkspace, renderFiles } from "./files.ts";
import { templates } from "./templates.ts";

let base: string;
let agent: AgentInfo;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-workspace-"));
  agent = { id: "main", isDefault: true, workspace: join(base, "w"), models: [], identity: {} };
});
afterEach(() => rm(base, { recursive: true, force: true }));

const now = new Date(2026, 2, 1, 0, 30).getTime();
const all = { memory: true, heartbeat: false, now };

test("a new workspace gets its first files, and no MEMORY.md", async () => {
  const { isMade, written } = await ensureWorkspace(agent, { skipBootstrap: false });

  expect(isMade).toBe(true);
  expect(written).toEqual(["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"]);
  expect((await readdir(agent.workspace)).sort()).toEqual([...written].sort());
});

test("files that are there are never touched", async () => {
  await ensureWorkspace(agent, { skipBootstrap: true });
  expect(await readdir(agent.workspace)).toEqual([]);
  await writeFile(join(agent.workspace, "SOUL.md"), "mine");

  const { written } = await ensureWorkspace(agent, { skipBootstrap: false });

  expect(written).not.toContain("SOUL.md");
  expect(await readFile(join(agent.workspace, "SOUL.md"), "utf8")).toBe("mine");
  expect(await ensureWorkspace(agent, { skipBootstrap: false })).toEqual({ isMade: false, written: [] });
});

test("the prompt holds the files in order; memory and heartbeat only where they belong", async () => {
  await ensureWorkspace(agent, { skipBootstrap: false });
  await writeFile(join(agent.workspace, "MEMORY.md"), "The router is in the hall.");
  const prompt = createWorkspacePrompt(parseSharedConfig({}));

  const direct = await prompt.read(agent, all);
  const group = await prompt.read(agent, { memory: false, heartbeat: true, now });

  expect([...direct.matchAll(/^## (\w+\.md)$/gm)].map((m) => m[1])).toEqual([
    "AGENTS.md",
    "SOUL.md",
    "TOOLS.md",
    "IDENTITY.md",
    "USER.md",
    "MEMORY.md",
  ]);
  expect(group).toContain("## HEARTBEAT.md");
  expect(group).not.toContain("router");
});

test("memory.md in lower case counts too", async () => {
  await ensureWorkspace(agent, { skipBootstrap: true });
  await writeFile(join(agent.workspace, "memory.md"), "lower case");
  expect(await createWorkspacePrompt(parseSharedConfig({})).read(agent, all)).toContain("lower case");
});

describe("daily notes", () => {
  const note = (day: string, text: string) => writeFile(join(agent.workspace, "memory", `${day}.md`), text);
  beforeEach(async () => {
    await mkdir(join(agent.workspace, "memory"), { recursive: true });
    await note("2026-02-27", "too old");
    await note("2026-02-28", "of yesterday");
    await note("2026-03-01", "of today");
    await note("2026-03-02", "of tomorrow");
    await writeFile(join(agent.workspace, "MEMORY.md"), "for long");
  });

  test("of yesterday and today come last where memory belongs, and nowhere else", async () => {
    const prompt = createWorkspacePrompt(parseSharedConfig({}));
    expect(await prompt.read(agent, all)).toBe(
      "# Workspace files\n\n## MEMORY.md\n\nfor long\n\n## memory/2026-02-28.md\n\nof yesterday\n\n## memory/2026-03-01.md\n\nof today",
    );
    expect(await prompt.read(agent, { ...all, memory: false })).toBe("");
  });

  test("are others on the next day, at midnight of the machine", async () => {
    const prompt = createWorkspacePrompt(parseSharedConfig({}));
    const namesAt = async (at: Date) =>
      [...(await prompt.read(agent, { ...all, now: at.getTime() })).matchAll(/^## memory\/(.+)\.md$/gm)].map(([, day]) => day);
    expect(await namesAt(new Date(2026, 2, 1, 23, 59, 59))).toEqual(["2026-02-28", "2026-03-01"]);
    expect(await namesAt(new Date(2026, 2, 2))).toEqual(["2026-03-01", "2026-03-02"]);
    expect(await namesAt(new Date(2026, 2, 3, 12))).toEqual(["2026-03-02"]);
  });

  test("count to the limits, and a folder that is a link holds none", async () => {
    await note("2026-03-01", "t".repeat(900));
    const short = createWorkspacePrompt(parseSharedConfig({ agents: { defaults: { bootstrapMaxChars: 300 } } }));
    expect((await short.read(agent, all)).match(/t/g)?.length).toBeLessThan(400);

    await rename(join(agent.workspace, "memory"), join(base, "elsewhere"));
    await symlink(join(base, "elsewhere"), join(agent.workspace, "memory"));
    expect(await createWorkspacePrompt(parseSharedConfig({})).read(agent, all)).not.toContain("of yesterday");
  });
});

test("a changed file is read again, an unchanged one is not", async () => {
  await ensureWorkspace(agent, { skipBootstrap: true });
  const path = join(agent.workspace, "USER.md");
  const stamp = new Date(1_700_000_000_000);
  const write = async (text: string, at: Date) => {
    await writeFile(path, text);
    await utimes(path, at, at);
  };
  const prompt = createWorkspacePrompt(parseSharedConfig({}));

  await write("one", stamp);
  expect(await prompt.read(agent, all)).toContain("one");
  await write("two", stamp);
  expect(await prompt.read(agent, all)).toContain("one");
  await write("two", new Date(1_700_000_001_000));
  expect(await prompt.read(agent, all)).toContain("two");
  await rm(path);
  expect(await prompt.read(agent, all)).toBe("");
});

test("each file and all of them together have a limit", async () => {
  await ensureWorkspace(agent, { skipBootstrap: true });
  await writeFile(join(agent.workspace, "AGENTS.md"), "a".repeat(900));
  await writeFile(join(agent.workspace, "SOUL.md"), "s".repeat(500));
  await writeFile(join(agent.workspace, "USER.md"), "u".repeat(300));
  const config = parseSharedConfig({ agents: { defaults: { bootstrapMaxChars: 600, bootstrapTotalMaxChars: 1_000 } } });

  const text = await createWorkspacePrompt(config).read(agent, all);

  expect(text).toContain("characters left out");
  expect(text.match(/a/g)?.length).toBeLessThan(600);
  expect(text).toContain("## SOUL.md");
  expect(text).not.toContain("## USER.md");
});

test("what a link leads to, a pipe or a folder is no part of the prompt", async () => {
  await mkdir(join(agent.workspace, "USER.md"), { recursive: true });
  await writeFile(join(base, "outside"), "secret of this machine");
  await symlink(join(base, "outside"), join(agent.workspace, "AGENTS.md"));
  execFileSync("mkfifo", [join(agent.workspace, "TOOLS.md")]);
  await writeFile(join(agent.workspace, "SOUL.md"), "calm");
  const text = await createWorkspacePrompt(parseSharedConfig({})).read(agent, all);
  expect(text).toBe("# Workspace files\n\n## SOUL.md\n\ncalm");
});

test("no workspace, no prompt part", async () => {
  expect(await createWorkspacePrompt(parseSharedConfig({})).read(agent, all)).toBe("");
  expect(renderFiles([{ name: "A.md", file: { text: "" } }], 100)).toBe("");
});

test("the templates are short and name no product", () => {
  for (const { content } of templates) expect(content.length).toBeLessThan(1_500);
});
