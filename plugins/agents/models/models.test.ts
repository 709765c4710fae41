import { type ModelDelta, ModelError, type ModelProvider } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { type AttemptOptions, withFailover } from "./attempts.ts";
import { retryDelay } from "./backoff.ts";
import type { Candidate } from "./choice.ts";
import { closest } from "./closest.ts";
import { Cooldown } from "./cooldown.ts";
import { createToolSupport } from "./tool-support.ts";
import { addUsage, noUsage, readTurn } from "./turn.ts";

const live = new AbortController().signal;

async function* deltas(...items: ModelDelta[]): AsyncGenerator<ModelDelta> {
  yield* items;
}

function provider(id: string, ready: ReturnType<ModelProvider["available"]> = { ok: true }): ModelProvider {
  return { id, models: () => [], available: () => ready, stream: () => deltas() };
}

describe("a model turn", () => {
  test("collects text, tool calls, usage and the reason it ended", async () => {
    const seen: string[] = [];
    const usage = { ...noUsage, input: 3, output: 2, total: 5 };

    const turn = await readTurn(
      () =>
        deltas(
          { type: "reasoning", delta: "hm" },
          { type: "text", delta: "Let " },
          { type: "text", delta: "" },
          { type: "text", delta: "me look" },
          { type: "toolCall", id: "1", name: "find", argsDelta: '{"q":' },
          { type: "toolCall", id: "1", name: "find", argsDelta: '"x"}' },
          { type: "toolCallEnd", id: "1" },
          { type: "toolCall", id: "2", name: "now", argsDelta: "" },
          { type: "usage", usage },
          { type: "finish", reason: "tool_calls" },
        ),
      { signal: live, idleMs: 1_000, onText: (d) => seen.push(d) },
    );

    expect(turn).toEqual({
      parts: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Let me look" },
        { type: "toolCall", id: "1", name: "find", args: { q: "x" } },
        { type: "toolCall", id: "2", name: "now", args: {} },
      ],
      text: "Let me look",
      reasoning: "hm",
      toolCalls: [
        { id: "1", name: "find", args: { q: "x" } },
        { id: "2", name: "now", args: {} },
      ],
      usage,
      finish: "tool_calls",
    });
    expect(seen).toEqual(["Let ", "me look"]);
  });

  test.each([
    ["are not JSON", "{q:"],
    ["are no object", '"x"'],
    ["are nested too deeply to be stored", `{"q":${"[".repeat(20_000)}${"]".repeat(20_000)}}`],
  ])("keeps arguments that %s as they are, and says why", async (_, argsDelta) => {
    const turn = await readTurn(() => deltas({ type: "toolCall", id: "1", name: "find", argsDelta }), {
      signal: live,
      idleMs: 1_000,
      onText: () => undefined,
    });

    expect(turn.toolCalls).toEqual([{ id: "1", name: "find", args: argsDelta, broken: expect.stringMatching(/; send them again$/) }]);
  });

  test.each(["", '{"q":'])("a call that the limit of the answer cut at %j is no call", async (argsDelta) => {
    const call: ModelDelta = { type: "toolCall", id: "1", name: "find", argsDelta };
    const turn = await readTurn(() => deltas(call, { type: "finish", reason: "length" }), {
      signal: live,
      idleMs: 1_000,
      onText: () => undefined,
    });

    expect(turn.toolCalls).toEqual([{ id: "1", name: "find", args: argsDelta, broken: expect.stringMatching(/send smaller parts$/) }]);
  });

  test("passes nothing on after the signal, even from a provider that goes on", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const turn = readTurn(
      async function* () {
        yield { type: "text", delta: "one" };
        stop.abort(new Error("stopped"));
        await held;
        yield { type: "text", delta: "two" };
      },
      { signal: stop.signal, idleMs: 1_000, onText: (d) => seen.push(d) },
    );

    await expect(turn).rejects.toThrow("stopped");
    release();
    await new Promise<void>((resolve) => setImmediate(resolve));

    expect(seen).toEqual(["one"]);
  });

  test("a silent model is a time-out fault, and its request is aborted", async () => {
    let reason: unknown;
    const turn = readTurn(
      async function* (signal) {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        reason = signal.reason;
        yield* [];
      },
      { signal: live, idleMs: 5, onText: () => undefined },
    );

    await expect(turn).rejects.toMatchObject({ name: "ModelError", fault: "timeout" });
    await expect.poll(() => reason).toBeInstanceOf(ModelError);
  });

  test("a model may take longer to begin than to go on", async () => {
    async function* late(): AsyncIterable<ModelDelta> {
      await new Promise((resolve) => setTimeout(resolve, 30));
      yield { type: "text", delta: "a" };
      await new Promise(() => undefined);
    }
    const turn = readTurn(late, { signal: live, firstMs: 60_000, idleMs: 20, onText: () => undefined });

    await expect(turn).rejects.toMatchObject({ fault: "timeout", message: "the model sent nothing for 0.02 s" });
  });

  test("usage adds up", () => {
    const one = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 10 };
    expect(addUsage(one, { ...one, reasoning: 5 })).toEqual({ input: 2, output: 4, cacheRead: 6, cacheWrite: 8, total: 20, reasoning: 5 });
  });
});

