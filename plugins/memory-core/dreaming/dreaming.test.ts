import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestGateway, eventually, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spoken } from "../../../test/fixtures/spoken.ts";

/** Dreaming in a gateway: its config, its job, the run loop, the chat, and what operators see. One gateway, in order. */

const HOUR = 3_600_000;
const start = Date.parse("2026-04-10T12:00:00Z");
const clock = fakeClock(start);
const prose =
  "I walked through the day once more, and the garden house stood in the middle of it. Somebody had asked me for its door code, and I knew it at once. " +
  "There was also a boiler, which hummed as it always does in spring. I keep nothing for good tonight, but I will remember where both of them are.";
const model = fakeModel(
  Array.from({ length: 60 }, () => (request) => {
    const last = spoken(request.messages).at(-1);
    const text = last?.role === "user" ? last.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
    if (text.includes("Short-term memory")) return prose;
    if (text.startsWith("search ")) return { toolCalls: [{ name: "memory_search", args: { query: text.slice(7) } }] };
    if (text.startsWith("write and search ")) {
      const word = text.slice(17);
      const note = { name: "write", args: { path: `memory/${word}.md`, content: `# ${word}\n\nThe ${word} is in the cellar.\n` } };
      return { toolCalls: [note, { name: "memory_search", args: { query: word } }] };
    }
    if (text.startsWith("append and search ")) {
      const word = text.slice(18);
      return {
        toolCalls: [
          { name: "memory_append", args: { text: `The ${word} is in the attic.` } },
          { name: "memory_search", args: { query: word } },
        ],
      };
    }
    return "Done.";
  }),
);

const NOTE = "memory/2026-04-10.md";
const settings = (dreaming: object, more: object = {}) => ({
  agents: {
    defaults: { skipBootstrap: true, heartbeat: { every: "0" }, memorySearch: { provider: "none" as const } },
    list: [
      { id: "main", default: true },
      { id: "broken", workspace: "broken" },
    ],
  },
  plugins: { entries: { "memory-core": { config: { dreaming } } } },
  ...more,
});
const on = { enabled: true, frequency: "0 3 * * *", timezone: "UTC" };

let gw: TestGateway;
beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", "cron", "memory-core", "tools-workspace"],
    models: [model],
    clock,
    config: settings({ ...on, enabled: false }),
    workspace: { [NOTE]: "# 2026-04-10\n\n- The door code of the garden house is 4711\n- Ana services the boiler every spring\n" },
  });
}, 120_000);
afterAll(() => gw.close());

type Status = {
  enabled: boolean;
  frequency: string;
  job: { state: string; id?: string; nextRunAt?: number; problem?: string };
  workspaces: Array<{ agentIds: string[]; entries: number; promoted: number; problem?: string; lastSweep?: { diary: string } }>;
};
type Job = { id: string; name: string; schedule: object; payload: { kind: string; text?: string }; sessionTarget: string };

const status = () => gw.rpc<Status>("memory.dreaming.status");
const jobs = async () => (await gw.rpc<{ jobs: Job[] }>("cron.list", { includeDisabled: true })).jobs;
const read = (path: string) => readFileSync(join(gw.workspace, path), "utf8");
const entries = () => {
  const path = "memory/.dreams/short-term-recall.json";
  const stored = existsSync(join(gw.workspace, path)) ? JSON.parse(read(path)).entries : {};
  return Object.values(stored) as Array<{ snippet: string; recallCount: number; startLine: number }>;
};
let asked = 0;
async function ask(message: string): Promise<void> {
  const run = await gw
    .service("agents@1")
    .run({ message, sessionKey: "main", trigger: "user", runId: `ask-${++asked}`, actor: { kind: "rpc", scopes: ["operator.admin"] } });
  expect(await run.done).toMatchObject({ status: "ok" });
}
/** Text of the newest tool result that a model was given. */
const toolText = () => JSON.stringify(spoken(model.requests.at(-1)?.messages ?? []).findLast(({ role }) => role === "tool"));

test("off by default: no job, no state in the workspace, whatever is searched for", async () => {
  await ask("search door code");
  expect(toolText()).toContain("4711");
  expect(await status()).toMatchObject({ enabled: false, job: { state: "off" } });
  expect(await jobs()).toEqual([]);
  expect(existsSync(join(gw.workspace, "memory/.dreams"))).toBe(false);
});

