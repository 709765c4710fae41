import { randomUUID } from "node:crypto";
import { type Disposable, definePlugin, type JsonObject, type ModelRequest, type PluginContext, z } from "svc/sdk";
import { createTestGateway, eventually, type FakeTurn, fakeModel } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";

type Turn = Extract<Parameters<typeof fakeModel>[0][number], (...args: never[]) => unknown> | FakeTurn;

/** One gateway for all: each test brings its own taps and turns. */
async function createTapped() {
  let turns: Turn[] = [];
  let ctx: PluginContext | undefined;
  const next = (req: ModelRequest) => {
    const turn = turns.shift() ?? "nothing is left to say";
    return typeof turn === "function" ? turn(req) : turn;
  };
  const model = fakeModel(Array.from({ length: 100 }, () => next));
  const other = fakeModel(
    Array.from({ length: 10 }, () => "from the other"),
    { id: "other" },
  );
  const tapper = definePlugin<unknown>({
    id: "tapper",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(own) {
      ctx = own;
    },
  });
  const gateway = await createTestGateway({
    plugins: ["store", "agents", tapper],
    models: [model, other],
    config: { agents: { defaults: { skipBootstrap: true, model: "fake/script" } } },
  });
  const client = await gateway.client();
  const taps: Disposable[] = [];
  return {
    gateway,
    model,
    other,
    use(script: Turn[], setup: (ctx: Pick<PluginContext, "on" | "registerTool">) => void) {
      const own = ctx as PluginContext;
      const keep = (tap: Disposable) => {
        taps.push(tap);
        return tap;
      };
      turns = script;
      for (const asked of [model, other]) asked.requests.length = 0;
      setup({ on: (hook, fn, options) => keep(own.on(hook, fn, options)), registerTool: (tool) => keep(own.registerTool(tool)) });
    },
    async clear() {
      for (const tap of taps.splice(0)) await tap.dispose();
    },
    ask: (params: JsonObject = {}) =>
      client.request<JsonObject>(
        "agent" as string,
        { message: "hi", idempotencyKey: randomUUID(), ...params },
        { onAccepted: () => undefined },
      ),
    history: async (sessionKey: string) => (await gateway.rpc<{ messages: JsonObject[] }>("chat.history", { sessionKey })).messages,
  };
}

let shared: Awaited<ReturnType<typeof createTapped>>;
beforeAll(async () => {
  shared = await createTapped();
});
afterEach(() => shared.clear());
afterAll(() => shared.gateway.close());

const start = async (...use: Parameters<typeof shared.use>) => {
  shared.use(...use);
  return shared;
};
const payloads = (final: JsonObject) => (final.result as { payloads: Array<{ text: string }> }).payloads.map((p) => p.text);

describe("prompt.build", () => {
  test("adds context of this run behind what stays the same, knows the trigger, and cannot add tools", async () => {
    const seen: JsonObject[] = [];
    const { model, ask } = await start(["ok"], (ctx) => {
      ctx.registerTool({ name: "say", description: "", input: z.object({}), run: () => "said" });
      ctx.registerTool({ name: "shout", description: "", input: z.object({}), run: () => "SAID" });
      ctx.on("prompt.build", (event) => {
        const { trigger, surface, prompt } = event;
        seen.push({ trigger, surface, prompt, context: [...event.context] });
        return { ...event, context: ["CONTEXT"], system: [...event.system, "SYSTEM"], tools: ["say", "made_up"] };
      });
    });

    await ask();

    const { system, tools } = model.requests[0] as { system: string; tools: Array<{ name: string }> };
    expect(system.indexOf("SYSTEM")).toBeGreaterThan(-1);
    expect(system.indexOf("CONTEXT")).toBeGreaterThan(system.indexOf("# Here"));
    expect(system.indexOf("# Here")).toBeGreaterThan(system.indexOf("SYSTEM"));
    expect(tools.map((t) => t.name)).toEqual(["say"]);
    expect(seen).toEqual([{ trigger: "user", surface: "rpc", prompt: expect.any(String), context: [] }]);
  });

  test("that returns something else than texts leaves the prompt as it was", async () => {
    const { model, ask } = await start(["ok"], (ctx) => {
      ctx.on("prompt.build", ((e: object) => ({ ...e, system: [7] })) as never);
    });
    await ask();
    expect(model.requests[0]?.system).toContain("personal assistant");
  });
});

describe("model.resolve", () => {
  test("decides which model answers, and is told what was asked for", async () => {
    const seen: unknown[] = [];
    const { model, other, ask } = await start(["from the first"], (ctx) => {
      ctx.on("model.resolve", ({ requested, trigger }) => {
        seen.push([requested, trigger]);
        return requested === undefined ? { handled: true, provider: "other", model: "script" } : undefined;
      });
    });

    expect(payloads(await ask())).toEqual(["from the other"]);
    expect(payloads(await ask({ model: "fake/script" }))).toEqual(["from the first"]);

    expect([model.requests.length, other.requests.length]).toEqual([1, 1]);
    expect(seen).toEqual([
      [undefined, "user"],
      ["fake/script", "user"],
    ]);
  });

  test("that names a provider nobody knows is passed over with a warning", async () => {
    const { gateway, ask } = await start(["from the first"], (ctx) => {
      ctx.on("model.resolve", () => ({ handled: true, provider: "nobody", model: "x" }));
    });
    expect(payloads(await ask())).toEqual(["from the first"]);
    expect(gateway.logs.some((l) => l.message.includes('"tapper" chose model provider "nobody"'))).toBe(true);
  });
});