describe("retries and failover", () => {
  const candidates: Candidate[] = [
    { provider: provider("a"), model: "m" },
    { provider: provider("b"), model: "n" },
  ];

  function run(script: Array<ModelError | string>, more: Partial<AttemptOptions<string>> = {}) {
    const asked: string[] = [];
    const pauses: number[] = [];
    const result = withFailover<string>({
      candidates,
      cooldown: new Cooldown(() => 0),
      isCurrent: () => true,
      attempt: async (c) => {
        asked.push(c.provider.id);
        const next = script.shift();
        if (typeof next === "string") return next;
        throw next ?? new Error("script is over");
      },
      isVisible: () => false,
      mayFailover: () => true,
      shrink: () => false,
      onRetry: () => undefined,
      pause: async (ms) => void pauses.push(ms),
      random: () => 0.5,
      ...more,
    }).then(
      (r) => r.value,
      (error: ModelError) => error.fault ?? error.message,
    );
    return result.then((value) => ({ value, asked, pauses }));
  }
  const fault = (f: ModelError["fault"], retryAfterMs?: number) => new ModelError(f, f, retryAfterMs === undefined ? {} : { retryAfterMs });

  test("an overloaded vendor is asked again, with growing pauses", async () => {
    const { value, asked, pauses } = await run([fault("overloaded"), fault("overloaded"), "hello"]);

    expect(value).toBe("hello");
    expect(asked).toEqual(["a", "a", "a"]);
    expect(pauses).toEqual([300, 600]);
  });

  test("after three retries the next candidate is asked", async () => {
    const { value, asked } = await run([...Array.from({ length: 4 }, () => fault("rate_limit")), "hello"]);

    expect(value).toBe("hello");
    expect(asked).toEqual(["a", "a", "a", "a", "b"]);
  });

  test.each(["auth", "quota"] as const)("%s moves on at once", async (what) => {
    expect(await run([fault(what), "hello"])).toMatchObject({ value: "hello", asked: ["a", "b"], pauses: [] });
  });

  test.each([
    ["auth", 0, true, true],
    ["quota", 0, true, true],
    ["rate_limit", 3, true, true],
    ["overloaded", 3, true, false],
    ["network", 3, true, false],
    ["timeout", 1, true, false],
    ["model_not_found", 0, true, false],
    ["content_filter", 0, false, false],
    ["empty", 0, false, false],
  ] as const)("after %s the same model is asked %i times more, then the next one", async (what, retries, rests, othersRest) => {
    const cooldown = new Cooldown(() => 0);
    const script = [...Array.from({ length: retries + 1 }, () => fault(what)), "hello"];

    const { value, asked } = await run(script, { cooldown });

    expect([value, asked.length, asked.at(-1)]).toEqual(["hello", retries + 2, "b"]);
    expect([cooldown.rests("a", candidates[0]?.model), cooldown.rests("a", "another")]).toEqual([rests, othersRest]);
  });

  test.each(["context_overflow", "invalid_request"] as const)("%s is final", async (what) => {
    const cooldown = new Cooldown(() => 0);
    expect(await run([fault(what), "hello"], { cooldown })).toMatchObject({ value: what, asked: ["a"], pauses: [] });
    expect(cooldown.rests("a")).toBe(false);
  });

  test("a server that had its time is not asked to begin the same work anew", async () => {
    const slow = candidates.map(({ provider, model }) => ({ provider: { ...provider, firstAnswerMs: 600_000 }, model }));
    expect(await run([fault("timeout"), "hello"], { candidates: slow })).toMatchObject({ value: "hello", asked: ["a", "b"], pauses: [] });
  });

  test("the last error names every model that was tried, without the words of the others, and keeps its own class and wait", async () => {
    const failed = withFailover({
      ...{ candidates, cooldown: new Cooldown(() => 0), isVisible: () => false, mayFailover: () => true, shrink: () => false },
      isCurrent: () => true,
      ...{ onRetry: () => undefined, pause: async () => undefined, random: () => 0 },
      attempt: async ({ provider: { id } }) => {
        throw new ModelError(id === "a" ? "auth" : "rate_limit", `provider "${id}": its own words`, { retryAfterMs: 90_000 });
      },
    });

    await expect(failed).rejects.toMatchObject({
      ...{ fault: "rate_limit", retryAfterMs: 90_000 },
      message: 'a/m: auth; then b/n: provider "b": its own words',
    });
  });

  test("a provider that was replaced during its request does not put its successor to rest", async () => {
    const cooldown = new Cooldown(() => 0);
    await run([fault("auth"), "hello"], { cooldown, isCurrent: ({ provider: { id } }) => id !== "a" });
    expect(cooldown.rests("a")).toBe(false);
  });

  test("a model that takes no tools is asked anew once its provider is registered anew", () => {
    const support = createToolSupport({ known: () => [] });
    const before = { provider: provider("a"), model: "m" };
    expect(support.learn(before, new ModelError("invalid_request", "m does not support tools"))).toBe(true);
    expect([support.has(before), support.has({ ...before, provider: provider("a") })]).toEqual([false, true]);
  });

  test("an invalid request stops", async () => {
    expect(await run([fault("invalid_request"), "hello"])).toMatchObject({ value: "invalid_request", asked: ["a"] });
  });

  test("the vendor's wish for a pause is honoured, up to a minute", async () => {
    expect(await run([fault("rate_limit", 1_234), "hello"])).toMatchObject({ value: "hello", pauses: [1_234] });
    expect(await run([fault("rate_limit", 60_001), "hello"])).toMatchObject({ value: "hello", asked: ["a", "b"], pauses: [] });
  });

  test("nothing is repeated once something was shown", async () => {
    expect(await run([fault("network"), "hello"], { isVisible: () => true, mayFailover: () => false })).toMatchObject({
      value: "network",
      asked: ["a"],
    });
  });

  test("a request that is too long is made smaller as long as that is possible, at most three times", async () => {
    const long = fault("context_overflow");
    let left = 1;
    const once = () => left-- > 0;
    expect(await run([long, "hello"], { shrink: async () => true })).toMatchObject({ value: "hello", asked: ["a", "a"] });
    expect(await run([long, long, "hello"], { shrink: once })).toMatchObject({ value: "context_overflow", asked: ["a", "a"] });
    expect(await run([long, long, long, long, "hello"], { shrink: () => true })).toMatchObject({ value: "context_overflow" });
  });

  test("a request that stays too long goes to a model with a larger window, and nobody rests for it", async () => {
    const cooldown = new Cooldown(() => 0);
    const isRoomier = ({ provider: { id } }: Candidate) => id === "b";
    expect(await run([fault("context_overflow"), "hello"], { cooldown, isRoomier })).toMatchObject({ value: "hello", asked: ["a", "b"] });
    expect(cooldown.rests("a")).toBe(false);
    expect(await run([fault("context_overflow"), "hello"], { isRoomier: () => false })).toMatchObject({ asked: ["a"] });
  });

  test("all of them failing ends with the last fault", async () => {
    expect(await run([fault("auth"), fault("auth")])).toMatchObject({ value: "auth", asked: ["a", "b"] });
  });

  test("a provider that rests is asked last, and one that is not ready never", async () => {
    const cooldown = new Cooldown(() => 0);
    cooldown.failed("a", "network");
    expect(await run(["hello"], { cooldown })).toMatchObject({ value: "hello", asked: ["b"] });

    const unready = [{ provider: provider("c", { ok: false, reason: "no key" }), model: "x" }];
    expect(await run(["hello"], { candidates: unready })).toMatchObject({ value: "auth", asked: [] });
  });
});

