import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, eventually, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, expect, test } from "vitest";
import { createRandom, householdMonth, promotionsIn } from "../../plugins/memory-core/dreaming/test-month.ts";
import { setFailpoint } from "../../sdk/failpoint.ts";
import { spoken } from "../fixtures/spoken.ts";

/** A month of notes and chats, dreamed night by night by a clock that is moved: real searches, the real job, a model that fails now and then, and kills at random steps. */

const seed = Number(process.env.SVC_TEST_SEED ?? Math.random().toString().slice(2, 8));
const DAYS = Number(process.env.SVC_DREAM_DAYS ?? 30);
const HOUR = 3_600_000;
const random = createRandom(seed);
const month = householdMonth(random, DAYS);
const prose =
  "In the night I went through what the day had left. ".repeat(3) +
  "Then I let it be, and everything stood where it had been written. ".repeat(3);

const stateDir = mkdtempSync(join(tmpdir(), "svc-dream-month-"));
const workspace = join(stateDir, "workspace");
mkdirSync(join(workspace, "memory"), { recursive: true });
afterAll(() => {
  setFailpoint(undefined);
  rmSync(stateDir, { recursive: true, force: true });
});

const requests: Array<{ day: string; chars: number }> = [];
let today = "";
function newModel() {
  return fakeModel(
    Array.from({ length: 5_000 }, () => (request) => {
      const last = spoken(request.messages).at(-1);
      const text = last?.role === "user" ? last.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
      if (text.includes("Short-term memory")) {
        requests.push({ day: today, chars: text.length });
        return random(5) === 0 ? { fault: "overloaded" as const } : prose;
      }
      if (text.startsWith("? ")) return { toolCalls: [{ name: "memory_search", args: { query: text.slice(2) } }] };
      return "I have made a note of that and will look after it.";
    }),
  );
}

let clock = fakeClock(Date.parse("2026-04-01T08:00:00Z"));
function boot(): Promise<TestGateway> {
  return createTestGateway({
    stateDir,
    plugins: ["store", "agents", "messaging", "cron", "memory-core"],
    models: [newModel()],
    clock,
    logLevel: "warn",
    config: {
      agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" }, memorySearch: { provider: "none" } } },
      plugins: { entries: { "memory-core": { config: { dreaming: { enabled: true, timezone: "UTC" } } } } },
    },
  });
}

const LOCK = join(workspace, "memory/.dreams/short-term-promotion.lock");
const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const read = (path: string) => readFileSync(join(workspace, path), "utf8");

