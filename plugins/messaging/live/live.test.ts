import type { SvcConfig } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTalkPlatform, echoModel } from "../../../test/fixtures/talk-platform.ts";

/** People who see that an agent works: a platform with indicators and reactions, a whole gateway, and a model that waits. */

const platform = createTalkPlatform({ typing: true, reactions: true });
let held: Promise<void> | undefined;
let go: () => void = () => undefined;
const model = echoModel(async (asked) => {
  await held;
  if (asked.includes("break")) throw new Error("the model is broken");
  return `You said: ${asked}`;
});
let gw: TestGateway;

const config = (scope?: SvcConfig["messages"]["ackReactionScope"]) => ({
  agents: { defaults: { skipBootstrap: true } },
  channels: { talk: { token: "good", allowFrom: ["@ada", "@bob"], groups: { "#kitchen": {}, "#open": { requireMention: false } } } },
  session: { dmScope: "per-channel-peer" as const },
  messages: { inbound: { debounceMs: 0 }, ackReaction: "👀", ...(scope === undefined ? {} : { ackReactionScope: scope }) },
});

beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store", "agents", "messaging", platform.plugin], models: [model], config: config() });
  await eventually(() => platform.running.has("default"));
}, 120_000);
afterAll(() => gw.close());
beforeEach(() => {
  platform.sent.length = 0;
  platform.shown.length = 0;
  platform.onShown = undefined;
  model.asked.length = 0;
  held = new Promise((resolve) => (go = resolve));
});

const typed = (to = "@ada") => platform.shown.flatMap((one) => (one.kind === "typing" && one.to === to ? [one.on] : []));
const reactions = () => platform.shown.filter(({ kind }) => kind === "reaction");
const inRoom = (room: string) => ({ chatType: "group" as const, peer: { id: room } });

describe("the typing indicator", () => {
  test("shows while the model works on a direct message, and is cleared with the answer", async () => {
    await platform.say("hello");
    await eventually(() => typed().length === 1);
    expect(typed()).toEqual([true]);
    go();
    await eventually(() => typed().length === 2 && platform.sent.length === 1);
    expect(typed()).toEqual([true, false]);
  });

  test("is cleared after an error of the model, and after somebody stopped the run", async () => {
    await platform.say("break it");
    await eventually(() => typed().at(-1) === true);
    go();
    await eventually(() => typed().at(-1) === false);
    held = new Promise(() => undefined);
    await platform.say("never mind");
    await eventually(() => typed().at(-1) === true);
    await gw.rpc("chat.abort", { sessionKey: "agent:main:talk:direct:@ada" });
    await eventually(() => typed().at(-1) === false);
  });

  test("shows in a group for a message that names the account, and not for others", async () => {
    go();
    await platform.say("anybody?", inRoom("#open"));
    await eventually(() => platform.sent.length === 1);
    await platform.say("svc: anybody?", inRoom("#open"));
    await eventually(() => platform.sent.length === 2 && typed("#open").length === 2);
    expect(typed("#open")).toEqual([true, false]);
  });

  test("of two messages at work in one conversation is cleared with the last of them", async () => {
    const room = { ...inRoom("#open"), mentions: { explicit: true, implicit: [] } };
    await platform.say("one", { ...room, threadId: "t1" });
    await platform.say("two", { ...room, threadId: "t2" });
    await eventually(() => model.asked.length === 2);
    go();
    await eventually(() => platform.sent.length === 2 && typed("#open").at(-1) === false);
    expect(typed("#open")).toEqual([true, false]);
  });

  test("that the platform refuses stops nothing", async () => {
    platform.onShown = () => {
      throw new Error("slow down");
    };
    go();
    await platform.say("hello");
    await eventually(() => platform.sent.length === 1);
  });
});

describe("the acknowledgement reaction", () => {
  test("goes to mentions in groups by default, under the id of the message", async () => {
    go();
    await platform.say("hello");
    await platform.say("hello", inRoom("#open"));
    await platform.say("svc: hello", { ...inRoom("#kitchen"), id: "m-77" });
    await eventually(() => platform.sent.length === 3);
    expect(reactions()).toEqual([{ kind: "reaction", to: "#kitchen", messageId: "m-77", emoji: "👀" }]);
  });

  test("goes where messages.ackReactionScope says, and never to a message that was dropped", async () => {
    go();
    for (const [scope, expected] of [
      ["direct", ["d"]],
      ["group-all", ["g", "m"]],
      ["all", ["d", "g", "m"]],
      ["off", []],
    ] as const) {
      await gw.reload(config(scope));
      platform.shown.length = 0;
      platform.sent.length = 0;
      const id = (name: string) => ({ id: `${scope}-${name}` });
      await platform.say("dropped", { ...id("x"), ...inRoom("#kitchen") });
      await platform.say("hello", id("d"));
      await platform.say("hello", { ...id("g"), ...inRoom("#open") });
      await platform.say("svc: hello", { ...id("m"), ...inRoom("#kitchen") });
      await eventually(() => platform.sent.length === 3);
      expect(
        reactions().map((one) => one.kind === "reaction" && one.messageId),
        scope,
      ).toEqual(expected.map((name) => `${scope}-${name}`));
    }
  });
});