describe("agent.reply", () => {
  test("answers in the place of the model; the answer is sent and stored like any other", async () => {
    const { model, ask, history } = await start([], (ctx) => {
      ctx.on("agent.reply", ({ prompt }) => ({ handled: true, reply: `You said ${prompt}.` }));
    });

    expect(payloads(await ask({ sessionKey: "reply" }))).toEqual(["You said hi."]);
    expect(model.requests).toEqual([]);
    expect(await history("reply")).toMatchObject([{ role: "user" }, { role: "assistant", content: [{ text: "You said hi." }] }]);
  });

  test("without a reply ends the run in silence: no model, no message, no error", async () => {
    const { model, ask, history } = await start([], (ctx) => void ctx.on("agent.reply", () => ({ handled: true })));

    const final = await ask({ sessionKey: "silent" });

    expect(final).toMatchObject({ status: "ok", result: { payloads: [], meta: { stopReason: "silence" } } });
    expect(model.requests).toEqual([]);
    expect(await history("silent")).toMatchObject([{ role: "user" }]);
  });

  test.each([
    ["fails", () => Promise.reject(new Error("boom"))],
    ["answers with a number", () => ({ handled: true, reply: 7 })],
    ["has no opinion", () => undefined],
  ])("leaves the answer to the model when it %s", async (_, fn) => {
    const { ask } = await start(["of the model"], (ctx) => void ctx.on("agent.reply", fn as never));
    expect(payloads(await ask())).toEqual(["of the model"]);
  });

  test("with a filter is asked only for its trigger and sessions", async () => {
    const { ask } = await start(["of the model", "of the model"], (ctx) => {
      ctx.on("agent.reply", () => ({ handled: true, reply: "cron" }), { filter: { trigger: "cron" } });
      ctx.on("agent.reply", () => ({ handled: true, reply: "mine" }), { filter: { sessionKeyPrefix: "agent:main:mine" } });
    });
    expect(payloads(await ask({ sessionKey: "other" }))).toEqual(["of the model"]);
    expect(payloads(await ask({ sessionKey: "mine-1" }))).toEqual(["mine"]);
  });
});

describe("tool.before", () => {
  const calling = (args: unknown): Turn[] => [{ toolCalls: [{ name: "say", args }] }, (req) => JSON.stringify(req.messages.at(-1))];
  const withTool = (ran: unknown[], tap: (event: { args: unknown }) => unknown) => (ctx: Pick<PluginContext, "on" | "registerTool">) => {
    ctx.registerTool({
      name: "say",
      description: "",
      input: z.object({ text: z.string() }),
      run: (args) => {
        ran.push(args);
        return "said";
      },
    });
    ctx.on("tool.before", tap as never, { filter: { tool: "say" } });
  };

  test("may put other arguments in the place of the model's", async () => {
    const ran: unknown[] = [];
    const { ask } = await start(
      calling({ text: "rm -rf" }),
      withTool(ran, () => ({ args: { text: "ls" } })),
    );
    await ask();
    expect(ran).toEqual([{ text: "ls" }]);
  });

  test("may not put arguments there that the tool would not take", async () => {
    const ran: unknown[] = [];
    const { ask } = await start(
      calling({ text: "ping" }),
      withTool(ran, () => ({ args: { text: 7 } })),
    );
    expect(payloads(await ask()).at(-1)).toContain("invalid");
    expect(ran).toEqual([]);
  });
});

describe("session.end", () => {
  type Heard = Array<[string, string, string]>;
  const listen = (heard: Heard) => (ctx: Pick<PluginContext, "on">) => {
    ctx.on("session.end", ({ sessionKey, reason, sessionId }) => void heard.push([sessionKey, reason, sessionId]));
    ctx.on("session.start", ({ sessionKey, sessionId }) => void heard.push([sessionKey, "start", sessionId]));
  };

  test("tells of the old transcript when a session is reset", async () => {
    const heard: Heard = [];
    const { gateway, ask } = await start(["one"], listen(heard));
    await ask({ sessionKey: "reset-me" });
    await gateway.rpc("sessions.reset", { key: "reset-me" });

    await eventually(() => heard.length === 3);
    expect(heard.map(([key, what]) => `${key} ${what}`)).toEqual([
      "agent:main:reset-me start",
      "agent:main:reset-me reset",
      "agent:main:reset-me start",
    ]);
    expect(heard[1]?.[2]).toBe(heard[0]?.[2]);
    expect(heard[2]?.[2]).not.toBe(heard[0]?.[2]);
  });

  test("tells of a session that is deleted", async () => {
    const heard: Heard = [];
    const { gateway, ask } = await start(["one"], listen(heard));
    await ask({ sessionKey: "delete-me" });
    await gateway.rpc("sessions.delete", { key: "delete-me" });

    await eventually(() => heard.length === 2);
    expect(heard[1]).toEqual(["agent:main:delete-me", "deleted", heard[0]?.[2]]);
  });

  test("tells of the sessions used in this process when the gateway stops; a tap that hangs does not hold the stop up", async () => {
    const heard: Heard = [];
    const own = await createTapped();
    let end: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => {
      end = resolve;
    });
    onTestFinished(end);
    own.use(["one", "two"], (ctx) => {
      listen(heard)(ctx);
      ctx.on("session.end", () => hanging);
    });
    await own.ask({ sessionKey: "talk" });
    await own.ask({ sessionKey: "other" });
    await own.gateway.close();

    expect(heard.filter(([, what]) => what === "shutdown").map(([key]) => key)).toEqual(["agent:main:talk", "agent:main:other"]);
    expect(own.gateway.logs.at(-1)?.message).toBe("stopped");
  });
});
