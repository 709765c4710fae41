import { definePlugin, SvcError, z } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let calls: object[];
let gateway: TestGateway;
let aborted: Promise<void>;

/** Tools of somebody else's plugin; some have names that nobody calls from outside. */
const bench = definePlugin<unknown>({
  id: "bench",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    const input = z.object({ text: z.string(), action: z.string().optional() });
    const tool = (name: string, run: (args: z.infer<typeof input>, signal: AbortSignal) => unknown) =>
      ctx.registerTool({
        name,
        description: name,
        input,
        run(args, { signal, ...call }) {
          calls.push({ name, args, ...call });
          return run(args, signal);
        },
      });
    for (const name of ["echo", "exec", "cron", "hidden"]) tool(name, ({ text }) => ({ said: text }));
    tool("broken", ({ text }) => {
      throw new Error(`at /secret/place with ${text}`);
    });
    tool("picky", () => {
      throw new SvcError("bad-text", { message: "text: expected a number", http: 400, rpc: "INVALID_REQUEST" });
    });
    tool("says_no", () => ({ content: [{ type: "text", text: "no such thing" }], isError: true }));
    let isAborted: () => void;
    aborted = new Promise((resolve) => {
      isAborted = resolve;
    });
    tool(
      "slow",
      (_, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => (isAborted(), reject(signal.reason)))),
    );
    ctx.registerTool({ name: "plain", description: "no action", input: z.strictObject({}), run: () => "done" });
    ctx.on("tool.before", ({ args }) =>
      (args as { text?: string }).text === "forbidden" ? { block: true as const, reason: "not today" } : undefined,
    );
  },
});

beforeAll(async () => {
  calls = [];
  gateway = await createTestGateway({
    plugins: ["store", "agents", "openai-http", bench],
    config: {
      agents: { list: [{ id: "main" }, { id: "narrow", tools: { profile: "minimal" } }] },
      gateway: { tools: { deny: ["hidden"], allow: ["cron"] } },
    },
  });
});
afterAll(() => gateway?.close());

const post = (body: object | string, init: RequestInit = {}) =>
  gateway.fetch("/tools/invoke", { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), ...init });
const invoke = async (body: object | string) => {
  const response = await post(body);
  return [response.status, await response.json()];
};
const failed = (type: string, message: unknown) => ({ ok: false, error: { type, message } });
const args = { text: "hi" };

describe("a tool", () => {
  test.each(["name", "tool"])("is run by its %s, in the main session of the default agent", async (field) => {
    calls.length = 0;
    const result = { content: [{ type: "text", text: '{"said":"hi"}' }], details: { said: "hi" } };

    expect(await invoke({ [field]: "echo", args })).toEqual([200, { ok: true, result }]);
    expect(calls).toMatchObject([{ agentId: "main", sessionKey: "agent:main:main", toolCallId: expect.stringMatching(/^http-/) }]);
  });

  test.each([
    [{ sessionKey: "main" }, "agent:main:main"],
    [{ sessionKey: "work" }, "agent:main:work"],
    [{ sessionKey: "agent:main:work", agentId: "main" }, "agent:main:work"],
  ])("of %j runs in %s", async (fields, sessionKey) => {
    calls.length = 0;
    expect((await post({ name: "echo", args, ...fields })).status).toBe(200);
    expect(calls).toMatchObject([{ sessionKey }]);
  });

  test("gets `action` as an argument when it has such a one and the call does not", async () => {
    calls.length = 0;
    await post({ name: "echo", args, action: "list" });
    await post({ name: "echo", args: { ...args, action: "own" }, action: "list" });
    expect(calls).toMatchObject([{ args: { action: "list" } }, { args: { action: "own" } }]);

    expect(await invoke({ name: "plain", action: "list", args: "no object" })).toMatchObject([200, { ok: true }]);
  });

  test("stops when the client goes away", async () => {
    const abort = new AbortController();
    const going = post({ name: "slow", args }, { signal: abort.signal }).catch((error: unknown) => error);
    await expect.poll(() => calls.some((call) => "name" in call && call.name === "slow")).toBe(true);
    abort.abort();

    await aborted;
    expect(await going).toMatchObject({ name: "AbortError" });
  });
});