test("pauses double up to a ceiling and end after the third", () => {
  const delays = [1, 2, 3, 4].map((n) => retryDelay("network", n, { random: 0.99999 }));
  expect(delays).toEqual([500, 1_000, 2_000, undefined]);
  expect(retryDelay("timeout", 2, { random: 0 })).toBeUndefined();
  expect(retryDelay("auth", 1, { random: 0 })).toBeUndefined();
});

test("a failing provider rests 30 s, 1 m, 5 m, 25 m, then an hour", () => {
  let now = 0;
  const cooldown = new Cooldown(() => now);
  for (const restMs of [30_000, 60_000, 300_000, 1_500_000, 3_600_000, 3_600_000]) {
    cooldown.failed("p", "overloaded");
    now += restMs - 1;
    expect(cooldown.rests("p")).toBe(true);
    now += 1;
    expect(cooldown.rests("p")).toBe(false);
  }
  cooldown.failed("p", "overloaded");
  expect(cooldown.lastFault("p")).toBe("overloaded");
  cooldown.succeeded("p");
  expect(cooldown.rests("p")).toBe(false);
  expect(cooldown.lastFault("p")).toBeUndefined();
});

test("the beginning of a rest and its early end are told, an answer of a model that was well is not", () => {
  const told: string[] = [];
  const cooldown = new Cooldown(
    () => 0,
    () => told.push("changed"),
  );
  cooldown.succeeded("p", "m");
  expect(told).toEqual([]);
  cooldown.failed("p/m", "overloaded");
  expect(told).toHaveLength(1);
  cooldown.succeeded("p", "m");
  expect(told).toHaveLength(2);
});

test("the rest of many providers is forgotten, oldest first", () => {
  const cooldown = new Cooldown(() => 0);
  for (let i = 0; i <= 256; i++) cooldown.failed(`p${i}`, "network");
  expect([cooldown.rests("p0"), cooldown.rests("p1"), cooldown.rests("p256")]).toEqual([false, true, true]);
});

test("the closest id is named", () => {
  const ids = ["openai/gpt-5-mini", "openai/gpt-5", "mistral/large"];
  expect(closest("gpt-5-mni", ids)).toBe("openai/gpt-5-mini");
  expect(closest("Mistral/Larg", ids)).toBe("mistral/large");
  expect(closest("x", [])).toBeUndefined();
  expect(closest("anthropic/claude-sonnet-4-5", ["recall/recall"])).toBeUndefined();
});
