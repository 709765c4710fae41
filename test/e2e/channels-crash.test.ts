import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChannelPeer } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLinesServer } from "../../examples/plugin-channel/src/peer.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import { aroundMessages, configured, freshHome, gatewayIn, json, root, stopAll, token } from "./_cli.ts";
import { echoModel } from "./_echo-model.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import { gatewayHere, type RunningHere } from "./_gateway-here.ts";
import { type Home, svcCommand } from "./_process.ts";

/** The example channel, its server, and real gateways between them and a model that repeats what it is told. */

/** A point in the commit that makes one message of two. */
const isJoin = (point: string) => point.endsWith("-join");

/** Every point that the inbound half names, read from its source: a new one is swept without being listed here. */
const folder = join(root, "plugins/messaging");
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
);
const points = [
  ...new Set(
    sources.flatMap((name) =>
      [...readFileSync(join(folder, name), "utf8").matchAll(/reached\("((?:inbound|pairing)\.[\w-]+)"\)/g)].map((m) => m[1] ?? ""),
    ),
  ),
].toSorted((a, b) => Number(isJoin(b)) - Number(isJoin(a)) || (a < b ? -1 : 1));

/** A message whose run ends the process three times is given up, whichever point ended it: no home sees more than two kills. */
const KILLS_OF_HOME = 2;
const groups = Array.from({ length: Math.ceil(points.length / KILLS_OF_HOME) }, (_, i) =>
  points.slice(i * KILLS_OF_HOME, (i + 1) * KILLS_OF_HOME),
);

let failing: string;
const talks: Talk[] = [];

beforeAll(async () => {
  failing = await buildFailing();
});
afterAll(async () => {
  await stopAll();
  await Promise.all(talks.map(({ peer }) => peer.close()));
});

/** A home of its own with its server. */
class Talk {
  readonly home: Home;
  readonly peer: ChannelPeer;

  private constructor(home: Home, peer: ChannelPeer) {
    this.home = home;
    this.peer = peer;
  }

  /** @param more keys of the channel beside those of its server */
  static async open(more: object = {}, plugins = ["channel-lines", "echo"]): Promise<Talk> {
    const peer = await startLinesServer();
    const home = await freshHome();
    home.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
    await configured(home, {
      gateway: { mode: "local", auth: { token } },
      agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
      plugins: {
        load: { paths: [join(root, "examples/plugin-channel"), "./echo.ts"] },
        ...aroundMessages(...plugins),
        entries: { "channel-lines": { enabled: true, grants: ["net"] } },
      },
      channels: { lines: { ...peer.config({ accounts: 1, credentials: "good" }), allowFrom: ["@ada"], ...more } },
    });
    await writeFile(join(home.stateDir, "echo.ts"), echoModel);
    const talk = new Talk(home, peer);
    talks.push(talk);
    return talk;
  }

  say(text: string, who = "@ada") {
    return this.peer.say({ accountId: "default", chatType: "direct", peerId: who, senderId: who, text });
  }

  seenBy(who: string): string[] {
    return this.peer.seen.flatMap((action) => (action.kind === "message" && action.to === who ? [action.text] : []));
  }
}

const stranger = (point: string) => `@${point.replace(".", "-")}`;

test("kill -9 at each step of the way of a message: it is answered once, and a stranger gets one code", async () => {
  expect(points.length).toBeGreaterThan(8);
  const swept: Array<{ talk: Talk; gateway: RunningHere }> = [];
  const rest = [...groups.entries()];
  const work = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) swept[next[0]] = await sweep(next[1]);
  };
  await Promise.all([work(), work()]);
  // The last points are those of pairing: two people wait there for an operator.
  await operate(swept.at(-1) as (typeof swept)[number]);
  for (const { gateway } of swept) expect(await gateway.stop()).toBe(0);
});

async function sweep(kills: string[]): Promise<{ talk: Talk; gateway: RunningHere }> {
  const talk = await Talk.open();
  const words: string[] = [];
  for (const point of kills) {
    const text = `word-${words.length}-of-${point}`;
    if (!point.startsWith("pairing")) words.push(text);
    await talk.say(text, point.startsWith("pairing") ? stranger(point) : "@ada");
    // Texts of one sender in a row become one message: the second one of them is joined to the first.
    if (isJoin(point)) {
      const second = `addition-${words.length}-to-${point}`;
      words.push(second);
      await talk.say(second);
    }
    await killedAt(talk.home, point);
  }
  const gateway = await gatewayHere(talk.home);
  for (const word of words)
    await eventually(() => talk.seenBy("@ada").some((text) => text.includes(word)), 60_000).catch(() =>
      expect.fail(`${word} was not answered; seen: ${talk.seenBy("@ada").join(" | ")}; ${gateway.out.stdout}${gateway.out.stderr}`),
    );
  const last = await talk.say("the last one");
  const isAnswered = () => talk.peer.acknowledged?.(last) && talk.seenBy("@ada").some((text) => text.includes("the last one"));
  await eventually(isAnswered, 60_000);
  for (const word of words)
    expect(
      talk.seenBy("@ada").filter((text) => text.includes(word)),
      word,
    ).toHaveLength(1);
  for (const who of kills.filter((point) => point.startsWith("pairing")).map(stranger))
    expect(
      talk.seenBy(who).filter((text) => text.includes("pairing code")),
      who,
    ).toHaveLength(1);
  return { talk, gateway };
}