test("enabled registers one job with the frequency and the time zone, and a changed one changes it", async () => {
  await gw.reload(settings(on));
  const [job, ...others] = await jobs();
  expect(others).toEqual([]);
  expect(job).toMatchObject({
    name: expect.stringContaining("[managed-by=memory-core.dreaming]"),
    schedule: { kind: "cron", expr: "0 3 * * *", tz: "UTC" },
    sessionTarget: "main",
    payload: { kind: "systemEvent" },
  });
  expect(await status()).toMatchObject({
    enabled: true,
    job: { state: "scheduled", id: job?.id, nextRunAt: Date.parse("2026-04-11T03:00:00Z") },
  });

  await gw.reload(settings({ ...on, frequency: "30 4 * * *", timezone: "Asia/Tokyo" }));
  expect((await jobs()).map(({ id, schedule }) => [id, schedule])).toEqual([
    [job?.id, { kind: "cron", expr: "30 4 * * *", tz: "Asia/Tokyo" }],
  ]);
  expect(await status()).toMatchObject({
    frequency: "30 4 * * *",
    timezone: "Asia/Tokyo",
    job: { nextRunAt: Date.parse("2026-04-10T19:30:00Z") },
  });
  await gw.reload(settings(on));
});

test("a second job with the marker is removed at the next change", async () => {
  const [job] = await jobs();
  const { name, schedule, payload, sessionTarget } = job as Job;
  await clock.advance(1_000);
  await gw.rpc("cron.add", { name, schedule, payload, sessionTarget, wakeMode: "next-heartbeat" });
  expect(await jobs()).toHaveLength(2);
  await gw.reload(settings({ ...on, frequency: "0 4 * * *" }));
  await gw.reload(settings(on));
  expect((await jobs()).map(({ id }) => id)).toEqual([job?.id]);
});

test.each([
  [{ ...on, frequency: "0 3 * *" }, "frequency"],
  [{ ...on, frequency: "0 99 * * *" }, "frequency"],
  [{ ...on, timezone: "Mars/Olympus" }, "timezone"],
  [{ ...on, phases: 3 }, "phases"],
])("the config %o is refused", async (dreaming, key) => {
  const outcome = await gw.reload(settings(dreaming));
  expect(JSON.stringify(outcome)).toContain(key);
  expect(await status()).toMatchObject({ enabled: true, frequency: "0 3 * * *" });
  await gw.reload(settings(on));
});

test("a search through the run loop is written down for the statement that it found", async () => {
  await ask("search door code");
  await eventually(() => entries().some(({ recallCount }) => recallCount > 0));
  expect(entries()).toMatchObject([{ snippet: "The door code of the garden house is 4711", recallCount: 1, startLine: 3 }]);
});

test("what write and memory_append leave behind is found by the next search of the same turn", async () => {
  await ask("write and search accordion");
  expect(toolText()).toContain("memory/accordion.md");
  await ask("append and search bandoneon");
  expect(toolText()).toContain("is in the attic");
});

test("at its time the sweep runs although heartbeats are off, asks the model once, and tells no session of it", async () => {
  const broken = join(gw.stateDir, "broken/memory");
  mkdirSync(broken, { recursive: true });
  symlinkSync(gw.stateDir, join(broken, ".dreams"));
  const before = model.requests.length;
  await clock.advance(15 * HOUR);
  await eventually(async () => (await status()).workspaces[0]?.lastSweep !== undefined && existsSync(join(gw.workspace, "DREAMS.md")));
  const [job] = await jobs();
  await eventually(async () => (await gw.rpc<{ entries: object[] }>("cron.runs", { id: job?.id })).entries.length === 1);
  const asked = model.requests.slice(before);
  expect(asked).toHaveLength(1);
  expect([asked[0]?.tools ?? []].flat()).toEqual([]);
  expect(read("DREAMS.md")).toContain(prose);
  expect(JSON.stringify(await gw.rpc("cron.runs", { id: job?.id }))).toContain("1 workspace swept, 0 promoted; failed:");
  expect(await gw.service("store@2").systemEvents.pending("agent:main:main", 5)).toEqual([]);
});

test("a workspace that cannot be swept does not stop the others, and is told in status and doctor", async () => {
  const { workspaces } = await status();
  expect(workspaces.map(({ agentIds, problem }) => [agentIds, problem === undefined])).toEqual([
    [["main"], true],
    [["broken"], false],
  ]);
  const { findings } = await gw.rpc<{ findings: Array<{ id: string; message: string }> }>("gateway.doctor");
  expect(findings.filter(({ id }) => id === "memory/dreaming")).toMatchObject([
    { message: expect.stringContaining("workspace of broken") },
  ]);
});

