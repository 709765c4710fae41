import { definePlugin, type MessageRoute, z } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTalkPlatform } from "../../test/fixtures/talk-platform.ts";
import { placeOf } from "./place.ts";

/** Requests that are taken to come from a place on a channel, with a platform and a whole gateway behind them. */

const platform = createTalkPlatform();
const model = fakeModel(Array.from({ length: 30 }, () => "Sure."));
const seen: Array<{ hook: string; place: MessageRoute | undefined }> = [];
const kitchen = definePlugin<unknown>({
  id: "kitchen-tools",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    for (const name of ["oven", "radio", "cron"]) ctx.registerTool({ name, description: name, input: z.object({}), run: () => "done" });
    ctx.on("tool.before", ({ place }) => void seen.push({ hook: "tool.before", place }));
    ctx.on("prompt.build", ({ place }) => void seen.push({ hook: "prompt.build", place }));
  },
});

let gw: TestGateway;
beforeAll(async () => {
  const groups = { "#kitchen": { tools: { allow: ["oven"] } }, "*": { tools: { deny: ["oven"] }, requireMention: false } };
  const accounts = { second: { token: "good", groups: { "#kitchen": { tools: { allow: ["radio"] } } } } };
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", "openai-http", platform.plugin, kitchen],
    models: [model],
    config: {
      agents: { defaults: { skipBootstrap: true } },
      gateway: { tools: { allow: ["cron"] } },
      channels: { talk: { token: "good", allowFrom: ["*"], groupAllowFrom: ["*"], groups, accounts } },
      messages: { inbound: { debounceMs: 0 } },
    },
  });
  await eventually(() => platform.running.has("default"));
}, 120_000);
afterAll(() => gw.close());
beforeEach(() => {
  seen.length = 0;
});

const inPlace = ([channel, to, account]: readonly (string | undefined)[]) => ({
  ...(channel === undefined ? {} : { "x-svc-message-channel": channel }),
  ...(to === undefined ? {} : { "x-svc-message-to": to }),
  ...(account === undefined ? {} : { "x-svc-account-id": account }),
});
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  gw.fetch(path, { method: "POST", body: JSON.stringify(body), headers });
const mine = (names: readonly string[]) => names.filter((name) => ["oven", "radio", "cron"].includes(name));

describe("/tools/invoke runs what is left in the place that its headers name", () => {
  test.each([
    [[], ["oven", "radio", "cron"]],
    [["webchat"], ["oven", "radio", "cron"]],
    [
      ["nowhere", "#kitchen"],
      ["oven", "radio", "cron"],
    ],
    [["talk"], ["oven", "radio"]],
    [["talk", "#kitchen"], ["oven"]],
    [["channel-talk", "talk:#Kitchen"], ["oven"]],
    [["talk", "#kitchen", "second"], ["radio"]],
    [["talk", "#lab"], ["radio"]],
  ])("%j", async (place, left) => {
    const invokable = [];
    for (const name of ["oven", "radio", "cron"]) {
      const { status } = await post("/tools/invoke", { name, dryRun: true }, inPlace(place));
      expect([200, 404]).toContain(status);
      if (status === 200) invokable.push(name);
    }
    expect(invokable).toEqual(left);
  });

  test("or of the group whose session it names", async () => {
    await platform.say("hello", { chatType: "group", peer: { id: "#kitchen", name: "Kitchen" } });
    const sessionKey = "agent:main:talk:group:#kitchen";
    await eventually(async () => expect((await gw.service("store@2").sessions.get(sessionKey))?.lastRoute).toBeDefined());
    const statusOf = async (name: string) => (await post("/tools/invoke", { name, dryRun: true, sessionKey })).status;
    expect([await statusOf("oven"), await statusOf("radio")]).toEqual([200, 404]);
    expect(await gw.rpc("tools.invoke", { name: "radio", sessionKey })).toMatchObject({ ok: false, error: { code: "not_found" } });
    const { groups } = await gw.rpc<{ groups: Array<{ tools: Array<{ id: string }> }> }>("tools.effective", { sessionKey });
    expect(mine(groups.flatMap(({ tools }) => tools.map(({ id }) => id)))).toEqual(["oven"]);
  });
});

test("hooks of a tool see the place, all of it, and a repeat from elsewhere is another call", async () => {
  const headers = { ...inPlace(["talk", "#lab", "second"]), "x-svc-thread-id": "t1" };
  const body = { name: "radio", idempotencyKey: "k1" };
  expect((await post("/tools/invoke", body, headers)).status).toBe(200);
  expect(seen).toEqual([{ hook: "tool.before", place: { channel: "talk", to: "#lab", accountId: "second", threadId: "t1" } }]);
  expect((await post("/tools/invoke", body, headers)).headers.get("Idempotent-Replay")).toBe("true");
  expect((await post("/tools/invoke", body)).headers.get("Idempotent-Replay")).toBeNull();
  expect(seen.at(-1)).toEqual({ hook: "tool.before", place: undefined });
});

describe.each([
  ["/v1/chat/completions", { messages: [{ role: "user", content: "hi" }] }],
  ["/v1/responses", { model: "svc", input: "hi" }],
])("%s", (path, body) => {
  const promptOf = async (place: readonly string[]) => {
    expect((await post(path, body, inPlace(place))).status).toBe(200);
    const { system = "", tools = [] } = model.requests.at(-1) ?? {};
    return { channel: /Channel: (\w+)\./.exec(system)?.[1], tools: mine(tools.map(({ name }) => name)) };
  };

  test("names the channel in the prompt and leaves the tools of its group", async () => {
    expect(await promptOf([])).toEqual({ channel: undefined, tools: ["cron", "oven", "radio"] });
    expect(await promptOf(["nowhere"])).toEqual({ channel: undefined, tools: ["cron", "oven", "radio"] });
    expect(await promptOf(["talk"])).toEqual({ channel: "talk", tools: ["oven", "radio"] });
    expect(await promptOf(["talk", "#kitchen"])).toEqual({ channel: "talk", tools: ["oven"] });
    expect(seen.at(-1)).toEqual({ hook: "prompt.build", place: { channel: "talk", to: "#kitchen" } });
  });

  test("refuses a place without its channel, and an id that is none", async () => {
    const refused = async (headers: Record<string, string>) => {
      const reply = await post(path, body, headers);
      return [reply.status, ((await reply.json()) as { error: { message: string } }).error.message];
    };
    expect(await refused({ "x-svc-message-to": "#kitchen" })).toEqual([
      400,
      "x-svc-message-to: names no place without x-svc-message-channel",
    ]);
    expect(await refused({ "x-svc-message-channel": "x".repeat(513) })).toMatchObject([
      400,
      "x-svc-message-channel: expected at most 512 characters, received 513",
    ]);
  });
});

test("a header that is UTF-8 is read as such", () => {
  const raw = Buffer.from("#küche").toString("latin1");
  expect(placeOf(new Headers({ "x-svc-message-channel": "talk", "x-svc-message-to": raw }))).toEqual({ channel: "talk", to: "#küche" });
});