/** Starts a gateway that ends at a point, the n-th time, and waits for its end; it may come before the gateway is ready. */
async function killedAt(home: Home, point: string, time = 1): Promise<void> {
  try {
    const { child, out } = await gatewayIn({ ...home, program: failing }, [], failingAt(`${point}=kill@${time}`));
    await eventually(() => child.signalCode !== null || child.exitCode !== null).catch(() =>
      expect.fail(`${point} was not reached: ${out.stdout}${out.stderr}`),
    );
    expect(child.signalCode, point).toBe("SIGKILL");
  } catch (error) {
    expect(String(error), point).toContain("ended with SIGKILL");
  }
}

/** Does what an operator does with such a gateway in a terminal. */
async function operate({ talk, gateway }: { talk: Talk; gateway: RunningHere }): Promise<void> {
  const { home, peer } = talk;
  const port = { SVC_GATEWAY_PORT: String(gateway.port) };
  const { requests } = (await json(home, ["pairing", "list", "lines"], port)).value as {
    requests: Array<{ code: string; senderId: string }>;
  };
  const [first, second] = requests as [(typeof requests)[number], (typeof requests)[number]];
  const unclear = await svcCommand(home, ["pairing", "approve", "lines"], port);
  expect(unclear).toMatchObject({ code: 2, stderr: expect.stringContaining("several people wait") });
  expect(await svcCommand(home, ["pairing", "reject", "lines", second.code], port)).toMatchObject({ code: 0 });
  const approved = await svcCommand(home, ["pairing", "approve", "lines", "--notify"], port);
  const told = `${first.senderId} on lines, account default: may write direct messages now.\n`;
  expect(approved, approved.stderr).toMatchObject({ code: 0, stdout: told });
  await talk.say("hello", first.senderId);
  await eventually(() => talk.seenBy(first.senderId).includes("You said: hello"));

  const status = await json(home, ["channels", "status", "--probe"], port);
  expect(status).toMatchObject({
    code: 0,
    value: { source: "gateway", channelAccounts: { lines: [{ accountId: "default", lifecycle: "ready", probe: { ok: true } }] } },
  });
  expect(status.stderr).toBe("");
  for (const secret of peer.secrets) expect(JSON.stringify(status.value)).not.toContain(secret);
  const stopped = await svcCommand(home, ["channels", "stop", "lines"], port);
  expect(stopped, stopped.stderr).toMatchObject({ code: 0, stdout: "lines, account default: stopped.\n" });
  await eventually(() => peer.connections() === 0);
  expect((await svcCommand(home, ["channels", "start", "lines", "--account", "default"], port)).code).toBe(0);
  await talk.say("and back");
  await eventually(() => talk.seenBy("@ada").includes("You said: and back"));
}

test("kill -9 while an answer is shown as it grows: the next process makes the same message the final text", async () => {
  const talk = await Talk.open();
  await talk.say("where is the router, at length?");
  await killedAt(talk.home, "preview.after-post");
  const gateway = await gatewayHere(talk.home);
  const final = "You said: where is the router, at length?, and so on";
  const isFinal = () => talk.peer.seen.some((action) => action.kind === "edit" && action.text === final);
  await eventually(isFinal, 60_000).catch(() =>
    expect.fail(`it did not become the final text: ${JSON.stringify(talk.peer.seen)}; ${gateway.out.stdout}${gateway.out.stderr}`),
  );
  expect(talk.seenBy("@ada")).toHaveLength(1);
  // Nobody types any more, in whichever process it was begun.
  await eventually(() => talk.peer.seen.findLast((action) => action.kind === "typing")?.on === false);
  expect(await gateway.stop()).toBe(0);
});

test("kill -9 between the pieces of a long answer: every piece arrives once, in order", async () => {
  const talk = await Talk.open({ textChunkLimit: 300 });
  const words = Array.from({ length: 250 }, (_, n) => `n${n}`);
  await talk.say(words.join(" "));
  // The second piece is with the platform, and nobody has noted that; in the next process the third one is claimed, and has not left.
  await killedAt(talk.home, "messaging.after-send", 2);
  expect(talk.seenBy("@ada")).toHaveLength(2);
  await killedAt(talk.home, "messaging.after-claim", 2);
  const gateway = await gatewayHere(talk.home);

  const arrived = () => talk.seenBy("@ada").flatMap((text) => text.match(/n\d+/g) ?? []);
  await eventually(() => arrived().includes("n249"), 60_000);
  expect(talk.seenBy("@ada").length).toBeGreaterThan(3);
  expect(arrived()).toEqual(words);
  expect(`${gateway.out.stdout}${gateway.out.stderr}`).toContain("1 messages were being sent when the gateway stopped");
  expect(await gateway.stop()).toBe(0);
});

test("svc channels list without a gateway shows the config", async () => {
  const { home } = await Talk.open({}, ["channel-lines"]);
  const listed = await svcCommand(home, ["channels", "list"]);
  // The example is translated first, and on a busy machine the log says how long that took.
  const said = listed.stderr.replace(/^.* warn \[gateway\/plugin\] plugin "channel-lines" took \d+ ms to load.*\n/m, "");
  expect({ ...listed, stderr: said }).toMatchObject({ code: 0, stderr: "Gateway not reachable — showing config only.\n" });
  expect(listed.stdout).toMatch(/lines +default +yes/);
});