test("the methods list, explain, promote, preview, fill back and repair", async () => {
  const { candidates } = await gw.rpc<{ candidates: Array<{ key: string; blockedBy: string[] }> }>("memory.dreaming.candidates", {
    selector: "door code",
  });
  expect(candidates.slice(0, 1)).toMatchObject([
    { snippet: "The door code of the garden house is 4711", blockedBy: expect.arrayContaining([expect.stringContaining("are needed")]) },
  ]);
  await expect(gw.rpc("memory.dreaming.candidates", { selector: "xylophone" })).rejects.toMatchObject({
    message: expect.stringContaining('nothing in the short-term memory matches "xylophone"'),
  });
  const low = { minScore: 0, minRecallCount: 1, minUniqueQueries: 1, limit: 1 };
  expect(await gw.rpc("memory.dreaming.promote", low)).toMatchObject({ applied: [{ text: expect.any(String) }] });
  expect(read("MEMORY.md")).toContain("## Promoted From Short-Term Memory (2026-04-11)");
  expect(await gw.rpc("memory.search", { query: "Promoted Short-Term" })).toMatchObject({ results: [{ path: "MEMORY.md" }] });
  expect(await gw.rpc("memory.dreaming.preview", { grounded: true })).toMatchObject({
    agentId: "main",
    grounded: [expect.stringContaining("10 April 2026")],
  });
  expect(await gw.rpc("memory.dreaming.backfill", { action: "write" })).toMatchObject({ entries: 1, staged: 0 });
  expect(await gw.rpc("memory.dreaming.backfill", { action: "rollback" })).toMatchObject({ removed: 1 });
  writeFileSync(join(gw.workspace, "memory/.dreams/phase-signals.json"), "torn");
  expect((await status()).workspaces[0]?.problem).toContain("phase-signals.json: expected a JSON object");
  expect(await gw.rpc("memory.dreaming.repair")).toMatchObject({ done: [expect.stringContaining("put phase-signals.json aside")] });
  const client = await gw.client();
  const swept = await client.request("memory.dreaming.run", { agentId: "main" }, { onAccepted: () => undefined });
  expect(swept).toMatchObject({ workspaces: [{ agentIds: ["main"], result: { diary: expect.any(String) } }] });
});

test("/dreaming shows its state to who may write, and is switched by administrators alone", async () => {
  const writer = await gw.client({ scopes: ["operator.read", "operator.write"] });
  const send = (client: typeof writer, message: string) =>
    client.request("chat.send", { sessionKey: "commands", message, idempotencyKey: message + asked++ });
  const last = async () =>
    JSON.stringify((await gw.rpc<{ messages: object[] }>("chat.history", { sessionKey: "commands" })).messages.at(-1));
  await send(writer, "/dreaming status");
  expect(await last()).toContain("Dreaming is on. Sweeps at 0 3 * * * (UTC)");
  await send(writer, "/dreaming help");
  expect(await last()).toContain("Notes are never changed.");
  await send(writer, "/dreaming perhaps");
  expect(await last()).toContain("Expected /dreaming status, on, off or help.");
  await expect(send(writer, "/dreaming off")).rejects.toThrow("operator.admin");

  const admin = await gw.client();
  await send(admin, "/dreaming off");
  expect(await last()).toContain("Dreaming is off.");
  expect(await status()).toMatchObject({ enabled: false, job: { state: "off" } });
  expect(await jobs()).toEqual([]);
  await send(admin, "/dreaming on");
  expect(await last()).toContain("Dreaming is on. Sweeps at 0 3 * * *");
  expect(JSON.parse(readFileSync(join(gw.stateDir, "svc.json"), "utf8")).plugins.entries["memory-core"].config.dreaming).toMatchObject({
    enabled: true,
  });
  expect(await jobs()).toHaveLength(1);
});

test("with cron off, status and doctor say that no sweep will run", async () => {
  await gw.reload(settings(on, { cron: { enabled: false } }));
  expect((await status()).job).toMatchObject({ state: "missing", problem: expect.stringContaining("cron.enabled is false") });
  const { findings } = await gw.rpc<{ findings: Array<{ id: string; message: string }> }>("gateway.doctor");
  expect(
    findings
      .filter(({ id }) => id === "memory/dreaming")
      .map(({ message }) => message)
      .join(),
  ).toContain("no sweep will run by itself");
});
