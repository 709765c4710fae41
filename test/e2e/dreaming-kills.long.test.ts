import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { createRandom, householdMonth, promotionsIn } from "../../plugins/memory-core/dreaming/test-month.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import type { Home, Running } from "./_process.ts";
import { backendClient, runSeed } from "./_storm.ts";

/** The month of `dreaming.long.test.ts` in processes of its own: every second night the process is killed in the middle of its sweep, with SIGKILL. */

afterEach(stopAll);

const DAYS = Number(process.env.SVC_DREAM_DAYS ?? 30);
const MINUTE = 60_000;
const LOCK = "memory/.dreams/short-term-promotion.lock";
/** A sweep's time, until the first one was measured. */
const FIRST_GUESS_MS = 200;

interface Swept {
  workspaces: Array<{ result?: { ms: number; problem?: string }; error?: string }>;
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex");

test(`a month of nights, in every second of which the process is killed with SIGKILL (seed ${runSeed})`, async () => {
  const random = createRandom(runSeed);
  const month = householdMonth(random, DAYS);
  const home = await newHome();
  const workspace = join(home.stateDir, "workspace");
  const read = (path: string) => readFileSync(join(workspace, path), "utf8");
  const own = "# What I keep\n\nMy own line.\n";
  await writeFile(join(workspace, "MEMORY.md"), own);
  const written = new Map<string, string>();
  let [sweepMs, kills, inTime] = [FIRST_GUESS_MS, 0, 0];
  for (const [index, { day, note, rewritten, questions }] of month.days.entries()) {
    for (const [name, text] of [[day, note] as const, ...rewritten]) {
      written.set(`memory/${name}.md`, hash(text));
      await writeFile(join(workspace, "memory", `${name}.md`), text);
    }
    const evening = Date.parse(`${day}T20:00:00Z`);
    let gateway = await wake(home, evening);
    for (const { query } of questions) await search(gateway, query);
    if (index % 2 === 1) {
      if (await killedInSweep(gateway, random(Math.ceil(sweepMs / 2)))) inTime += 1;
      kills += 1;
      for (const [path, expected] of written) expect(hash(read(path)), path).toBe(expected);
      ageLeftovers(workspace);
      gateway = await wake(home, evening + 10 * MINUTE);
    }
    const { workspaces } = await sweptBy(gateway);
    expect(workspaces).toEqual([expect.objectContaining({ result: expect.not.objectContaining({ problem: expect.anything() }) })]);
    if (index % 2 === 0) sweepMs = workspaces[0]?.result?.ms ?? sweepMs;
    expect(await gateway.kill("SIGTERM")).toBe(0);
  }

  for (const [path, expected] of written) expect(hash(read(path)), path).toBe(expected);
  const memory = read("MEMORY.md");
  expect(memory.startsWith(own)).toBe(true);
  const promoted = promotionsIn(memory);
  expect(promoted.length, "facts that are asked for all month are promoted").toBeGreaterThan(1);
  expect(new Set(promoted.map(({ key }) => key)).size, "none twice").toBe(promoted.length);
  expect(existsSync(join(workspace, LOCK))).toBe(false);
  expect(leftovers(workspace)).toEqual([]);
  expect(inTime, "kills that came before the sweep had ended").toBeGreaterThan(kills / 4);
  process.stdout.write(`${DAYS} nights, ${kills} kills, ${inTime} of them in a sweep of ${sweepMs} ms, ${promoted.length} promotions\n`);
}, 1_200_000);

async function newHome(): Promise<Home> {
  const home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token } },
    agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" }, memorySearch: { provider: "none" } } },
    plugins: {
      allow: ["store", "agents", "messaging", "cron", "memory-core", "model-recall"],
      entries: { "memory-core": { config: { dreaming: { enabled: true, timezone: "UTC" } } } },
    },
  });
  await mkdir(join(home.stateDir, "workspace/memory"), { recursive: true });
  return { ...home, program: fileURLToPath(new URL("_soak-gateway.mjs", import.meta.url)), readyMs: 60_000 };
}

/** A gateway at this time of its clock. Days lie between these starts; by the machine's clock they would look like a crash loop. */
function wake(home: Home, at: number): Promise<Running> {
  rmSync(join(home.stateDir, "gateway/boots.json"), { force: true });
  return gatewayIn(home, [], { SVC_SOAK_FACTOR: "1", SVC_SOAK_BEGIN: String(at) });
}

/** Makes what a killed sweep left ten minutes old by the machine's clock: for a minute the lock of a dead process and half written files are left alone. */
function ageLeftovers(workspace: string): void {
  for (const path of leftovers(workspace)) {
    const then = statSync(path).mtimeMs - 10 * MINUTE;
    utimesSync(path, then / 1_000, then / 1_000);
  }
  const lock = join(workspace, LOCK);
  if (!existsSync(lock)) return;
  const [pid, since] = readFileSync(lock, "utf8").split(":");
  writeFileSync(lock, `${pid}:${Number(since) - 10 * MINUTE}`);
}

async function search(gateway: Running, query: string): Promise<void> {
  await withClient(gateway, async (request) => {
    expect(await request("tools.invoke", { name: "memory_search", args: { query } })).toMatchObject({ ok: true });
  });
}

/** Kills the process so long after a sweep has begun. @returns whether it was still under way */
async function killedInSweep(gateway: Running, afterMs: number): Promise<boolean> {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const isCut = sweptBy(gateway, begin).then(
    () => false,
    () => true,
  );
  await Promise.race([begun, isCut]);
  await sleep(afterMs);
  await gateway.kill("SIGKILL");
  return isCut;
}

/** @param begun called when the sweep begins */
function sweptBy(gateway: Running, begun: () => void = () => undefined): Promise<Swept> {
  const name = "memory.dreaming.run";
  return withClient(gateway, (request) => request(name, {}, { onAccepted: begun, finalTimeoutMs: 60_000 }) as Promise<Swept>);
}

async function withClient<T>(
  gateway: Running,
  act: (request: (method: string, params: object, options?: object) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const client = backendClient(gateway, ["operator.admin"]);
  await client.connect();
  try {
    return await act((method, params, options) => client.request(method as never, params as never, options) as Promise<unknown>);
  } finally {
    await client.close();
  }
}

/** Paths of files that a kill left half made. */
function leftovers(workspace: string): string[] {
  const isState = /^(?:events\.jsonl|[a-z-]+\.json|session-corpus)$/;
  const dreams = join(workspace, "memory/.dreams");
  const state = readdirSync(dreams).filter((name) => !isState.test(name) && !LOCK.endsWith(`/${name}`));
  return [
    ...state.map((name) => join(dreams, name)),
    ...readdirSync(workspace)
      .filter((name) => name.endsWith(".tmp"))
      .map((name) => join(workspace, name)),
  ];
}
