import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemorySearchResult, MemoryStatus, SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway, type TestGatewayOptions } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";

let gateway: TestGateway | undefined;
const kept: string[] = [];
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  for (const folder of kept.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Search = NonNullable<NonNullable<NonNullable<SvcConfigInput["agents"]>["defaults"]>["memorySearch"]>;
const on: Search = { provider: "none", sources: ["memory", "sessions"], experimental: { sessionMemory: true } };
const eager: Search = { ...on, sync: { sessions: { deltaBytes: 0, deltaMessages: 0 } } };

async function boot(memorySearch: Search, options: TestGatewayOptions = {}): Promise<TestGateway> {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "model-recall", "memory-core"],
    workspace: { "MEMORY.md": "# Home\n\nThe router stands in the hall.\n" },
    ...options,
    config: { agents: { defaults: { memorySearch }, ...(options.config?.agents ?? {}) } },
  });
  return gateway;
}

/** One message to the agent, answered. */
async function say(message: string, sessionKey = "main"): Promise<void> {
  const g = gateway as TestGateway;
  const client = await g.client();
  const { runId } = (await client.request("chat.send", { sessionKey, message, idempotencyKey: `k-${Math.random()}` })) as { runId: string };
  await g.rpc("agent.wait", { runId, timeoutMs: 20_000 });
}

const find = (query: string, options: { corpus?: "memory" | "sessions" | "all"; sessionKey?: string; agentId?: string } = {}) =>
  (gateway as TestGateway).service("memory@1").search(options.agentId ?? "main", query, { citations: "off", minScore: 0, ...options });
const sessions = (found: MemorySearchResult) => found.results.filter(({ source }) => source === "sessions");
const hears = (query: string) =>
  eventually(async () => {
    const hits = sessions(await find(query, { corpus: "sessions" }));
    if (hits.length === 0) throw new Error(`nothing about ${query} yet`);
    return hits;
  });
const sync = (options: { force?: boolean } = {}) => (gateway as TestGateway).service("memory@1").sync("main", options);
const status = () => (gateway as TestGateway).rpc<MemoryStatus & Record<string, unknown>>("memory.status");
const idOf = async (sessionKey = "agent:main:main") =>
  (await (gateway as TestGateway).service("store@2").sessions.get(sessionKey))?.sessionId ?? "";

describe("what was said is found", () => {
  test("a conversation is found by its words, with the numbers of its messages, and only in its own corpus", async () => {
    await boot(eager);
    await say("My aunt Philomena collects barometers.");

    const [hit] = await hears("Philomena barometers");

    expect(hit).toMatchObject({ path: `sessions/${await idOf()}`, source: "sessions", startLine: 1 });
    expect(hit?.snippet).toContain("User: My aunt Philomena collects barometers.");
    expect(hit?.endLine).toBeLessThanOrEqual(await (gateway as TestGateway).service("store@2").messages.count(await idOf()));
    expect(sessions(await find("Philomena", { corpus: "memory" }))).toEqual([]);
    expect((await find("router", { corpus: "sessions" })).results.every(({ source }) => source === "sessions")).toBe(true);
    expect((await find("router", { corpus: "all" })).results.some(({ path }) => path === "MEMORY.md")).toBe(true);
    expect((await status()).sourceCounts).toContainEqual({ source: "sessions", files: 1, chunks: expect.any(Number) });
  });

  test("a transcript cannot be read through memory_get", async () => {
    await boot(eager);
    await say("The cellar key is under the mat.");
    await hears("cellar mat");
    const read = await (gateway as TestGateway).rpc("memory.get", { path: `sessions/${await idOf()}` });
    expect(read).toMatchObject({ text: "", disabled: true });
  });

  test("groups, channels and other agents' sessions see none of it", async () => {
    await boot(eager, { config: { agents: { list: [{ id: "main", default: true }, { id: "work" }] } } });
    await say("My aunt Philomena collects barometers.");
    await hears("Philomena");

    for (const sessionKey of ["agent:main:telegram:group:1", "agent:main:slack:channel:c", "agent:work:main"]) {
      expect(sessions(await find("Philomena", { sessionKey }))).toEqual([]);
      expect(await find("Philomena", { sessionKey, corpus: "sessions" })).toMatchObject({
        results: [],
        warning: expect.stringContaining("not searched"),
      });
    }
    expect(sessions(await find("Philomena", { sessionKey: "agent:main:main" }))).toHaveLength(1);
    expect(sessions(await find("Philomena", { agentId: "work" }))).toEqual([]);
  });

  test("without the switch, and by default, transcripts stay out and the answer says so", async () => {
    await boot({ provider: "none", sources: ["memory", "sessions"] });
    await say("My aunt Philomena collects barometers.");
    await sync({ force: true });
    expect((await status()).sources).toEqual(["memory"]);
    expect(await find("Philomena", { corpus: "sessions" })).toMatchObject({ results: [], warning: expect.stringContaining("not indexed") });
    expect(sessions(await find("Philomena"))).toEqual([]);
  });
});