describe("refusals", () => {
  const unavailable = (name: string) => [404, failed("not_found", `Tool not available: ${name}`)];

  test.each([
    [{}, [400, failed("invalid_request", "tools.invoke requires name")]],
    [{ name: ["echo"] }, [400, failed("invalid_request", "name: expected string, received array")]],
    [{ name: "echo", sessionKey: 5 }, [400, failed("invalid_request", "sessionKey: expected string, received number")]],
    [{ name: "echo", agentId: "x" }, [400, failed("invalid_request", 'Unknown agent id "x"')]],
    [{ name: "echo", agentId: "narrow", sessionKey: "agent:main:x" }, [400, failed("invalid_request", expect.stringContaining("narrow"))]],
    [{ name: "echo", idempotencyKey: "k".repeat(257) }, [400, failed("invalid_request", expect.stringContaining("at most 256"))]],
    [{ name: "echo", dryRun: "yes" }, [400, failed("invalid_request", "dryRun: expected true or false")]],
    [{ name: "nothing" }, unavailable("nothing")],
    [{ name: "exec", args }, unavailable("exec")],
    [{ name: "hidden", args }, unavailable("hidden")],
    [{ name: "echo", args, agentId: "narrow" }, unavailable("echo")],
    [{ name: "cron", args, sessionKey: "hook:x" }, unavailable("cron")],
    [{ name: "echo", args: {} }, [400, failed("tool_error", expect.stringContaining("invalid echo arguments"))]],
    [{ name: "picky", args }, [400, failed("tool_error", "text: expected a number")]],
    [{ name: "says_no", args }, [400, failed("tool_error", "no such thing")]],
    [{ name: "echo", args: { text: "forbidden" } }, [403, failed("tool_call_blocked", "echo was blocked: not today")]],
    [{ name: "broken", args }, [500, failed("tool_error", "tool execution failed")]],
    ["{", [400, { error: { type: "invalid_request_error", message: expect.stringMatching(/JSON/), param: null, code: null } }]],
  ])("%j", async (body, expected) => {
    expect(await invoke(body)).toEqual(expected);
  });

  test("the operator's tools are for administrators whom the config allows them", async () => {
    expect((await post({ name: "cron", args })).status).toBe(200);
  });

  test("a wrong key, a wrong method, a body above the cap", async () => {
    const stranger = await fetch(`${gateway.url}/tools/invoke`, { method: "POST", body: "{}", headers: { authorization: "Bearer wrong" } });
    expect([stranger.status, await stranger.json()]).toMatchObject([401, { error: { code: "invalid_api_key" } }]);

    const get = await gateway.fetch("/tools/invoke");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);

    expect((await post({ name: "echo", args: { text: "x".repeat(2 * 1024 * 1024) } })).status).toBe(413);
  });
});

describe("a dry run", () => {
  test.each([
    [{ name: "echo", args }, 200, { ok: true, dryRun: true, result: null }],
    [{ name: "echo", args: {} }, 400, { ok: false }],
    [{ name: "exec", args }, 404, { ok: false }],
  ])("of %j checks, and runs nothing", async (body, status, answer) => {
    calls.length = 0;
    expect(await invoke({ ...body, dryRun: true })).toMatchObject([status, answer]);
    expect(calls).toEqual([]);
  });

  test("does not take the place of the call with its key", async () => {
    calls.length = 0;
    await post({ name: "echo", args, idempotencyKey: "dry", dryRun: true });
    await post({ name: "echo", args, idempotencyKey: "dry" });
    expect(calls).toMatchObject([{ toolCallId: "http-dry" }]);
  });
});

describe("a repeat with the same key", () => {
  test.each(["echo", "broken"])("gets the outcome of the first call (%s)", async (name) => {
    calls.length = 0;
    const ask = () => post({ name, args, idempotencyKey: `again-${name}` });
    const [first, second] = [await ask(), await ask()];

    expect([first.headers.get("idempotent-replay"), second.headers.get("idempotent-replay")]).toEqual([null, "true"]);
    expect([second.status, await second.json()]).toEqual([first.status, await first.json()]);
    expect(calls).toHaveLength(1);
  });

  test.each([{ args: { text: "other" } }, { action: "list" }, { sessionKey: "elsewhere" }, { name: "says_no" }])(
    "but with %j is another call",
    async (other) => {
      const first = { name: "echo", args, idempotencyKey: "one-of-many" };
      await post(first);
      calls.length = 0;
      const answer = await post({ ...first, ...other });

      expect([answer.headers.get("idempotent-replay"), calls.length]).toEqual([null, 1]);
    },
  );

  test("whose client went away is told not to try again", async () => {
    calls.length = 0;
    const abort = new AbortController();
    const body = { name: "slow", args, idempotencyKey: "left" };
    const going = post(body, { signal: abort.signal }).catch((error: unknown) => error);
    await expect.poll(() => calls.length).toBe(1);
    abort.abort();
    await going;
    const again = await post(body);

    expect([again.status, again.headers.get("x-should-retry")]).toEqual([500, "false"]);
    expect(await again.json()).toEqual(failed("tool_error", expect.stringContaining("send it again with a new key")));
    expect(calls).toHaveLength(1);
  });

  test("runs after a refusal", async () => {
    expect((await post({ name: "echo", args: {}, idempotencyKey: "mended" })).status).toBe(400);
    expect((await post({ name: "echo", args, idempotencyKey: "mended" })).status).toBe(200);
  });
});
