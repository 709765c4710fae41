import { access, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { JsonObject } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";

/** A machine that is busy with other tests takes its time. */
const BOOT_MS = 60_000;
let gw: TestGateway;
const variable = "$" + "{MY_WORD}";
const start = async (config: object) => {
  gw = await createTestGateway({ plugins: ["store", "agents"], models: [fakeModel(["hello"])], config, env: { MY_WORD: "hello" } });
};

interface AgentRow extends JsonObject {
  id: string;
}
const invalid = (message: string) => ({ code: "INVALID_REQUEST", message: expect.stringContaining(message) });
const list = () => gw.rpc<{ defaultId: string; agents: AgentRow[] }>("agents.list");
const ids = async () => (await list()).agents.map(({ id }) => id);
const agent = async (id: string) => (await list()).agents.find((one) => one.id === id);
const configText = () => readFile(join(gw.stateDir, "svc.json"), "utf8");
const inConfig = async (id: string) =>
  (JSON.parse(await configText()) as { agents: { list: AgentRow[] } }).agents.list.find((one) => one.id === id);
/** Writes an agent into the config as an operator with an editor would: nothing checks its workspace. */
const configure = async (entry: JsonObject) => {
  const { hash } = await gw.rpc<{ hash: string }>("config.get");
  await gw.rpc("config.patch", { raw: JSON.stringify({ agents: { list: [entry] } }), baseHash: hash });
};
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe("where no agent is written down", () => {
  beforeAll(() => start({}), BOOT_MS);
  afterAll(() => gw.close());

  test("agents.create adds one that the next request can use, and the implicit one goes on being the default", async () => {
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
    expect(await gw.rpc("agent.identity.get", { agentId: "helper-two" })).toEqual({
      agentId: "helper-two",
      name: "Helper Two",
      emoji: "🛠",
    });
    const asked = { agentId: "helper-two", message: "hi", idempotencyKey: "k1" };
    expect(await gw.rpc("agent", asked)).toMatchObject({ status: "accepted", sessionKey: "agent:helper-two:main" });
    expect(JSON.parse(await configText())).toMatchObject({
      agents: { list: [{ id: "main" }, { id: "helper-two", name: "Helper Two", identity: { emoji: "🛠" } }] },
    });
  });

  test("agents.create takes workspace, model and avatar", async () => {
    const workspace = join(gw.stateDir, "workspace-own");
    await gw.rpc("agents.create", { name: "full", workspace, model: "fake/script", avatar: "face.png" });
    const identity = { avatar: "face.png" };
    expect(await agent("full")).toEqual({ id: "full", name: "full", workspace, model: { primary: "fake/script" }, identity });
  });

  test("agents.create of the same name at the same time makes one agent", async () => {
    const both = await Promise.allSettled([gw.rpc("agents.create", { name: "twin" }), gw.rpc("agents.create", { name: "Twin" })]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await ids()).filter((id) => id === "twin")).toEqual(["twin"]);
  });

  test("agents.update changes the implicit one by writing it down", async () => {
    await gw.rpc("agents.update", { agentId: "main", name: "Me" });
    expect(await list()).toMatchObject({ defaultId: "main", agents: [{ id: "main", name: "Me" }, {}, {}, {}] });
  });

  test("agents.files.* read and write the fixed files of an agent", async () => {
    const { workspace } = await gw.rpc<{ workspace: string }>("agents.create", { name: "writer" });
    const { files } = await gw.rpc<{ files: JsonObject[] }>("agents.files.list", { agentId: "writer" });
    const names = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"];
    expect(files.map(({ name }) => name)).toEqual(names);
    const figures = { size: expect.any(Number), updatedAtMs: expect.any(Number) };
    expect(files[0]).toEqual({ name: "AGENTS.md", missing: false, path: join(workspace, "AGENTS.md"), ...figures });
    expect(files.at(-1)).toEqual({ name: "MEMORY.md", path: join(workspace, "MEMORY.md"), missing: true });

    const get = async () => (await gw.rpc<{ file: JsonObject }>("agents.files.get", { agentId: "writer", name: "USER.md" })).file;
    const { hash: before } = await get();
    const set = (content: string) => gw.rpc("agents.files.set", { agentId: "writer", name: "USER.md", content, expectedHash: before });
    const file = { name: "USER.md", missing: false, content: "Ann", size: 3 };
    expect(await set("Ann")).toMatchObject({ ok: true, agentId: "writer", workspace, file });
    expect(await readFile(join(workspace, "USER.md"), "utf8")).toBe("Ann");
    const conflict = { code: "INVALID_REQUEST", details: { type: "agent_file_conflict", currentHash: (await get()).hash } };
    await expect(set("Bob")).rejects.toMatchObject(conflict);
    expect(await get()).toMatchObject(file);
  });

  test("of two writers of a file with the same hash at the same time one wins", async () => {
    const { hash } = (await gw.rpc<{ file: JsonObject }>("agents.files.get", { agentId: "main", name: "USER.md" })).file;
    const set = (content: string) => gw.rpc("agents.files.set", { agentId: "main", name: "USER.md", content, expectedHash: hash });
    const both = await Promise.allSettled([set("one"), set("two")]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test.each<[string, JsonObject, string]>([
    ["agents.files.get", { agentId: "main", name: "../svc.json" }, 'unsupported file "../svc.json"'],
    ["agents.files.set", { agentId: "main", name: "notes.md", content: "x" }, 'unsupported file "notes.md"'],
    ["agents.files.set", { agentId: "main", name: "USER.md", content: "x".repeat(1_048_577) }, "invalid agents.files.set params"],
    ["agents.files.list", { agentId: "zzz" }, 'unknown agent id "zzz"'],
    ["agents.files.get", { agentId: "zzz", name: "USER.md" }, 'unknown agent id "zzz"'],
    ["agents.create", { name: "Main" }, 'agent "main" is reserved'],
    ["agents.create", { name: "FULL" }, 'agent "full" exists already'],
    ["agents.create", { name: "..." }, "no id can be derived"],
    ["agents.create", { name: "o\u001b[2Jps" }, "invalid agents.create params"],
    ["agents.create", { name: "x".repeat(65) }, "invalid agents.create params"],
    ["agents.create", { name: "slip", model: "fake/none" }, 'unknown model "fake/none"'],
    ["agents.update", { agentId: "nobody", name: "x" }, 'agent "nobody" not found'],
    ["agents.update", { agentId: "full", model: "fake/none" }, 'unknown model "fake/none"'],
    ["agents.delete", { agentId: "nobody" }, 'agent "nobody" not found'],
    ["agents.delete", { agentId: "main" }, "is the default agent"],
  ])("%s with $1 is refused", async (method, params, message) => {
    const before = await list();
    await expect(gw.rpc(method, params)).rejects.toMatchObject(invalid(message));
    expect(await list()).toEqual(before);
  });

  test("changing agents and their files needs an administrator, reading them a reader", async () => {
    const writer = await gw.client({ scopes: ["operator.write"] });
    for (const method of ["agents.create", "agents.update", "agents.delete", "agents.files.set"]) {
      const refusal = { code: "FORBIDDEN", details: { missingScope: "operator.admin" } };
      await expect(writer.request(method as string, { agentId: "main", name: "x" })).rejects.toMatchObject(refusal);
    }
    const reader = await gw.client({ scopes: ["operator.read"] });
    expect(await reader.request("agents.files.list", { agentId: "main" })).toMatchObject({ agentId: "main" });
  });
});

describe("where agents are written down", () => {
  beforeAll(async () => {
    await start({
      agents: {
        defaults: { skipBootstrap: true },
        list: [{ id: "main" }, { id: "ops", name: "Ops", model: "fake/script", identity: { emoji: "🛠" } }, { id: "aux" }],
      },
      bindings: [
        { agentId: "gone", match: { channel: "irc" } },
        { agentId: "aux", match: { channel: "irc" } },
        { agentId: "gone", match: { channel: "mail" } },
      ],
      messages: { responsePrefix: variable },
    });
  }, BOOT_MS);
  afterAll(async () => {
    await gw.close();
    await rm(home(), { recursive: true, force: true });
  });
  afterEach(() => vi.unstubAllEnvs());

  test("agents.update changes what is named and nothing else; null gives the common model back", async () => {
    expect(await gw.rpc("agents.update", { agentId: "ops", name: "Operations", avatar: "a.png" })).toEqual({ ok: true, agentId: "ops" });
    const identity = { emoji: "🛠", avatar: "a.png" };
    expect(await agent("ops")).toMatchObject({ name: "Operations", identity, model: { primary: "fake/script" } });
    await gw.rpc("agents.update", { agentId: "ops", model: null });
    expect(await agent("ops")).not.toHaveProperty("model");
    expect(await inConfig("ops")).toEqual({ id: "ops", name: "Operations", identity });
  });

  test("agents.delete takes an agent and its bindings out of the config, and its files to the trash", async () => {
    const { workspace } = await gw.rpc<{ workspace: string }>("agents.create", { name: "gone" });
    await writeFile(join(workspace, "note.md"), "keep me");
    await mkdir(join(gw.stateDir, "agents", "gone"), { recursive: true });
    const deleted = await gw.rpc<{ trash: string }>("agents.delete", { agentId: "gone" });
    const trash = expect.stringContaining(join(gw.stateDir, "trash", "agents", "gone-"));
    expect(deleted).toEqual({ ok: true, agentId: "gone", removedBindings: 2, trash });
    expect(await readFile(join(deleted.trash, "workspace", "note.md"), "utf8")).toBe("keep me");
    expect((await readdir(deleted.trash)).sort()).toEqual(["agent", "workspace"]);
    expect(await exists(workspace)).toBe(false);
    expect(await ids()).toEqual(["main", "ops", "aux"]);
    expect(JSON.parse(await configText())).toMatchObject({ bindings: [{ agentId: "aux" }] });
    await expect(gw.rpc("agents.files.list", { agentId: "gone" })).rejects.toMatchObject({ details: { code: "UNKNOWN_AGENT_ID" } });
  });

  test("agents.delete leaves the files where they are when asked to", async () => {
    const { workspace } = await gw.rpc<{ workspace: string }>("agents.create", { name: "stays" });
    expect(await gw.rpc("agents.delete", { agentId: "stays", deleteFiles: false })).toEqual({
      ok: true,
      agentId: "stays",
      removedBindings: 0,
    });
    expect(await exists(workspace)).toBe(true);
  });

  const home = () => join(gw.stateDir, "../", `home-of-${basename(gw.stateDir)}`);
  test("agents.create and agents.update refuse a folder of the system as a workspace, adopted or not", async () => {
    const before = await configText();
    const around = join(gw.stateDir, "workspace/../../../../../../etc");
    const refused = invalid("it belongs to the system");
    await expect(gw.rpc("agents.create", { name: "greedy", workspace: around, adopt: true })).rejects.toMatchObject(refused);
    await expect(gw.rpc("agents.update", { agentId: "aux", workspace: "/etc", adopt: true })).rejects.toMatchObject(refused);
    expect(await configText()).toBe(before);
  });

  test("agents.delete leaves a folder in place that svc did not create, and says so", async () => {
    const vault = join(home(), "vault");
    await mkdir(vault, { recursive: true });
    await writeFile(join(vault, "notes.md"), "mine");
    await expect(gw.rpc("agents.create", { name: "vault", workspace: vault })).rejects.toMatchObject(invalid("adopt: true"));

    await gw.rpc("agents.create", { name: "vault", workspace: vault, adopt: true });
    const deleted = await gw.rpc("agents.delete", { agentId: "vault" });
    expect(deleted).toMatchObject({ ok: true, kept: [`${vault}: svc did not create it, so it stays where it is`] });
    expect(deleted).not.toHaveProperty("trash");
    expect(await readFile(join(vault, "notes.md"), "utf8")).toBe("mine");
  });

  test("agents.delete leaves a folder in place that somebody put where svc had made one", async () => {
    const { workspace } = await gw.rpc<{ workspace: string }>("agents.create", { name: "swapped" });
    await rename(workspace, `${workspace}-old`);
    await mkdir(workspace);
    await writeFile(join(workspace, "notes.md"), "mine");
    expect(await gw.rpc("agents.delete", { agentId: "swapped" })).toMatchObject({ kept: [expect.stringContaining("did not create")] });
    expect(await exists(join(workspace, "notes.md"))).toBe(true);
  });

  test("an empty folder and one that svc made need no adopting; that of another agent does", async () => {
    const empty = join(gw.stateDir, "workspace-empty");
    await mkdir(empty);
    await gw.rpc("agents.create", { name: "first", workspace: empty });
    const { workspace } = await gw.rpc<{ workspace: string }>("agents.create", { name: "again" });
    await writeFile(join(workspace, "notes.md"), "kept");
    await gw.rpc("agents.delete", { agentId: "again", deleteFiles: false });
    expect(await gw.rpc("agents.create", { name: "again" })).toMatchObject({ workspace });

    const shared = { name: "second", workspace };
    await expect(gw.rpc("agents.create", shared)).rejects.toMatchObject(invalid("overlaps the workspace of another agent"));
    await gw.rpc("agents.create", { ...shared, adopt: true });
    expect(await gw.rpc("agents.delete", { agentId: "second" })).toMatchObject({ kept: [expect.stringContaining("other things")] });
  });

  test.each<[string, () => string]>([
    ["the state directory", () => gw.stateDir],
    ["a folder around it", () => join(gw.stateDir, "..")],
    ["the home of its user", home],
    ["the workspace of another agent", () => join(gw.stateDir, "workspace")],
  ])("agents.delete never moves %s, however the config came to name it", async (_name, place) => {
    await mkdir(home(), { recursive: true });
    vi.stubEnv("HOME", home());
    await configure({ id: "greedy", workspace: place() });
    const deleted = await gw.rpc("agents.delete", { agentId: "greedy" });
    expect(deleted).toMatchObject({ ok: true, kept: [expect.stringContaining("holds other things besides")] });
    expect(await exists(join(gw.stateDir, "svc.json"))).toBe(true);
    expect(await exists(place())).toBe(true);
  });

  test("agents.delete never moves what a link leads to", async () => {
    const elsewhere = join(gw.stateDir, "elsewhere");
    await mkdir(elsewhere);
    await symlink(elsewhere, join(gw.stateDir, "link"));
    await configure({ id: "linked", workspace: join(gw.stateDir, "link") });
    expect(await gw.rpc("agents.delete", { agentId: "linked" })).toMatchObject({ kept: [expect.stringContaining("link")] });
    expect(await exists(elsewhere)).toBe(true);
  });

  test("what is written with a variable stays a variable, and comments stay", async () => {
    await writeFile(join(gw.stateDir, "svc.json"), (await configText()).replace("{", "{ // mine\n"));
    await gw.rpc("agents.create", { name: "brief" });
    await gw.rpc("agents.delete", { agentId: "brief" });
    const text = await configText();
    expect(text).toContain("// mine");
    expect(text).toContain(variable);
    expect(text).not.toContain("brief");
  });
});
