import { definePlugin, type MessageRow, ModelError, type ModelRequest, type RunRequest, z } from "svc/sdk";
import { createTestGateway, type FakeTurn, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { record } from "../../../test/fixtures/agents-gateway.ts";
import { textTokens } from "./tokens.ts";

type Respond = (req: ModelRequest) => FakeTurn;
let respond: Respond = () => "ok";
const script = Array.from({ length: 400 }, () => (req: ModelRequest) => respond(req));
/** Reads 32,000 tokens, a quarter of which is kept free for the answer. */
const small = fakeModel(script, { id: "small", info: { contextWindow: 32_000 } });
const unknown = fakeModel(script, { id: "unknown" });
const roomy = fakeModel(script, { id: "roomy", info: { contextWindow: 1_000_000 } });
const LIMIT = 24_000;
const notes: string[] = [];
/** 300 KB. */
const book = Array.from({ length: 9_000 }, (_, i) => `line ${i + 1} of the book, with words`);
const tools = definePlugin({
  id: "page-tool",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool({
      name: "page",
      description: "A page.",
      input: z.object({ n: z.number(), offset: z.number().optional() }),
      run: ({ n }) => `page ${n}\n${`line of page ${n}.\n`.repeat(1_600)}`,
    });
    ctx.registerTool({
      name: "book",
      description: "A book.",
      input: z.object({ offset: z.number().default(1) }),
      readOnly: true,
      run: ({ offset }) => book.slice(offset - 1).join("\n"),
    });
    ctx.registerTool({
      name: "write",
      description: "Writes.",
      input: z.object({ text: z.string() }),
      run: ({ text }) => {
        notes.push(text);
        return "written";
      },
    });
  },
});

let gw: TestGateway;
beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", tools],
    models: [small, unknown, roomy],
    config: { agents: { defaults: { model: "small/script", skipBootstrap: true } } },
  });
});
afterAll(() => gw.close());

const actor = { kind: "rpc" as const, scopes: ["operator.admin" as const] };
const isSummary = (req: ModelRequest) => req.system.startsWith("You shorten a conversation");
const isFlush = (req: ModelRequest) => JSON.stringify(req.messages.at(-1)).includes("Write lasting facts");
const textsOf = (req: ModelRequest) =>
  req.messages.flatMap((m) => (m.role === "tool" ? [m.text] : m.content.map((c) => (c.type === "text" ? c.text : "")))).join("\n");

async function ask(sessionKey: string, message: string, more: Partial<RunRequest> = {}) {
  return (await gw.service("agents@1").run({ message, sessionKey: `agent:main:${sessionKey}`, trigger: "user", actor, ...more })).done;
}

function talk(turns: number, textOf: (i: number) => string): NonNullable<RunRequest["history"]> {
  return Array.from({ length: turns }, (_, i) => ({
    role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: [{ type: "text" as const, text: textOf(i) }],
  }));
}

async function rowsOf(sessionKey: string): Promise<MessageRow[]> {
  const session = await gw.service("store@2").sessions.get(`agent:main:${sessionKey}`);
  return gw.service("store@2").messages.page(session?.sessionId ?? "", { limit: 1_000 });
}

const compactions = async (sessionKey: string) => (await rowsOf(sessionKey)).filter(({ kind }) => kind === "compaction");

test("every request of a run with large results fits the window, and no result loses its call", async () => {
  const seen: ModelRequest[] = [];
  let n = 0;
  respond = (req) => {
    if (isSummary(req)) return "Pages were read.";
    if (isFlush(req)) return "NO_REPLY";
    seen.push(req);
    n += 1;
    return n <= 7 ? { toolCalls: [{ name: "page", args: { n } }] } : "Read.";
  };
  expect(await ask("pages", "Read seven pages.")).toMatchObject({ status: "ok", text: "Read." });

  expect(seen).toHaveLength(8);
  for (const req of seen) {
    expect(textTokens(req.system) + textTokens(JSON.stringify(req.tools)) + textTokens(textsOf(req))).toBeLessThan(LIMIT);
    expect(textsOf(req)).toContain("Read seven pages.");
    const calls = req.messages.flatMap((m) =>
      m.role === "assistant" ? m.content.flatMap((c) => (c.type === "toolCall" ? [c.id] : [])) : [],
    );
    expect(req.messages.flatMap((m) => (m.role === "tool" ? [m.toolCallId] : []))).toEqual(calls);
  }
  expect(await compactions("pages")).not.toEqual([]);
});

