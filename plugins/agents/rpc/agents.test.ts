import { access, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";

let gw: TestGateway;
afterEach(() => gw.close());

const start = async (config: object = {}) => {
  gw = await createTestGateway({ plugins: ["store", "agents"], models: [fakeModel(["hello"])], config });
  return gw;
};
const invalid = (message: string) => ({ code: "INVALID_REQUEST", message: expect.stringContaining(message) });
interface AgentRow extends JsonObject {
  id: string;
}
const list = async () => (await gw.rpc<{ defaultId: string; agents: AgentRow[] }>("agents.list")) as { defaultId: string; agents: AgentRow[] };
const ids = async () => (await list()).agents.map(({ id }) => id);
const file = async () => JSON.parse(await readFile(join(gw.stateDir, "svc.json"), "utf8")) as { agents?: { list?: unknown[] }; bindings?: unknown[] };
const exists = (path: string) => access(path).then(() => true, () => false);

describe("agents.create", () => {
  test("adds an agent that the next request can use, beside the one nobody wrote down", async () => {
    await start();
    const created = await gw.rpc("agents.create", { name: "Helper Two", emoji: "🛠" });
    const workspace = join(gw.stateDir, "workspace-helper-two");
    expect(created).toEqual({ ok: true, agentId: "helper-two", name: "Helper Two", workspace });
    expect(await list()).toMatchObject({
      defaultId: "main",
      mainKey: "main",
      scope: "per-sender",
      agents: [{ id: "main" }, { id: "helper-two", name: "Helper Two", identity: { emoji: "🛠" }, workspace }],
    });
    expect(await readdir(workspace)).toContain("AGENTS.md");
    expect(await gw.rpc("agent.identity.get", { agentId: "helper-two" })).toEqual({ agentId: "helper-two", name: "Helper Two", emoji: "🛠" });
    expect(await gw.rpc("agent", { agentId: "helper-two", message: "hi", idempotencyKey: "k1" })).toMatchObject({ status: "accepted" });
    expect((await file()).agents?.list).toEqual([{ id: "main" }, { id: "helper-two", name: "Helper Two", identity: { emoji: "🛠" } }]);
  });

  test("takes workspace, model and avatar", async () => {
    await start();
    const workspace = join(gw.stateDir, "own");
    await gw.rpc("agents.create", { name: "ops", workspace, model: "fake/fake-1", avatar: "face.png" });
    expect((await list()).agents[1]).toEqual({
      ...{ id: "ops", name: "ops", workspace, model: { primary: "fake/fake-1" }, identity: { avatar: "face.png" } },
    });
  });

  test.each([
    ["Main", "reserved"],
    ["OPS", "exists already"],
    ["...", "no id can be made"],
  ])("refuses the name %j", async (name, message) => {
    await start({ agents: { list: [{ id: "main" }, { id: "ops" }] } });
    await expect(gw.rpc("agents.create", { name })).rejects.toMatchObject(invalid(message));
    expect(await ids()).toEqual(["main", "ops"]);
  });

  test("refuses a model that nobody has, and a name with a control character", async () => {
    await start();
    const slip = { code: "INVALID_REQUEST", details: { code: "INVALID_MODEL" } };
    await expect(gw.rpc("agents.create", { name: "ops", model: "fake/none" })).rejects.toMatchObject(slip);
    await expect(gw.rpc("agents.create", { name: "o\u001b[2Jps" })).rejects.toMatchObject(invalid("invalid agents.create params"));
    expect(await ids()).toEqual(["main"]);
  });

  test("of the same name at the same time makes one agent", async () => {
    await start();
    const both = await Promise.allSettled([gw.rpc("agents.create", { name: "ops" }), gw.rpc("agents.create", { name: "Ops" })]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await ids()).toEqual(["main", "ops"]);
  });
});

describe("agents.update", () => {
  test("changes what is named and nothing else; null gives the common model back", async () => {
    await start({ agents: { list: [{ id: "main" }, { id: "ops", name: "Ops", model: "fake/fake-1", identity: { emoji: "🛠" } }] } });
    expect(await gw.rpc("agents.update", { agentId: "ops", name: "Operations", avatar: "a.png" })).toEqual({ ok: true, agentId: "ops" });
    expect((await list()).agents[1]).toMatchObject({ name: "Operations", identity: { emoji: "🛠", avatar: "a.png" }, model: { primary: "fake/fake-1" } });
    await gw.rpc("agents.update", { agentId: "ops", model: null });
    expect((await list()).agents[1]).not.toHaveProperty("model");
    expect((await file()).agents?.list?.[1]).toEqual({ id: "ops", name: "Operations", identity: { emoji: "🛠", avatar: "a.png" } });
  });

  test("writes down the agent that nobody wrote down", async () => {
    await start();
    await gw.rpc("agents.update", { agentId: "main", name: "Me" });
    expect(await list()).toMatchObject({ defaultId: "main", agents: [{ id: "main", name: "Me" }] });
  });

  test("of an unknown agent is refused", async () => {
    await start();
    await expect(gw.rpc("agents.update", { agentId: "nobody", name: "x" })).rejects.toMatchObject(invalid('agent "nobody" not found'));
  });
});

describe("agents.delete", () => {
  const agents = { list: [{ id: "main" }, { id: "ops", name: "Ops" }, { id: "aux" }] };
  const bindings = [
    { agentId: "ops", match: { channel: "irc" } },
    { agentId: "aux", match: { channel: "irc" } },
    { agentId: "ops", match: { channel: "mail" } },
  ];

  test("takes the agent and its bindings out of the config, and its files to the trash", async () => {
    await start({ agents, bindings });
    const workspace = join(gw.stateDir, "workspace-ops");
    await writeFile(join(workspace, "note.md"), "keep me");
    await mkdir(join(gw.stateDir, "agents", "ops"), { recursive: true });
    const deleted = await gw.rpc<{ trash: string }>("agents.delete", { agentId: "ops" });
    expect(deleted).toEqual({ ok: true, agentId: "ops", removedBindings: 2, trash: expect.stringContaining(join(gw.stateDir, "trash", "agents", "ops-")) });
    expect(await readFile(join(deleted.trash, "workspace", "note.md"), "utf8")).toBe("keep me");
    expect((await readdir(deleted.trash)).sort()).toEqual(["agent", "workspace"]);
    expect(await exists(workspace)).toBe(false);
    expect(await ids()).toEqual(["main", "aux"]);
    expect(await file()).toMatchObject({ agents: { list: [{ id: "main" }, { id: "aux" }] }, bindings: [{ agentId: "aux" }] });
    await expect(gw.rpc("agents.files.list", { agentId: "ops" })).rejects.toMatchObject({ details: { code: "UNKNOWN_AGENT_ID" } });
  });

  test("leaves the files where they are when asked to", async () => {
    await start({ agents });
    expect(await gw.rpc("agents.delete", { agentId: "ops", deleteFiles: false })).toEqual({ ok: true, agentId: "ops", removedBindings: 0 });
    expect(await exists(join(gw.stateDir, "workspace-ops", "AGENTS.md"))).toBe(true);
  });

  test.each<[string, (stateDir: string) => string]>([
    ["the state directory", (stateDir) => stateDir],
    ["a folder around it", (stateDir) => join(stateDir, "..")],
    ["the home of its user", () => homedir()],
    ["the workspace of another agent", (stateDir) => join(stateDir, "workspace")],
  ])("never moves %s", async (_name, place) => {
    await start({ agents });
    const workspace = place(gw.stateDir);
    await gw.reload({ agents: { defaults: { skipBootstrap: true }, list: [{ id: "main" }, { id: "ops", workspace }] } });
    const deleted = await gw.rpc("agents.delete", { agentId: "ops" });
    expect(deleted).toMatchObject({ ok: true, kept: [expect.stringContaining("holds other things besides")] });
    expect(await exists(workspace)).toBe(true);
    expect(await exists(join(gw.stateDir, "svc.json"))).toBe(true);
  });

  test("never follows a link to somebody else's folder", async () => {
    await start({ agents });
    const elsewhere = join(gw.stateDir, "elsewhere");
    await mkdir(elsewhere);
    await symlink(elsewhere, join(gw.stateDir, "link"));
    await gw.rpc("agents.update", { agentId: "ops", workspace: join(gw.stateDir, "link") });
    expect(await gw.rpc("agents.delete", { agentId: "ops" })).toMatchObject({ kept: [expect.stringContaining("link")] });
    expect(await exists(elsewhere)).toBe(true);
  });

  test.each([
    ["main", "is the default agent"],
    ["nobody", 'agent "nobody" not found'],
  ])("of %s is refused", async (agentId, message) => {
    await start({ agents });
    await expect(gw.rpc("agents.delete", { agentId })).rejects.toMatchObject(invalid(message));
    expect(await ids()).toEqual(["main", "ops", "aux"]);
  });
});

test("a secret written with a variable stays a variable, and comments stay", async () => {
  await start();
  const path = join(gw.stateDir, "svc.json");
  const text = (await readFile(path, "utf8")).replace("{", '{\n  // mine\n  env: {vars: {WORD: "x"}},\n  messages: {responsePrefix: "${WORD}"},');
  await writeFile(path, text);
  await gw.rpc("agents.create", { name: "ops" });
  await gw.rpc("agents.delete", { agentId: "ops" });
  const written = await readFile(path, "utf8");
  expect(written).toContain("// mine");
  expect(written).toContain('"${WORD}"');
  expect(written).not.toContain("ops");
});

test("agents.files.* read and write the fixed files of an agent", async () => {
  await start({ agents: { list: [{ id: "main" }, { id: "ops" }] } });
  const workspace = join(gw.stateDir, "workspace-ops");
  const { files } = await gw.rpc<{ files: JsonObject[] }>("agents.files.list", { agentId: "ops" });
  expect(files.map(({ name }) => name)).toEqual(["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"]);
  expect(files[0]).toMatchObject({ missing: false, path: join(workspace, "AGENTS.md"), size: expect.any(Number), updatedAtMs: expect.any(Number) });
  expect(files.at(-1)).toEqual({ name: "MEMORY.md", path: join(workspace, "MEMORY.md"), missing: true });

  const { file: before } = await gw.rpc<{ file: JsonObject }>("agents.files.get", { agentId: "ops", name: "USER.md" });
  const written = await gw.rpc("agents.files.set", { agentId: "ops", name: "USER.md", content: "Ann", expectedHash: before.hash });
  expect(written).toMatchObject({ ok: true, agentId: "ops", workspace, file: { name: "USER.md", missing: false, content: "Ann", size: 3 } });
  expect(await readFile(join(workspace, "USER.md"), "utf8")).toBe("Ann");
  const stale = gw.rpc("agents.files.set", { agentId: "ops", name: "USER.md", content: "Bob", expectedHash: before.hash });
  const { hash } = (await gw.rpc<{ file: JsonObject }>("agents.files.get", { agentId: "ops", name: "USER.md" })).file;
  await expect(stale).rejects.toMatchObject({ code: "INVALID_REQUEST", details: { type: "agent_file_conflict", currentHash: hash } });

  await expect(gw.rpc("agents.files.get", { agentId: "ops", name: "../svc.json" })).rejects.toMatchObject(invalid('unsupported file "../svc.json"'));
  await expect(gw.rpc("agents.files.get", { agentId: "zzz", name: "USER.md" })).rejects.toMatchObject({ details: { code: "UNKNOWN_AGENT_ID", agentId: "zzz" } });
  const tooLong = gw.rpc("agents.files.set", { agentId: "ops", name: "USER.md", content: "x".repeat(1_048_577) });
  await expect(tooLong).rejects.toMatchObject(invalid("invalid agents.files.set params"));
});

test("of two writers with the same hash at the same time one wins", async () => {
  await start();
  const { hash } = (await gw.rpc<{ file: JsonObject }>("agents.files.get", { agentId: "main", name: "USER.md" })).file;
  const write = (content: string) => gw.rpc("agents.files.set", { agentId: "main", name: "USER.md", content, expectedHash: hash });
  const both = await Promise.allSettled([write("one"), write("two")]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("changing agents and their files needs an administrator, reading them a reader", async () => {
  await start();
  const writer = await gw.client({ scopes: ["operator.write"] });
  for (const method of ["agents.create", "agents.update", "agents.delete", "agents.files.set"]) {
    const refusal = { code: "FORBIDDEN", details: { missingScope: "operator.admin" } };
    await expect(writer.request(method as string, { agentId: "main", name: "x" })).rejects.toMatchObject(refusal);
  }
  const reader = await gw.client({ scopes: ["operator.read"] });
  expect(await reader.request("agents.files.list", { agentId: "main" })).toMatchObject({ agentId: "main" });
});
