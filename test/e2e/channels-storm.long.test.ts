import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeEach, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { needs } from "../servers/needs.ts";
import { ircStorm, type StormPlatform, type StormUser } from "./_channel-storm.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import type { Home, Running } from "./_process.ts";
import { backendClient, runSeed, seeded } from "./_storm.ts";

const { describe, test } = needs("ngircd");

const KILLS = Number(process.env.SVC_STORM_KILLS ?? 50);
const QUEUED = 10_000;
const PEOPLE = ["ada", "bob", "cyd", "dan"];

/** Answers each message with the words that stand in it, so that an answer can be told from every other. */
const model = `
import { definePlugin, stripFrames, z } from "svc/sdk";
export default definePlugin({ id: "echo", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  const params = z.strictObject({ channel: z.string(), to: z.string(), from: z.number(), count: z.number() });
  ctx.registerRpc({ method: "echo.flood", scope: "write", params, handler: async ({ channel, to, from, count }) => {
    const message = { channel, to, agentId: "main", sessionKey: "agent:main:main", origin: "hook" };
    for (let n = from; n < from + count; ) {
      try {
        await ctx.service("messaging@1").deliver({ ...message, uid: "flood-" + n, text: "queued-" + n + "-end" });
        n += 1;
      } catch (error) {
        if (error.code !== "deliveries-full") throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    return {};
  } });
  ctx.registerModelProvider({
    id: "echo", name: "Echo", defaultModel: "echo", models: () => [{ id: "echo", name: "Echo", input: ["text"] }], available: () => ({ ok: true }),
    async *stream({ messages }) {
      const last = messages.findLast(({ role }) => role === "user");
      const text = stripFrames(last.content.map((part) => part.text ?? "").join(" "));
      await new Promise((resolve) => setTimeout(resolve, 50));
      yield { type: "text", delta: "answer to " + (text.match(/w-[a-z]+-\\d+-end/g) ?? ["nothing"]).join(" ") };
      yield { type: "finish", reason: "stop" };
    },
  });
} });`;

const platforms: ReadonlyArray<{ id: string; start(): Promise<StormPlatform> }> = [{ id: "irc", start: ircStorm }];

