import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentInfo, rootSchema } from "svc/sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorkspacePrompt, ensureWorkspace, renderFiles } from "./files.ts";
import { templates } from "./templates.ts";

let base: string;
let agent: AgentInfo;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-workspace-"));
  agent = { id: "main", isDefault: true, workspace: join(base, "w"), models: [], identity: {} };
});
afterEach(() => rm(base, { recursive: true, force: true }));

const all = { memory: true, heartbeat: false };

test("a new workspace gets its first files, and no MEMORY.md", async () => {
  const written = await ensureWorkspace(agent, { skipBootstrap: false });

  expect(written).toEqual(["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"]);
  expect((await readdir(agent.workspace)).sort()).toEqual([...written].sort());
});

test("files that are there are never touched", async () => {
  await ensureWorkspace(agent, { skipBootstrap: true });
  expect(await readdir(agent.workspace)).toEqual([]);
  await writeFile(join(agent.workspace, "SOUL.md"), "mine");

  const written = await ensureWorkspace(agent, { skipBootstrap: false });

  expect(written).not.toContain("SOUL.md");
  expect(await readFile(join(agent.workspace, "SOUL.md"), "utf8")).toBe("mine");
  expect(await ensureWorkspace(agent, { skipBootstrap: false })).toEqual([]);
});

test("the prompt holds the files in order; memory and heartbeat only where they belong", async () => {
  await ensureWorkspace(agent, { skipBootstrap: false });
  await writeFile(join(agent.workspace, "MEMORY.md"), "The router is in the hall.");
  const prompt = createWorkspacePrompt(rootSchema.parse({}));

  const direct = await prompt.read(agent, all);
  const group = await prompt.read(agent, { memory: false, heartbeat: true });

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
  expect(await createWorkspacePrompt(rootSchema.parse({})).read(agent, all)).toContain("lower case");
});

test("a changed file is read again, an unchanged one is not", async () => {
  await ensureWorkspace(agent, { skipBootstrap: true });
  const path = join(agent.workspace, "USER.md");
  const stamp = new Date(1_700_000_000_000);
  const write = async (text: string, at: Date) => {
    await writeFile(path, text);
    await utimes(path, at, at);
  };
  const prompt = createWorkspacePrompt(rootSchema.parse({}));

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
  const config = rootSchema.parse({ agents: { defaults: { bootstrapMaxChars: 600, bootstrapTotalMaxChars: 1_000 } } });

  const text = await createWorkspacePrompt(config).read(agent, all);

  expect(text).toContain("characters left out");
  expect(text.match(/a/g)?.length).toBeLessThan(600);
  expect(text).toContain("## SOUL.md");
  expect(text).not.toContain("## USER.md");
});

test("what a link leads to, a pipe or a folder is no part of the prompt (F-02)", async () => {
  await mkdir(join(agent.workspace, "USER.md"), { recursive: true });
  await writeFile(join(base, "outside"), "secret of this machine");
  await symlink(join(base, "outside"), join(agent.workspace, "AGENTS.md"));
  execFileSync("mkfifo", [join(agent.workspace, "TOOLS.md")]);
  await writeFile(join(agent.workspace, "SOUL.md"), "calm");
  const text = await createWorkspacePrompt(rootSchema.parse({})).read(agent, all);
  expect(text).toBe("# Workspace files\n\n## SOUL.md\n\ncalm");
});

test("no workspace, no prompt part", async () => {
  expect(await createWorkspacePrompt(rootSchema.parse({})).read(agent, all)).toBe("");
  expect(renderFiles([{ name: "A.md", file: { text: "" } }], 100)).toBe("");
});

test("the templates are short and name no product", () => {
  for (const { content } of templates) expect(content.length).toBeLessThan(1_500);
});
