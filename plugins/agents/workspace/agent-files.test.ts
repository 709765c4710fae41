import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentInfo } from "svc/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agentFileNames, listAgentFiles, readAgentFile, writeAgentFile } from "./agent-files.ts";

let root: string;
let agent: AgentInfo;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-agent-files-"));
  agent = { id: "ops", isDefault: false, workspace: join(root, "ws"), models: [], identity: {} };
  await mkdir(agent.workspace);
  await writeFile(join(root, "outside"), "secret of this machine");
});
afterEach(() => rm(root, { recursive: true, force: true }));

const path = (name: string) => join(agent.workspace, name);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const unsafe = (reason: string) => expect.objectContaining({ code: "agent-file-unsafe", message: expect.stringContaining(reason) });
const write = (name: string, content: string, expectedHash?: string) => writeAgentFile(agent, { name, content, expectedHash });

describe("the list", () => {
  test("has every name, there or not", async () => {
    await writeFile(path("SOUL.md"), "größe");
    const files = await listAgentFiles(agent);
    expect(files.map(({ name }) => name)).toEqual([...agentFileNames]);
    expect(files.find(({ name }) => name === "SOUL.md")).toEqual({
      ...{ name: "SOUL.md", path: path("SOUL.md"), missing: false, size: 7 },
      updatedAtMs: expect.any(Number),
    });
    expect(files.filter(({ missing }) => missing)).toHaveLength(7);
  });

  test("of a workspace that is not there has nothing", async () => {
    await rm(agent.workspace, { recursive: true });
    expect((await listAgentFiles(agent)).every(({ missing }) => missing)).toBe(true);
    expect(await readAgentFile(agent, "SOUL.md")).toEqual({ name: "SOUL.md", path: path("SOUL.md"), missing: true });
  });
});

describe("a file", () => {
  test("is read with the hash of its bytes", async () => {
    await writeFile(path("SOUL.md"), "größe");
    const { updatedAtMs: _, ...file } = await readAgentFile(agent, "SOUL.md");
    expect(file).toEqual({ name: "SOUL.md", path: path("SOUL.md"), missing: false, size: 7, hash: sha256("größe"), content: "größe" });
  });

  test("is written as a whole, and keeps its mode", async () => {
    await writeFile(path("USER.md"), "old");
    await chmod(path("USER.md"), 0o644);
    expect(await write("USER.md", "new")).toMatchObject({ missing: false, content: "new", hash: sha256("new"), size: 3 });
    expect(await readFile(path("USER.md"), "utf8")).toBe("new");
    expect((await stat(path("USER.md"))).mode & 0o777).toBe(0o644);
    await write("MEMORY.md", "first");
    expect((await stat(path("MEMORY.md"))).mode & 0o777).toBe(0o600);
    expect((await readdir(agent.workspace)).sort()).toEqual(["MEMORY.md", "USER.md"]);
  });

  test("is written into a workspace that was not there", async () => {
    await rm(agent.workspace, { recursive: true });
    expect(await write("USER.md", "new")).toMatchObject({ content: "new" });
  });

  test("is not written over a state that the writer has not seen", async () => {
    await writeFile(path("USER.md"), "theirs");
    const conflict = (currentHash: string | null) =>
      expect.objectContaining({ code: "agent-file-conflict", details: { type: "agent_file_conflict", currentHash } });
    await expect(write("USER.md", "mine", sha256("other"))).rejects.toEqual(conflict(sha256("theirs")));
    await expect(write("SOUL.md", "mine", sha256("other"))).rejects.toEqual(conflict(null));
    expect(await readFile(path("USER.md"), "utf8")).toBe("theirs");
    expect(await write("USER.md", "mine", sha256("theirs").toUpperCase())).toMatchObject({ content: "mine" });
    expect((await readdir(agent.workspace)).sort()).toEqual(["USER.md"]);
  });
});

test.each([
  "notes.md",
  "agents.md",
  "../AGENTS.md",
  "./AGENTS.md",
  "AGENTS.md/",
  "sub/AGENTS.md",
  "..",
  "",
  "AGENTS.md\0",
  "AGENTS.md\\..",
  "/etc/passwd",
])("the name %j leads nowhere", async (name) => {
  const refusal = expect.objectContaining({ code: "agent-file-unsupported", message: expect.stringContaining('unsupported file "') });
  await expect(readAgentFile(agent, name)).rejects.toEqual(refusal);
  await expect(write(name, "x")).rejects.toEqual(refusal);
});

describe("what is no plain file is refused and left alone", () => {
  test("a link out of the workspace", async () => {
    await symlink(join(root, "outside"), path("SOUL.md"));
    await expect(readAgentFile(agent, "SOUL.md")).rejects.toEqual(unsafe("symbolic link"));
    await expect(write("SOUL.md", "x")).rejects.toEqual(unsafe("symbolic link"));
    expect(await readFile(join(root, "outside"), "utf8")).toBe("secret of this machine");
    expect((await listAgentFiles(agent)).find(({ name }) => name === "SOUL.md")?.missing).toBe(true);
  });

  test("a second name of a file elsewhere, when it is written", async () => {
    await link(join(root, "outside"), path("SOUL.md"));
    await expect(write("SOUL.md", "x")).rejects.toEqual(unsafe("hard link"));
    expect(await readFile(join(root, "outside"), "utf8")).toBe("secret of this machine");
  });

  test("a pipe, without waiting for who would write into it", async () => {
    execFileSync("mkfifo", [path("SOUL.md")]);
    await expect(readAgentFile(agent, "SOUL.md")).rejects.toEqual(unsafe("not a regular file"));
    await expect(write("SOUL.md", "x")).rejects.toEqual(unsafe("not a regular file"));
  });

  test("a folder, and a file larger than 4 MiB", async () => {
    await mkdir(path("SOUL.md"));
    await expect(readAgentFile(agent, "SOUL.md")).rejects.toEqual(unsafe("not a regular file"));
    await writeFile(path("USER.md"), Buffer.alloc(4 * 1024 * 1024 + 1));
    await expect(readAgentFile(agent, "USER.md")).rejects.toEqual(unsafe("larger than"));
  });
});

test("a file that is swapped for a link all the while lets no byte in or out", async () => {
  let isOver = false;
  const swapper = (async () => {
    for (let i = 0; !isOver; i++) {
      const next = join(root, "next");
      if (i % 2 === 0) await symlink(join(root, "outside"), next);
      else await writeFile(next, "inside");
      await rename(next, path("SOUL.md"));
    }
  })();
  const seen = new Set<string | undefined>();
  for (let i = 0; i < 300; i++) {
    const read = await readAgentFile(agent, "SOUL.md").catch(() => undefined);
    const written = await write("SOUL.md", "mine").catch(() => undefined);
    seen.add(read?.content).add(written?.content);
  }
  isOver = true;
  await swapper;
  expect(seen.size).toBeGreaterThan(1);
  expect([...seen]).not.toContain("secret of this machine");
  expect(await readFile(join(root, "outside"), "utf8")).toBe("secret of this machine");
});
