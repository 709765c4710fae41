import { setTimeout as sleep } from "node:timers/promises";
import { type DeliveryRow, definePlugin, type ModelProvider, SendRefusedError, type Store } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTalkPlatform, type TalkAction, type TalkPlatform } from "../../../test/fixtures/talk-platform.ts";
import { Blocks, blockEnd, restOf } from "./blocks.ts";

/** Answers that are shown while a model writes them: platforms that stand in the test, a whole gateway, and a model that waits where it is told to. */

/** Words of the model, and what it waits for between them. */
let script: Array<string | (() => Promise<unknown>)> = [];
const model: ModelProvider = {
  id: "slow",
  name: "Slow",
  defaultModel: "slow",
  models: () => [{ id: "slow", name: "Slow", input: ["text"] }],
  available: () => ({ ok: true }),
  async *stream() {
    for (const step of script) {
      if (typeof step === "string") yield { type: "text", delta: step };
      else await step();
    }
    yield { type: "finish", reason: "stop" };
  },
};

const BEGINNING = "The router is in the cupboard, ";
const ENDING = "under the stairs.";
const config = {
  agents: { defaults: { skipBootstrap: true } },
  channels: { talk: { token: "good", allowFrom: ["@ada"] } },
};

async function gatewayWith(platform: TalkPlatform): Promise<TestGateway> {
  const gw = await createTestGateway({ plugins: ["store", "agents", "messaging", platform.plugin], models: [model], config });
  await eventually(() => platform.running.has("default"));
  return gw;
}

describe("where a message can be changed", () => {
  const platform = createTalkPlatform({ edit: true, unsend: true, replyTo: true });
  let gw: TestGateway;
  let store: Store;

  beforeAll(async () => {
    gw = await gatewayWith(platform);
    store = gw.service("store@2");
  }, 120_000);
  afterAll(() => gw.close());
  beforeEach(() => {
    platform.sent.length = 0;
    platform.shown.length = 0;
    platform.onShown = undefined;
    platform.onSend = undefined;
  });

  const of = <K extends TalkAction["kind"]>(kind: K) =>
    platform.shown.filter((one): one is Extract<TalkAction, { kind: K }> => one.kind === kind);
  const isPosted = () => eventually(() => platform.sent.length === 1);
  const isDone = async () => {
    await eventually(async () => {
      const rows = await store.deliveries.list({ limit: 100 });
      return rows.every(({ state }) => state === "done" || state === "failed");
    });
    return (await store.deliveries.list({ dirs: ["out"], limit: 1 }))[0];
  };

  test("a preview is posted after 30 characters, grows, and becomes the final text", async () => {
    script = ["The router", BEGINNING.slice(10), isPosted, "I think, ", () => eventually(() => of("edit").length === 1), ENDING];
    await platform.say("where is the router?", { id: "q1" });
    const row = await isDone();
    expect(platform.sent.map(({ text, replyToId }) => [text, replyToId])).toEqual([[BEGINNING.trim(), "q1"]]);
    expect(of("edit").map(({ text }) => text)).toEqual([`${BEGINNING}I think,`, `${BEGINNING}I think, ${ENDING}`]);
    expect(row).toMatchObject({ state: "done", result: { status: "sent", messageId: "m1" } });
  });

  test("a short answer, and one that is whole at once, has none", async () => {
    for (const words of [["Yes."], [BEGINNING, ENDING]]) {
      script = words;
      await platform.say("where is the router?");
      await isDone();
      expect(platform.sent.at(-1)?.text).toBe(words.join(""));
    }
    expect([platform.sent.length, platform.shown]).toEqual([2, []]);
  });

  test("one whose post takes longer than the answer is taken back when it arrives", async () => {
    let posts = 0;
    let arrive: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (arrive = resolve));
    platform.onSend = () => (posts++ === 0 ? held : Promise.resolve());
    script = [BEGINNING, () => eventually(() => posts === 1), ENDING];
    await platform.say("where is the router?");
    await eventually(() => platform.sent.length === 1);
    expect(platform.sent[0]?.text).toBe(BEGINNING + ENDING);

    arrive();
    await eventually(() => of("unsend").length === 1);
    expect(of("unsend")).toMatchObject([{ messageId: "m2" }]);
  });

  test("one that became too long is removed, and the text is sent", async () => {
    const rest = "x".repeat(1_000);
    script = [BEGINNING, isPosted, rest];
    await platform.say("where is the router?");
    await isDone();
    expect(of("unsend")).toMatchObject([{ messageId: "m1" }]);
    expect(
      platform.sent
        .slice(1)
        .map(({ text }) => text)
        .join(""),
    ).toContain(rest);
  });

  test("a platform that asks for patience gets fewer changes, and the final text at once", async () => {
    platform.onShown = ({ kind }) => {
      if (kind === "edit") throw new SendRefusedError("too many requests", { isPermanent: false, retryAfterMs: 60_000 });
    };
    script = [BEGINNING, isPosted, "I think, ", () => eventually(() => of("edit").length === 1), "really ", ENDING];
    await platform.say("where is the router?");
    const row = await isDone();
    // One while it was written, one for the final text.
    expect(of("edit")).toHaveLength(2);
    expect(of("unsend")).toHaveLength(1);
    expect(platform.sent[1]?.text).toBe(`${BEGINNING}I think, really ${ENDING}`);
    expect(row).toMatchObject({ state: "done", attempt: 1 });
  });

  test("becomes the apology when the run fails", async () => {
    script = [
      BEGINNING,
      isPosted,
      async () => {
        throw new Error("the model is broken");
      },
    ];
    await platform.say("where is the router?");
    await isDone();
    expect(of("edit").at(-1)?.text).toMatch(/^Sorry, /);
    expect(platform.sent).toHaveLength(1);
  });

  test("what a killed process has posted becomes the final text of the next one", async () => {
    const uid = "killed-run";
    const route = { channel: "talk", to: "@ada", accountId: "default" };
    const at = Date.now();
    const row = { uid, dir: "in" as const, lane: "in:x:y", payload: {}, expiresAt: at + 60_000 };
    await store.commit([
      { op: "delivery.accept", delivery: row, at },
      { op: "delivery.claim", uid, to: "running", leaseBoot: "earlier", at },
      { op: "delivery.step", uid, leaseBoot: "earlier", attempt: 1, step: "preview", value: { messageId: "m-left" }, at },
      { op: "delivery.finish", uid, from: ["running"], owner: { leaseBoot: "earlier", attempt: 1 }, state: "done", result: {}, at },
    ]);
    const message = { ...route, uid: `${uid}:out`, agentId: "main", sessionKey: "agent:main:main", text: BEGINNING + ENDING };
    await gw.service("messaging@1").deliver({ ...message, origin: "chat" });
    await isDone();
    expect(platform.shown).toEqual([{ kind: "edit", to: "@ada", messageId: "m-left", text: BEGINNING + ENDING }]);
    expect(platform.sent).toEqual([]);
  });
});