test(`a month of nights, killed at random steps (seed ${seed})`, async () => {
  const written = new Map<string, string>();
  const own = "# What I keep\n\nMy own line.\n";
  writeFileSync(join(workspace, "MEMORY.md"), own);
  const nightly: number[] = [];
  let [kills, restarts, asks] = [0, 0, 0];
  let gw = await boot();
  try {
    for (const { day, note, rewritten, questions, remarks } of month.days) {
      today = day;
      for (const [name, text] of [[day, note] as const, ...rewritten]) {
        written.set(`memory/${name}.md`, hash(text));
        writeFileSync(join(workspace, "memory", `${name}.md`), text);
      }
      await gw.service("memory@1").sync("main", { reason: "test" });
      const ask = async (message: string) => {
        asks += 1;
        const run = await gw
          .service("agents@1")
          .run({ message, sessionKey: "main", trigger: "user", actor: { kind: "rpc", scopes: ["operator.admin"] } });
        await run.done;
        await clock.advance(60_000);
      };
      for (const { query } of questions) await ask(`? ${query}`);
      for (const remark of remarks) await ask(remark);

      const before = promotionsIn(read("MEMORY.md")).length;
      const isKilled = random(2) === 0;
      let left = isKilled ? random(90) : Number.POSITIVE_INFINITY;
      let isDead = false;
      setFailpoint((name) => {
        if (!isDead && (!/^(?:dreaming|file|cron)\./.test(name) || left-- > 0)) return;
        isDead = true;
        throw new Error("killed");
      });
      const at = Date.parse(`${day}T03:00:00Z`) + 24 * HOUR;
      await clock.advance(at - clock.now());
      const swept = async () => {
        await clock.advance(1_000); // a model that is overloaded is asked again after a pause
        return lastSweep(await gw.rpc("memory.dreaming.status")) >= at;
      };
      await settled(gw, async () => isDead || ((await swept()) && (await isIdle(gw))));
      setFailpoint(isDead ? () => Promise.reject(new Error("killed")) : undefined);
      if (isDead) {
        kills += 1;
        await gw.close({ keepState: true }).catch(() => undefined);
        setFailpoint(undefined);
        clock = fakeClock(clock.now() + 60_000);
        // Days lie between these kills; by the machine's clock they would look like a crash loop, and the lock like that of a process that lives.
        rmSync(join(stateDir, "gateway/boots.json"), { force: true });
        if (existsSync(LOCK)) writeFileSync(LOCK, `${process.pid}:1`);
        gw = await boot();
        restarts += 1;
        await clock.advance(60_000);
        // The job goes on by itself; its end is stored as well before the next night comes.
        await settled(gw, async () => (await swept()) && (await isIdle(gw)));
      }
      nightly.push(promotionsIn(read("MEMORY.md")).length - before);
      await clock.advance(Date.parse(`${day}T08:00:00Z`) + 24 * HOUR - clock.now());
    }

    for (const [path, expected] of written) expect(hash(read(path)), path).toBe(expected);
    const memory = read("MEMORY.md");
    expect(memory.startsWith(own)).toBe(true);
    const promoted = promotionsIn(memory);
    expect(promoted.length, "facts that are asked for all month are promoted").toBeGreaterThan(1);
    expect(new Set(promoted.map(({ key }) => key)).size).toBe(promoted.length);
    expect(Math.max(...nightly)).toBeLessThanOrEqual(10);
    for (const { key, text, score } of promoted) {
      expect(score).toBeGreaterThanOrEqual(0.8);
      const { candidates } = await gw.rpc<{
        candidates: Array<{ promotedAt?: string; signals: number; variety: number; components: Record<string, number> }>;
      }>("memory.dreaming.candidates", { selector: key });
      expect(candidates[0]?.promotedAt, text).toBeDefined();
      expect(candidates[0]?.signals).toBeGreaterThanOrEqual(3);
      expect(candidates[0]?.variety).toBeGreaterThanOrEqual(3);
      expect(Object.keys(candidates[0]?.components ?? {})).toHaveLength(7);
    }
    // One request a night, at most one more where a kill made it be asked again, retries of a model that fails aside.
    const perNight = countEach(requests.map(({ day }) => day));
    expect(Math.max(0, ...requests.map(({ chars }) => chars))).toBeLessThan(8_000);
    expect(requests.length).toBeLessThanOrEqual((DAYS + kills) * 4);
    expect(
      readdirSync(join(workspace, "memory/.dreams")).filter((name) => !/^(?:events\.jsonl|[a-z-]+\.json|session-corpus)$/.test(name)),
    ).toEqual([]);
    expect(readdirSync(workspace).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    process.stdout.write(
      `${DAYS} nights, ${asks} messages, ${kills} kills, ${restarts} restarts, ${promoted.length} promotions, ${requests.length} requests of the diary in ${perNight.size} nights\n`,
    );
    if (process.env.SVC_DREAM_SHOW) process.stdout.write(`${memory}\n${read("DREAMS.md")}\n`);
  } finally {
    setFailpoint(undefined);
    await gw.close({ keepState: true });
  }
}, 1_200_000);

/** Waits for the end of a night; one that does not end says how things stand. */
async function settled(gw: TestGateway, isOver: () => Promise<boolean>): Promise<void> {
  await eventually(isOver, 30_000).catch(async () => {
    const state = [
      await gw.rpc("memory.dreaming.status"),
      await gw.rpc("cron.list", {}),
      await gw.rpc("cron.runs", { limit: 3 }),
      gw.logs.slice(-8),
    ];
    throw new Error(`the night of ${today} does not end: ${JSON.stringify(state)}`);
  });
}

async function isIdle(gw: TestGateway): Promise<boolean> {
  const { jobs } = await gw.rpc<{ jobs: Array<{ state: { runningAtMs?: number } }> }>("cron.list", {});
  return jobs.length === 1 && jobs[0]?.state.runningAtMs === undefined;
}

function lastSweep(status: { workspaces?: Array<{ lastSweep?: { at: number } }> }): number {
  return status.workspaces?.[0]?.lastSweep?.at ?? 0;
}

function countEach(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
