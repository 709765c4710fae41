import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Breakers, FAILURES, PAUSE_MS } from "./breaker.ts";
import { cacheKey, NoteCache } from "./cache.ts";
import { agentsCheck, searchesCheck } from "./doctor.ts";
import { SessionToggles } from "./toggles.ts";
import { type SearchRecord, Transcripts } from "./transcripts.ts";

let now = 0;
const clock = { monotonic: () => now, now: () => now };
const warned: string[] = [];
const logger = { warn: (text: string, fields?: object) => void warned.push(`${text} ${JSON.stringify(fields ?? {})}`) };
let dir: string;
beforeEach(async () => {
  now = 0;
  warned.length = 0;
  dir = await mkdtemp(join(tmpdir(), "svc-active-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("an outcome is kept for its time, and a thousand of them", () => {
  const cache = new NoteCache(clock);
  cache.set("a", { note: "tea" }, 1_000);
  now = 999;
  expect(cache.get("a")).toEqual({ note: "tea" });
  now = 1_000;
  expect(cache.get("a")).toBeUndefined();
  for (let i = 0; i <= 1_000; i++) cache.set(String(i), { note: undefined }, 1_000);
  expect([cache.size, cache.get("0"), cache.get("1000")]).toEqual([1_000, undefined, { note: undefined }]);
});

test("agents, sessions, transcripts and questions are told apart", () => {
  const base = { agentId: "a", sessionKey: "b", sessionId: "c", query: "d" };
  const keys = [base, { ...base, agentId: "x" }, { ...base, sessionKey: "x" }, { ...base, sessionId: "x" }, { ...base, query: "x" }].map(
    cacheKey,
  );
  expect(new Set(keys).size).toBe(5);
});

test("failures in a row pause the searches of their agent alone; after the pause one more is enough, and a success forgets them", () => {
  const breakers = new Breakers(clock);
  const failed = Array.from({ length: FAILURES }, () => breakers.failed("main", "late"));
  expect(failed).toEqual([false, false, true]);
  expect([breakers.isOpen("main"), breakers.isOpen("other")]).toEqual([true, false]);
  expect(searchesCheck(breakers.paused())).toMatchObject({
    ok: false,
    message: expect.stringContaining('agent "main" pause after failures in a row: late'),
  });
  now = PAUSE_MS;
  expect(breakers.isOpen("main")).toBe(false);
  expect(breakers.failed("main", "late")).toBe(true);
  now = 2 * PAUSE_MS;
  breakers.succeeded("main");
  expect(searchesCheck(breakers.paused())).toMatchObject({ ok: true });
  expect(breakers.failed("main", "late")).toBe(false);
});

test("only off is stored, it outlives the process, and a file that is no good is told of", async () => {
  const toggles = new SessionToggles(dir, logger);
  await toggles.load();
  await Promise.all([
    toggles.set("agent:main:main", false),
    toggles.set("agent:main:irc:direct:kim", false),
    toggles.set("agent:main:x", true),
  ]);
  await toggles.set("agent:main:main", true);
  const text = await readFile(join(dir, "session-toggles.json"), "utf8");
  expect(JSON.parse(text)).toEqual({ version: 1, off: ["agent:main:irc:direct:kim"] });
  const later = new SessionToggles(dir, logger);
  await later.load();
  expect([later.isOff("agent:main:irc:direct:kim"), later.isOff("agent:main:main"), warned]).toEqual([true, false, []]);

  await writeFile(join(dir, "session-toggles.json"), "{ broken");
  const broken = new SessionToggles(dir, logger);
  await broken.load();
  expect([broken.count, warned.length]).toEqual([0, 1]);
});

const record: SearchRecord = {
  agentId: "main",
  sessionKey: "k",
  system: "Search.",
  content: [{ type: "text", text: "query" }],
  model: "fake/script",
  messages: [{ role: "assistant", content: [{ type: "text", text: "tea" }] }],
  note: "tea",
};
const transcriptsIn = (folder: string) => new Transcripts({ stateDir: dir, folder: () => folder, clock, logger });

test("a transcript is a private file below the data of the plugin", async () => {
  await transcriptsIn("kept/here").keep(record);
  const folder = join(dir, "transcripts/agents/main/kept/here");
  const [name = ""] = await readdir(folder);
  const lines = (await readFile(join(folder, name), "utf8")).trim().split("\n");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ system: "Search.", note: "tea", model: "fake/script" });
  expect(lines).toHaveLength(2);
  expect([(await stat(folder)).mode & 0o777, (await stat(join(folder, name))).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("a link that leads out of the data of the plugin is not followed", async () => {
  const outside = await mkdtemp(join(tmpdir(), "svc-outside-"));
  await mkdir(join(dir, "transcripts/agents/main"), { recursive: true });
  await symlink(outside, join(dir, "transcripts/agents/main/kept"));
  await transcriptsIn("kept").keep(record);
  expect(await readdir(outside)).toEqual([]);
  expect(warned.join()).toContain("leads out of the data of the plugin");
  await rm(outside, { recursive: true });
});

test("doctor tells of settings of which nothing comes", () => {
  const checked = (enabled: boolean, agents: string[]) => {
    const { ok, message } = agentsCheck({ enabled, agents }, ["main", "work"]);
    return ok ? "ok" : message;
  };
  expect(checked(true, ["main"])).toBe("ok");
  expect(checked(false, [])).toBe("ok");
  expect(checked(true, [])).toBe("active memory is on and names no agent, so nothing happens");
  expect(checked(true, ["main", "wrok"])).toBe("active memory names agents that do not exist: wrok");
});
