import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, test as runnable } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { needsExim } from "../servers/mail-needs.ts";
import { needsMqtt } from "../servers/mqtt-library.ts";
import { needs } from "../servers/needs.ts";
import {
  accountsOf,
  countOf,
  ircStorm,
  mailStorm,
  mqttStorm,
  PEOPLE,
  type StormPlatform,
  type StormUser,
  stormHome,
  word,
  xmppStorm,
} from "./_channel-storm.ts";
import { gatewayIn, stopAll } from "./_cli.ts";
import { command } from "./_command.ts";
import type { Home, Running } from "./_process.ts";

/** Platforms, each with the servers that its tests need. */
const platforms: ReadonlyArray<{ id: string; start(): Promise<StormPlatform>; test: typeof runnable }> = [
  { id: "irc", start: ircStorm, test: needs("ngircd").test },
  { id: "xmpp", start: xmppStorm, test: needs("prosody").test },
  { id: "mqtt", start: mqttStorm, test: (await needsMqtt("mosquitto")).test },
  { id: "mail", start: mailStorm, test: (await needsExim()).test },
];

describe.each(platforms)("$id", ({ start, test }) => {
  let platform: StormPlatform;
  let home: Home;
  let gateway: Running | undefined;
  let people: StormUser[] = [];

  beforeEach(async () => {
    if (test !== runnable) return;
    platform = await start();
    home = await storming(platform.config());
  }, 60_000);
  afterEach(async () => {
    await Promise.all(people.map((one) => one.close()));
    people = [];
    await gateway?.kill("SIGKILL");
    gateway = undefined;
    await platform?.close();
  });
  afterAll(stopAll);

  const rows = (of: Running, at = home) => accountsOf(platform.id, of, at);
  const isReady = (of: Running, limitMs = 60_000) => eventually(async () => (await rows(of))[0]?.lifecycle === "ready", limitMs);
  const storming = (section: object) => stormHome({ [platform.id]: section });
  const own = (name: string, n: number) => word(platform.id, name, n);
  const join4 = async () => {
    people = await Promise.all(PEOPLE.map((name) => platform.user(name)));
  };

  test("the server is killed, the link is cut, and a connection is stuck without a word: the account comes back, and what was queued arrives once", async () => {
    await join4();
    gateway = await gatewayIn(home);
    await isReady(gateway);
    const [ada] = people as [StormUser];
    for (const [n, fail] of [() => platform.relay.cut(), () => platform.relay.stall()].entries()) {
      await ada.say(own("before", n));
      fail();
      const since = performance.now();
      await eventually(async () => (await rows(gateway as Running))[0]?.lifecycle === "recovering", 120_000).catch(() => undefined);
      platform.relay.resume();
      await isReady(gateway, 180_000);
      process.stderr.write(`${n === 0 ? "cut" : "stuck"}: ready again after ${Math.round((performance.now() - since) / 1_000)} s\n`);
      // The server may take the stuck link for alive, and the name with it, for its own two minutes.
      const text = own("after", n);
      await eventually(async () => {
        if (countOf(ada, text) === 0) await ada.say(text);
        await sleep(1_000);
        return countOf(ada, text) > 0;
      }, 400_000);
    }
    await platform.killServer();
    await eventually(async () => (await rows(gateway as Running))[0]?.lifecycle === "recovering", 60_000);
    await platform.restartServer();
    await isReady(gateway, 120_000);
    const back = await platform.user("ada");
    people.push(back);
    await back.say(own("back", 1));
    await eventually(() => countOf(back, own("back", 1)) === 1, 60_000);
  }, 900_000);

  test("wrong credentials block one account and an edit frees it, while its sibling keeps its link", async () => {
    const { path, good } = platform.credential;
    home = await storming(platform.config({ [path]: "wrong-1", accounts: { second: { ...platform.second, [path]: good } } }));
    gateway = await gatewayIn(home);
    const of = async (accountId: string) => (await rows(gateway as Running)).find((one) => one.accountId === accountId);
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
      await eventually(async () => (await rows(second, other))[0]?.isHeldElsewhere === true, 60_000);
      expect((await rows(second, other))[0]?.lastError).toContain(`process ${gateway.child.pid}`);
      expect(`${second.out.stdout}${second.out.stderr}`).toContain("another gateway on this machine");
      expect((await rows(gateway))[0]?.lifecycle).toBe("ready");
      await gateway.kill("SIGKILL");
      await eventually(async () => (await rows(second, other))[0]?.lifecycle === "ready", 120_000);
    } finally {
      await second.kill("SIGKILL");
    }
  }, 300_000);
});