describe.each(platforms)("$id", ({ start }) => {
  let platform: StormPlatform;
  let home: Home;
  let gateway: Running | undefined;
  let people: StormUser[] = [];

  beforeEach(async () => {
    platform = await start();
    home = await storming(platform.config());
  }, 60_000);
  afterEach(async () => {
    await Promise.all(people.map((one) => one.close()));
    people = [];
    await gateway?.kill("SIGKILL");
    gateway = undefined;
    await platform.close();
  });
  afterAll(stopAll);

  async function storming(section: object, more: object = {}): Promise<Home> {
    const fresh = await freshHome();
    fresh.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
    await configured(fresh, {
      gateway: { mode: "local", auth: { token } },
      agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
      session: { dmScope: "per-channel-peer" },
      // Each message is to be seen in an answer: none is joined by time, or summarised because too many wait.
      messages: { inbound: { debounceMs: 0 }, queue: { cap: 1_000 } },
      plugins: { load: { paths: ["./echo.ts"] } },
      channels: { [platform.id]: section },
      ...more,
    });
    await writeFile(join(fresh.stateDir, "echo.ts"), model);
    return fresh;
  }

  type Row = {
    accountId: string;
    lifecycle: string;
    lastError?: string;
    isHeldElsewhere?: true;
    reconnectAttempts: number;
    lastStartAt?: number;
  };
  async function accountsOf(of: Running, at = home): Promise<Row[]> {
    const { value } = await commandJson(at, ["channels", "status"], { SVC_GATEWAY_PORT: String(of.port) });
    return (value as { channelAccounts: Record<string, Row[]> }).channelAccounts[platform.id] ?? [];
  }
  const isReady = (of: Running, limitMs = 60_000) => eventually(async () => (await accountsOf(of))[0]?.lifecycle === "ready", limitMs);
  const join4 = async () => {
    people = await Promise.all(PEOPLE.map((name) => platform.user(name)));
  };
  const word = (name: string, n: number) => `w-${name}-${n}-end`;
  const countOf = (user: StormUser, text: string) => user.heard().filter((line) => line.includes(text)).length;

  test(`kill -9 ${KILLS} times while four people write: one turn for each committed message, and every answer arrives (seed ${runSeed})`, async () => {
    const random = seeded(runSeed);
    await join4();
    const said: Array<{ user: StormUser; text: string; isRefused: boolean }> = [];
    let isOver = false;
    const talking = people.map(async (user) => {
      for (let n = 1; !isOver; n++) {
        const before = user.refused();
        const text = word(user.name, n);
        await user.say(text);
        said.push({ user, text, isRefused: user.refused() > before });
        await sleep(100 + random() * 400);
      }
    });
    let unknown = 0;
    const count = ({ out }: Running) => {
      for (const [, n] of `${out.stdout}${out.stderr}`.matchAll(/(\d+) messages were being sent when the gateway stopped/g))
        unknown += Number(n);
    };
    for (let kill = 0; kill < KILLS; kill++) {
      gateway = await gatewayIn(home);
      await sleep(random() * 3_000);
      await gateway.kill("SIGKILL");
      count(gateway);
    }
    gateway = await gatewayIn(home);
    await isReady(gateway);
    isOver = true;
    await Promise.all(talking);
    const last = people.map((user) => word(user.name, 999_999));
    await Promise.all(people.map((user, i) => user.say(last[i] as string)));
    await eventually(() => people.every((user, i) => countOf(user, last[i] as string) > 0), 120_000);
    await eventually(() => openRows(home).length === 0, 120_000);
    count(gateway);
    expect(await gateway.kill("SIGTERM")).toBe(0);

    const turns = turnsOf(home);
    const lost = said.filter(({ text, isRefused }) => !isRefused && !turns.has(text));
    const refused = said.filter(({ isRefused }) => isRefused);
    const answered = said.filter(({ text }) => turns.has(text));
    const doubled = answered.filter(({ user, text }) => countOf(user, text) > 1);
    const figures = { seed: runSeed, kills: KILLS, said: said.length, turns: answered.length, nobodyConnected: refused.length };
    process.stderr.write(
      `storm ${JSON.stringify({ ...figures, lostBeforeCommit: lost.length, uncertain: unknown, doubled: doubled.length })}\n`,
    );
    if (lost.length > 0) process.stderr.write(`sent to a link that ended before the commit: ${lost.map(({ text }) => text).join(" ")}\n`);
    expect(rowsIn(home)).toBe([...turns.keys()].length);
    expect([...turns].filter(([, n]) => n !== 1)).toEqual([]);
    expect(answered.filter(({ user, text }) => countOf(user, text) === 0).map(({ text }) => text)).toEqual([]);
    expect(doubled.length).toBeLessThanOrEqual(unknown);
    expect(answered.length).toBeGreaterThan(KILLS);
  }, 1_800_000);

  test("the server is killed, the link is cut, and a connection is stuck without a word: the account comes back, and what was queued arrives once", async () => {
    await join4();
    gateway = await gatewayIn(home);
    await isReady(gateway);
    const [ada] = people as [StormUser];
    for (const [n, fail] of [() => platform.relay.cut(), () => platform.relay.stall()].entries()) {
      await ada.say(word("before", n));
      fail();
      const since = performance.now();
      await eventually(async () => (await accountsOf(gateway as Running))[0]?.lifecycle === "recovering", 120_000).catch(() => undefined);
      platform.relay.resume();
      await isReady(gateway, 180_000);
      process.stderr.write(`${n === 0 ? "cut" : "stuck"}: ready again after ${Math.round((performance.now() - since) / 1_000)} s\n`);
      // The server may take the stuck link for alive, and the name with it, for its own two minutes.
      const text = word("after", n);
      await eventually(async () => {
        if (countOf(ada, text) === 0) await ada.say(text);
        await sleep(1_000);
        return countOf(ada, text) > 0;
      }, 400_000);
    }
    await platform.killServer();
    await eventually(async () => (await accountsOf(gateway as Running))[0]?.lifecycle === "recovering", 60_000);
    await platform.restartServer();
    await isReady(gateway, 120_000);
    const back = await platform.user("ada");
    people.push(back);
    await back.say(word("back", 1));
    await eventually(() => countOf(back, word("back", 1)) === 1, 60_000);
  }, 900_000);

  test("wrong credentials block one account and an edit frees it, while its sibling keeps its link", async () => {
    const { path, good } = platform.credential;
    home = await storming(platform.config({ [path]: "wrong-1", accounts: { second: { ...platform.second, [path]: good } } }));
    gateway = await gatewayIn(home);
    const of = async (accountId: string) => (await accountsOf(gateway as Running)).find((one) => one.accountId === accountId);
    await eventually(async () => (await of("default"))?.lifecycle === "blocked" && (await of("second"))?.lifecycle === "ready", 60_000);
    const before = await of("second");
    const edit = ["config", "set", `channels.${platform.id}.accounts.default.${path}`, good];
    expect(await command(home, edit, { SVC_GATEWAY_PORT: String(gateway.port) })).toMatchObject({ code: 0 });
    await eventually(async () => (await of("default"))?.lifecycle === "ready", 60_000);
    expect(await of("second")).toMatchObject({ lifecycle: "ready", lastStartAt: before?.lastStartAt, reconnectAttempts: 0 });
  }, 300_000);

  test("a second gateway with a state directory of its own leaves the account alone, says so, and takes over when the first is killed", async () => {
    gateway = await gatewayIn(home);
    await isReady(gateway);
    const other = await storming(platform.config());
    const second = await gatewayIn(other);
    try {
      await eventually(async () => (await accountsOf(second, other))[0]?.isHeldElsewhere === true, 60_000);
      expect((await accountsOf(second, other))[0]?.lastError).toContain(`process ${gateway.child.pid}`);
      expect(`${second.out.stdout}${second.out.stderr}`).toContain("another gateway on this machine");
      expect((await accountsOf(gateway))[0]?.lifecycle).toBe("ready");
      await gateway.kill("SIGKILL");
      await eventually(async () => (await accountsOf(second, other))[0]?.lifecycle === "ready", 120_000);
    } finally {
      await second.kill("SIGKILL");
    }
  }, 300_000);

  test(`${QUEUED} messages to one person keep their order, in bounded memory`, async () => {
    await join4();
    gateway = await gatewayIn(home);
    await isReady(gateway);
    const [ada] = people as [StormUser];
    const { child } = gateway;
    const before = await rssOf(child.pid as number);
    let most = before;
    const client = backendClient(gateway);
    await client.connect();
    for (let from = 0; from < QUEUED; from += 100) {
      await client.request("echo.flood" as never, { channel: platform.id, to: "ada", from, count: 100 } as never);
      most = Math.max(most, await rssOf(child.pid as number));
    }
    client.close();
    const heard = () => ada.heard().flatMap((line) => /queued-(\d+)-end/.exec(line)?.[1] ?? []);
    await eventually(() => new Set(heard()).size === QUEUED, 1_200_000);
    process.stderr.write(
      `queued: ${QUEUED}, memory ${Math.round(before / 2 ** 20)} MiB before, ${Math.round(most / 2 ** 20)} MiB at most\n`,
    );
    expect(heard().map(Number)).toEqual(Array.from({ length: QUEUED }, (_, n) => n));
    expect(most - before).toBeLessThan(256 * 2 ** 20);
  }, 1_800_000);
});

async function rssOf(pid: number): Promise<number> {
  const pages = Number((await readFile(`/proc/${pid}/statm`, "utf8")).split(" ")[1]);
  return pages * 4_096;
}

function reading<T>(home: Home, read: (db: Database.Database) => T): T {
  const db = new Database(join(home.stateDir, "state.sqlite"), { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Messages from people that were committed. */
function rowsIn(home: Home): number {
  return reading(home, (db) => (db.prepare("SELECT count(*) AS n FROM deliveries WHERE dir = 'in'").get() as { n: number }).n);
}

/** Accepted work that has not ended. */
function openRows(home: Home): unknown[] {
  return reading(home, (db) => db.prepare("SELECT uid FROM deliveries WHERE state NOT IN ('done', 'failed', 'expired')").all());
}

/** Number of user messages in the transcripts that hold each word. */
function turnsOf(home: Home): Map<string, number> {
  const turns = new Map<string, number>();
  const rows = reading(home, (db) => db.prepare("SELECT body FROM messages WHERE role = 'user'").all()) as Array<{ body: string }>;
  for (const { body } of rows) for (const [found] of body.matchAll(/w-[a-z]+-\d+-end/g)) turns.set(found, (turns.get(found) ?? 0) + 1);
  return turns;
}