test("each request of such a run is explained as it was sent, across its compactions", async () => {
  const seen: ModelRequest[] = [];
  respond = (req) => {
    if (isSummary(req)) return "Pages were read.";
    if (isFlush(req)) return "NO_REPLY";
    seen.push(req);
    return seen.length <= 7 ? { toolCalls: [{ name: "page", args: { n: seen.length } }] } : "Read.";
  };
  await ask("explained", "Read seven pages.");
  expect(await compactions("explained")).not.toEqual([]);

  const shape = (role: string, text: string) => `${role}: ${text}`;
  for (const [i, req] of seen.entries()) {
    const question = { sessionKey: "agent:main:explained", turn: i + 1, maxChars: 1_000_000 };
    const { prompt, asides } = await gw.rpc<{
      prompt: { isExact: boolean; notes: string[]; system: string; messages: Array<{ role: string; text: string }> };
      asides: object[];
    }>("sessions.explain", question);
    expect(prompt).toMatchObject({ isExact: true, notes: [], system: req.system });
    const sent = req.messages.map((m) =>
      shape(m.role, m.role === "tool" ? m.text : m.content.flatMap((c) => (c.type === "text" ? [c.text] : [])).join("\n")),
    );
    expect(prompt.messages.map(({ role, text }) => shape(role, text))).toEqual(sent);
    expect(asides).toContainEqual(expect.objectContaining({ what: "summary" }));
  }
});

test("a long result is cut once, when it is stored, and says how to read on", async () => {
  let n = 0;
  respond = (req) => {
    n += 1;
    if (n === 1) return { toolCalls: [{ name: "page", args: { n: 1 } }] };
    return textsOf(req).includes("left out") ? "Cut." : "Whole.";
  };
  expect(await ask("one-page", "Read it.")).toMatchObject({ text: "Cut." });

  const [result] = (await rowsOf("one-page")).filter(({ role }) => role === "toolResult");
  const text = result?.content[0]?.type === "text" ? result.content[0].text : "";
  expect(text).toMatch(/^page 1\n/);
  expect(text).toMatch(/\[… \d+ KB of \d+ KB and 1602 lines left out; use offset=\d+ to read on …\]/);
  expect(text.endsWith("line of page 1.\n")).toBe(true);
});

test("a result of 300 KB can be read to its end, part by part, though each is cut", async () => {
  const seen = new Set<string>();
  let parts = 0;
  respond = (req) => {
    if (isSummary(req)) return "A book was read.";
    if (isFlush(req)) return "NO_REPLY";
    const last = req.messages.at(-1);
    if (last?.role !== "tool") return { toolCalls: [{ name: "book", args: {} }] };
    parts += 1;
    expect(Buffer.byteLength(last.text)).toBeLessThan(52_000);
    const [head = ""] = last.text.split("[\u2026 ");
    for (const [line] of (last.text.includes("[\u2026 ") ? head : last.text).matchAll(/line \d+ of the book/g)) seen.add(line);
    const next = /use offset=(\d+) to read on/.exec(last.text)?.[1];
    return next === undefined ? "Read." : { toolCalls: [{ name: "book", args: { offset: Number(next) } }] };
  };
  expect(await ask("book", "Read the book.", { model: "roomy/script" })).toMatchObject({ status: "ok", text: "Read." });

  expect(Buffer.byteLength(book.join("\n"))).toBeGreaterThan(300_000);
  expect(seen.size).toBe(book.length);
  expect(parts).toBeGreaterThan(6);
});