describe("sessions that change", () => {
  test("below the thresholds nothing is read again, a full reindex reads all of it", async () => {
    await boot(on);
    await sync();
    await say("My aunt Philomena collects barometers.");
    await sync();
    expect(sessions(await find("Philomena"))).toEqual([]);
    await sync({ force: true });
    expect(sessions(await find("Philomena"))).toHaveLength(1);
  });

  test("growth is read once it reaches the threshold", async () => {
    await boot({ ...on, sync: { sessions: { deltaBytes: 1_000_000, deltaMessages: 4 } } });
    await sync();
    await say("First: the barometer fell.");
    await say("Second: the hygrometer rose.");
    await hears("hygrometer");
  });

  test("a reset session leaves the index, what is said afterwards enters it", async () => {
    await boot(eager);
    await say("My aunt Philomena collects barometers.");
    await hears("Philomena");
    await (gateway as TestGateway).rpc("sessions.reset", { key: "main" });
    await eventually(async () => expect(sessions(await find("Philomena"))).toEqual([]));
    await say("The cat is called Wilhelmina.");
    expect((await hears("Wilhelmina"))[0]?.path).toBe(`sessions/${await idOf()}`);
  });

  test("a deleted session leaves the index", async () => {
    await boot(eager);
    await say("The attic smells of juniper.", "side");
    await hears("juniper");
    await (gateway as TestGateway).rpc("sessions.delete", { key: "side" });
    await eventually(async () => expect(sessions(await find("juniper"))).toEqual([]));
  });

  test("a compacted session is read again at once, and keeps all that was said", async () => {
    await boot(on);
    await sync();
    for (const word of ["juniper", "hyssop", "lovage", "tansy"]) await say(`We planted ${word}.`);
    expect(sessions(await find("juniper"))).toEqual([]);
    await (gateway as TestGateway).rpc("sessions.compact", { key: "main", maxLines: 2 });
    await hears("juniper");
    await hears("tansy");
  });

  test("what was said while the thread was away is found after its restart", async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "svc-session-memory-"));
    kept.push(stateDir);
    await boot(on, { stateDir });
    await sync();
    await say("My aunt Philomena collects barometers.");
    expect(sessions(await find("Philomena"))).toEqual([]);
    await (gateway as TestGateway).close({ keepState: true });

    await boot(on, { stateDir });
    await hears("Philomena");
  });

  test("switching transcripts off takes them out of the index", async () => {
    await boot(eager);
    await say("My aunt Philomena collects barometers.");
    await hears("Philomena");
    await (gateway as TestGateway).reload({ agents: { defaults: { memorySearch: { provider: "none" } } } });
    await sync();
    expect((await status()).sourceCounts.map(({ source }) => source)).toEqual(["memory"]);
  });
});

test("no secret that was told stands anywhere in the files of the index", async () => {
  const g = await boot(eager);
  const secrets = [
    "sk-proj-abcdefghijklmnop1234",
    "ghp_abcdefghijklmnopqrstuvwxyz012345",
    "hunter2-and-more",
    "123456789:ABCdefGHIjklMNOpqrSTUvwxYZ012345678",
    "eyJhbGciOiJIUzI1NiJ9.payload.sig",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
  ];
  await say(
    `Remember Zinnia: key ${secrets[0]}, OTHER_TOKEN=${secrets[1]}, {"password": "${secrets[2]}"}, bot ${secrets[3]}, ` +
      `Authorization: Bearer ${secrets[4]} and -----BEGIN PRIVATE KEY-----\n${secrets[5]}\n-----END PRIVATE KEY-----`,
  );
  await hears("Zinnia");
  const folder = join(g.stateDir, "memory");
  expect(existsSync(join(folder, "main.sqlite"))).toBe(true);
  await g.close({ keepState: true });
  gateway = undefined;
  kept.push(g.stateDir);

  const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString("latin1"));
  expect(bytes.some((text) => text.includes("Zinnia"))).toBe(true);
  for (const secret of secrets) expect(bytes.some((text) => text.includes(secret))).toBe(false);
});

test("without a store the notes are searched as ever, and status says what is missing", async () => {
  gateway = await createTestGateway({
    plugins: ["memory-core"],
    workspace: { "MEMORY.md": "The router stands in the hall.\n" },
    config: { agents: { defaults: { memorySearch: on } } },
  });
  await sync();
  expect((await find("router")).results).toHaveLength(1);
  expect((await status()).lastError).toContain("session transcripts cannot be read");
});