test("a plugin that may hold answers back sees them before anybody else", async () => {
  const platform = createTalkPlatform({ edit: true });
  const guard = definePlugin({
    id: "guard",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup: (ctx) => void ctx.on("outbound.sending", (event) => ({ ...event, text: event.text.replace("stairs", "***") })),
  });
  const gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", platform.plugin, guard],
    models: [model],
    config: { ...config, plugins: { entries: { guard: { grants: ["hooks.conversation"] } } } },
  });
  try {
    await eventually(() => platform.running.has("default"));
    script = [BEGINNING, () => sleep(600), ENDING];
    await platform.say("where is the router?");
    await eventually(() => platform.sent.length > 0);
    expect(platform.sent.map(({ text }) => text)).toEqual([`${BEGINNING}under the ***.`]);
    expect(platform.shown).toEqual([]);
  } finally {
    await gw.close();
  }
}, 120_000);

describe("where it cannot", () => {
  const paragraph = (name: string) => `${name} ${"word ".repeat(180)}`.trim();
  const whole = [paragraph("one"), paragraph("two"), paragraph("three")].join("\n\n");

  test("an answer is sent by its paragraphs while it is written, each once; a letter is not", async () => {
    for (const [features, expected] of [
      [{}, whole.split("\n\n")],
      [{ wholeAnswers: true }, [whole]],
    ] as const) {
      const platform = createTalkPlatform(features);
      platform.limit = 100_000;
      const gw = await gatewayWith(platform);
      try {
        const isSent = () => (expected.length === 1 ? Promise.resolve() : eventually(() => platform.sent.length === 1));
        script = [whole.slice(0, 1_200), isSent, whole.slice(1_200)];
        await platform.say("tell me everything");
        await eventually(() => platform.sent.length === expected.length);
        expect(platform.sent.map(({ text }) => text)).toEqual(expected);
      } finally {
        await gw.close();
      }
    }
  }, 120_000);

  test.each([
    ["not before 800 characters", `${"a".repeat(700)}\n\nb`, undefined],
    ["behind the blank line", `${"a".repeat(900)}\n\nb`, 902],
    ["not where nothing follows", `${"a".repeat(900)}\n\n \n`, undefined],
    ["not at the end of a line", `${"a".repeat(900)}\nb`, undefined],
    ["not inside code", `\`\`\`js\n${"a".repeat(900)}\n\nb`, undefined],
    ["behind code", `\`\`\`js\n${"a".repeat(900)}\n\`\`\`\n\nb`, 912],
  ])("a text is cut %s", (_, text, at) => {
    expect(blockEnd(text, 0)).toBe(at);
  });

  test("what an earlier process has sent counts, also when the answer was whole at once", async () => {
    const blocks = { count: 1, chars: 3, digest: "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0" };
    const row = { uid: "u", steps: { blocks } } as unknown as DeliveryRow;
    const ctx = { clock: { now: () => 0, monotonic: () => 0 }, logger: { debug: () => undefined } as never };
    const again = new Blocks({ ctx, row, send: async () => undefined });
    expect(restOf("abc\n\nmore", await again.close())).toBe("more");
  });

  test("what was sent is taken off a text that begins with it, and off no other", () => {
    // The digest of "abc".
    const sent = { count: 1, chars: 3, digest: "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0" };
    expect(restOf("abc\n\nmore", sent)).toBe("more");
    expect(restOf("abd\n\nmore", sent)).toBe("abd\n\nmore");
    expect(restOf("ab", sent)).toBe("ab");
    expect(restOf("abc", undefined)).toBe("abc");
  });
});