test("a window that the config names holds from the first run on, before any list of models was read", async () => {
  const model = fakeModel(script, { id: "named" });
  let lists = 0;
  const models = () => {
    lists += 1;
    return [];
  };
  const own = await createTestGateway({
    plugins: ["store", "agents"],
    models: [Object.assign(model, { models })],
    config: { agents: { defaults: { model: "named/script", skipBootstrap: true, contextTokens: 32_000 } } },
  });
  const before = lists;
  const asked: ModelRequest[] = [];
  respond = (req) => {
    asked.push(req);
    return isSummary(req) ? "Short." : "Fits.";
  };
  const request = { message: "Go on.", sessionKey: "agent:main:first", trigger: "user" as const, actor };
  const history = talk(60, (i) => `${i} ${"word ".repeat(600)}`);
  const outcome = await (await own.service("agents@1").run({ ...request, history })).done;
  await own.close();
  expect(outcome).toMatchObject({ status: "ok", text: "Fits." });
  expect(before).toBe(0);
  for (const req of asked) expect(textTokens(req.system) + textTokens(textsOf(req))).toBeLessThan(LIMIT);
});

test("60,000 Chinese characters in a window of 32,000 tokens become a summary before the vendor has to refuse", async () => {
  const asked: ModelRequest[] = [];
  respond = (req) => {
    asked.push(req);
    return isSummary(req) ? "摘要" : "好";
  };
  expect(await ask("chinese", "继续", { history: talk(60, () => "记忆".repeat(500)) })).toMatchObject({ status: "ok", text: "好" });

  expect(Math.max(...asked.map((req) => textTokens(textsOf(req))))).toBeLessThan(LIMIT);
  expect(textsOf(asked.at(-1) as ModelRequest)).toContain("摘要");
  expect(await compactions("chinese")).toMatchObject([{ details: { reason: "threshold", summary: true } }]);
});

test("a fact from the beginning is in the summary, and the compaction is a row, events and a note", async () => {
  const client = await gw.client();
  const frames = record(client);
  await client.request("sessions.messages.subscribe", { key: "agent:main:secret" });
  const sources: string[] = [];
  respond = (req) => {
    if (!isSummary(req)) return textsOf(req).includes("code is 7731") ? "7731" : "I do not know.";
    sources.push(textsOf(req));
    return textsOf(req).includes("code is 7731") ? "## Critical context\nThe code is 7731." : "Nothing.";
  };
  const history = talk(800, (i) => (i === 0 ? "The code is 7731, remember: code is 7731." : `message ${i}`));
  expect(await ask("secret", "What was the code?", { history, model: "roomy/script" })).toMatchObject({ text: "7731" });

  expect(sources[0]).toContain("[User]: The code is 7731");
  const [row] = await gw
    .rpc<{ messages: Array<{ __svc: { kind?: string }; content: unknown }> }>("chat.history", { sessionKey: "secret" })
    .then(({ messages }) => messages.filter((m) => m.__svc.kind === "compaction"));
  expect(row?.content).toEqual([{ type: "text", text: "## Critical context\nThe code is 7731." }]);
  expect(frames.some((f) => f.event === "session.message" && JSON.stringify(f.payload).includes("compaction"))).toBe(true);
});

test("the next compaction updates the summary instead of nesting it", async () => {
  const sources: string[] = [];
  respond = (req) => {
    if (!isSummary(req)) return "ok";
    sources.push(textsOf(req));
    return `Summary ${sources.length}.`;
  };
  await ask("twice", "one", { history: talk(40, (i) => `${i} ${"word ".repeat(600)}`) });
  await ask("twice", "two", { history: talk(40, (i) => `later ${i} ${"word ".repeat(600)}`) });

  expect(sources.at(-1)).toContain("<earlier-summary>\nSummary");
  expect(await compactions("twice")).toHaveLength(2);
  await ask("twice", "three");
  expect(textsOf(small.requests.at(-1) as ModelRequest).match(/Summary of the conversation so far/g)).toHaveLength(1);
});

test("a vendor that refuses a request as too long gets a shorter one once, and the next turn fits at once", async () => {
  let refusals = 0;
  respond = (req) => {
    if (isSummary(req)) return "Short.";
    if (isFlush(req)) return "NO_REPLY";
    if (textTokens(textsOf(req)) <= 8_000) return "Fits.";
    refusals += 1;
    throw new ModelError("context_overflow", "prompt is too long: 30000 tokens > 10000 maximum");
  };
  const history = talk(20, (i) => `${i} ${"word ".repeat(1_000)}`);
  expect(await ask("refused", "Go on.", { history, model: "unknown/script" })).toMatchObject({ status: "ok", text: "Fits." });
  expect(await ask("refused", "And on.", { model: "unknown/script" })).toMatchObject({ status: "ok", text: "Fits." });

  expect(refusals).toBe(1);
  expect(await compactions("refused")).toMatchObject([{ details: { reason: "overflow" } }]);
});

test("a message that no compaction can make fit fails with the sizes", async () => {
  respond = (req) => {
    if (isSummary(req)) return "Short.";
    throw new ModelError("context_overflow", "too long");
  };
  const { code, error } = await ask("too-large", "word ".repeat(30_000));
  expect(code).toBe("CONTEXT_OVERFLOW");
  expect(error).toMatch(/^too long; system prompt and tools have about \d+ tokens, the messages \d+, the largest of them \d+: shorten it/);
});

test("a summary that fails becomes a list of what was asked, with a warning in the events", async () => {
  respond = (req) => {
    if (isSummary(req)) throw new ModelError("invalid_request", "no summaries today");
    return isFlush(req) ? "NO_REPLY" : "Going on.";
  };
  const history = talk(40, (i) => `${i} ${"word ".repeat(600)}`);
  const handle = await gw.service("agents@1").run({ message: "hi", sessionKey: "agent:main:failing", trigger: "user", actor, history });
  expect(await handle.done).toMatchObject({ status: "ok", text: "Going on." });

  const told = [];
  for await (const event of handle.events()) if (event.stream === "compaction") told.push(event.data);
  expect(told).toMatchObject([
    { phase: "start", reason: "threshold" },
    { phase: "end", warning: expect.stringContaining("no summaries today") },
  ]);
  expect(await compactions("failing")).toMatchObject([{ content: [{ text: expect.stringContaining("Asked so far:") }] }]);
});

describe("before older messages go", () => {
  const long = () => talk(28, (i) => `${i} ${"word ".repeat(600)}`);
  const flushing: Respond = (req) => {
    if (isSummary(req)) return "Short.";
    if (!isFlush(req)) return "Answer.";
    expect(req.tools.map(({ name }) => name)).toEqual(["write"]);
    return { text: "NO_REPLY", toolCalls: [{ name: "write", args: { text: "likes tea" } }] };
  };

  test("the agent writes notes in a turn that nobody sees", async () => {
    notes.length = 0;
    respond = flushing;
    const client = await gw.client();
    const frames = record(client);
    await client.request("sessions.messages.subscribe", { key: "agent:main:noting" });
    expect(await ask("noting", "hi", { history: long() })).toMatchObject({ text: "Answer." });
    await client.request("health", {});

    expect(notes).toEqual(["likes tea"]);
    expect(JSON.stringify(frames)).not.toContain("NO_REPLY");
    expect(JSON.stringify(await rowsOf("noting"))).not.toMatch(/NO_REPLY|likes tea/);
  });

  test.each([
    ["a hook", { trigger: "hook" as const }],
    ["a run without such tools", { tools: { deny: ["write"] } }],
  ])("%s writes none", async (name, more) => {
    notes.length = 0;
    respond = flushing;
    expect(await ask(`noting-${name.length}`, "hi", { history: long(), ...more })).toMatchObject({ text: "Answer." });
    expect(notes).toEqual([]);
  });
});
