import fc from "fast-check";
import type { MemorySearchResult, ModelDelta, ModelMessage, ModelRequest } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { createRecallProvider } from "./provider.ts";

const provider = createRecallProvider();
const searchTool = { name: "memory_search", description: "Searches the notes.", inputSchema: { type: "object" } };

function user(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

function request(messages: ModelMessage[], more: Partial<ModelRequest> = {}): ModelRequest {
  const context = { agentId: "main", sessionKey: "agent:main:main", runId: "r1" };
  return { model: "recall", system: "", messages, tools: [searchTool], context, ...more };
}

async function collect(req: ModelRequest, signal = new AbortController().signal): Promise<ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  for await (const delta of provider.stream(req, { signal })) deltas.push(delta);
  return deltas;
}

function textOf(deltas: ModelDelta[]): string {
  return deltas.map((d) => (d.type === "text" ? d.delta : "")).join("");
}

function hit(path: string, startLine: number, score: number, body: string, endLine = startLine + body.split("\n").length - 1) {
  const citation = `${path}#L${startLine}-L${endLine}`;
  return { path, startLine, endLine, score, snippet: `${body}\n\nSource: ${citation}`, source: "memory" as const, citation };
}

function found(question: string, results: unknown[], more: Partial<MemorySearchResult> = {}): ModelMessage[] {
  const text = JSON.stringify({ results, provider: "none", model: "", fallback: null, citations: "auto", mode: "fts-only", ...more });
  return [
    user(question),
    { role: "assistant", content: [{ type: "toolCall", id: "t1", name: "memory_search", args: { query: question } }] },
    { role: "tool", toolCallId: "t1", name: "memory_search", text },
  ];
}

async function answer(question: string, results: unknown[], more: Partial<MemorySearchResult> = {}): Promise<string> {
  return textOf(await collect(request(found(question, results, more))));
}

const router = hit("memory/home/network.md", 3, 0.8, "# Network\n\nThe router stands in the hall cupboard.\nAdmin page: 192.168.1.1");

describe("the first turn", () => {
  test("asks memory_search for the user's question", async () => {
    const deltas = await collect(
      request([user("an earlier question"), { role: "assistant", content: [{ type: "text", text: "…" }] }, user("Where is the router?")]),
    );

    const call = deltas.find((d) => d.type === "toolCall");
    expect(call).toMatchObject({ name: "memory_search", argsDelta: JSON.stringify({ query: "Where is the router?" }) });
    expect(deltas.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
  });

  test("cuts a pasted document to a query of at most 1,000 characters, never inside a character", async () => {
    const [call] = await collect(request([user(`a${"🙂".repeat(600)}`)]));

    const query = JSON.parse(call?.type === "toolCall" ? call.argsDelta : "{}").query;
    expect(query).toBe(`a${"🙂".repeat(499)}`);
  });

  test("searches anew for each question of a conversation", async () => {
    const earlier = [
      ...found("Where is the router?", [router]),
      { role: "assistant" as const, content: [{ type: "text" as const, text: "In the hall." }] },
    ];

    const [call] = await collect(request([...earlier, user("And the boiler?")]));
    expect(call).toMatchObject({ type: "toolCall", argsDelta: JSON.stringify({ query: "And the boiler?" }) });
  });

  test("says plainly that it cannot search when the tool is not offered", async () => {
    const text = textOf(await collect(request([user("Where is the router?")], { tools: [] })));

    expect(text).toContain("not available to this agent");
    expect(text).toContain("No language model is configured");
  });

  test("answers in text when it is told to call no tool, or one that is not memory_search", async () => {
    const other = { name: "book_table", description: "", inputSchema: {} };

    for (const more of [{ toolChoice: "none" as const }, { tools: [other], toolChoice: "required" as const }]) {
      const deltas = await collect(request([user("A table for two")], more));
      expect(deltas.some((d) => d.type === "toolCall")).toBe(false);
      expect(deltas.at(-1)).toEqual({ type: "finish", reason: "stop" });
    }
  });
});

describe("the answer", () => {
  test("quotes the passage, cites it on a line of its own and says once how to add a model", async () => {
    const text = await answer("Where is the router?", [router]);

    expect(text).toBe(
      [
        "This is in your notes:",
        "> **Network**\n>\n> The router stands in the hall cupboard.\n> Admin page: 192.168.1.1",
        "Source: memory/home/network.md#L3-L6",
        "No language model is configured, so svc can only quote your notes; to get written answers, add a provider under `models.providers.<vendor>` in the config file or set an API key such as `OPENAI_API_KEY` in the environment.",
      ].join("\n\n"),
    );
  });

  test("keeps memory's order and leaves out what is far from the best", async () => {
    const text = await answer("Where is the router?", [
      router,
      hit("memory/2026-10-02.md", 8, 0.7, "Restarted the router, the hall lamp flickered."),
      hit("memory/shopping.md", 1, 0.2, "New router cable."),
      hit("memory/bike.md", 1, 0.75, "The bike is in the cellar."),
    ]);

    const cited = [...text.matchAll(/^Source: (.*)$/gm)].map((m) => m[1]);
    expect(cited).toEqual(["memory/home/network.md#L3-L6", "memory/2026-10-02.md#L8-L8"]);
  });

  test("keeps a near passage without a common word when the search was by meaning", async () => {
    const text = await answer("Where is the router?", [router, hit("memory/wifi.md", 1, 0.75, "Access point above the coats.")], {
      mode: "hybrid",
    });

    expect(text).toContain("Source: memory/wifi.md#L1-L1");
  });

  test("does not repeat lines of overlapping passages", async () => {
    const text = await answer("Where is the router?", [
      router,
      hit("memory/home/network.md", 5, 0.79, "The router stands in the hall cupboard.\nAdmin page: 192.168.1.1"),
      hit("memory/home/network.md", 6, 0.78, "Admin page: 192.168.1.1\nThe router restarts on Sundays."),
    ]);

    expect(text.match(/hall cupboard/g)).toHaveLength(1);
    expect(text.match(/192\.168\.1\.1/g)).toHaveLength(1);
    expect(text).toContain("restarts on Sundays");
  });

  test("shows of a long passage the part about the question, under its heading", async () => {
    const filler = Array.from({ length: 20 }, (_, i) => `- item ${i} of the long list of other matters in the house`);
    const body = [
      "## Boiler",
      "",
      ...filler,
      "",
      "## Network",
      "",
      "- the router is in the hall cupboard",
      "- the switch is below it",
    ].join("\n");

    const text = await answer("Where is the router?", [hit("memory/home.md", 1, 0.9, body)]);

    expect(text).toContain("> **Network**\n>\n> - the router is in the hall cupboard\n> - the switch is below it");
    expect(text).not.toContain("item 3");
    expect(text).toContain("Source: memory/home.md#L1-L27");
  });

  test("takes the section the question names, not the one the note is called after", async () => {
    const filler = "The cellar was painted in spring and the shelves were moved to the left side of the door. ".repeat(3);
    const body = [
      "# Boiler",
      "",
      `The boiler stands in the cellar. ${filler}`,
      "",
      "## Service",
      "",
      "- due every October",
      "- next time: the vessel",
      "",
      "## Pressure",
      "",
      `The boiler needs 1.4 bar. ${filler}`,
    ].join("\n");

    const text = await answer("When is the boiler serviced next?", [hit("memory/home/boiler.md", 1, 0.9, body)]);

    expect(text).toContain("> **Service**\n>\n> - due every October\n> - next time: the vessel\n> …\n\nSource:");
  });

  test("takes the words a note is called after when its lines meet no others", async () => {
    const filler = "- Eye test: mine was in August, reading glasses one and a quarter, the shop keeps the numbers for two years.\n".repeat(
      7,
    );
    const body = `# Health\n\n## Doctors\n\n${filler}\n## Insurance\n\n- Ines: public health insurance, number 17.`;

    const text = await answer("How much does the health insurance cost?", [hit("memory/health/insurance.md", 1, 0.9, body)]);
    expect(text).toContain("> **Insurance**\n>\n> - Ines: public health insurance, number 17.\n\nSource:");
  });

  test("quotes a long passage that memory found by other words", async () => {
    const body = `# Log\n\n## Monday\n\n${"It rained for most of the day and nothing of note happened. ".repeat(15)}`;

    expect(await answer("Weather?", [hit("memory/log.md", 1, 0.9, body)])).toContain("> **Monday**\n>\n> It rained");
  });

  test("whatever the closest hit looks like, it is quoted and cited", async () => {
    const line = fc.constantFrom(
      "# Title",
      "## Part",
      "",
      "- a list entry",
      "some words of a paragraph ".repeat(12),
      "the router",
      "```",
      "> quoted",
      "1. first",
      "-",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 20 }),
        fc.constantFrom("router?", "title part", "nothing of it", "路由器"),
        async (lines, question) => {
          fc.pre(lines.some((l) => /\p{L}/u.test(l)));
          const text = await answer(question, [hit("memory/title.md", 1, 0.9, lines.join("\n"))]);
          expect(text).toMatch(/^> .*\p{L}/mu);
          expect(text).toMatch(/^Source: memory\/title\.md#L/m);
        },
      ),
    );
  });

  test("marks what it leaves out between a heading and the excerpt", async () => {
    const filler = "It rained for most of the day and nothing of note happened in the house or in the garden. ".repeat(8);
    const text = await answer("Where is the router?", [
      hit("memory/log.md", 1, 0.9, `# Log\n\n${filler}\n\nThe router moved to the hall.`),
    ]);

    expect(text).toContain("> **Log**\n>\n> …\n> The router moved to the hall.\n\nSource:");
  });

  test("drops a list marker that a cut snippet ends with", async () => {
    const text = await answer("Where is the router?", [hit("memory/a.md", 1, 0.9, "- the router is in the hall\n-")]);

    expect(text).toContain("> - the router is in the hall\n\nSource:");
  });

  test("leaves the footer away when citations are off", async () => {
    const { citation: _, ...bare } = router;
    const text = await answer("Where is the router?", [{ ...bare, snippet: "The router stands in the hall." }], { citations: "off" });

    expect(text).toContain("> The router stands in the hall.");
    expect(text).not.toContain("Source:");
  });

  test("says that nothing was found", async () => {
    expect(await answer("hello!", [])).toMatch(/^There is nothing about this in the notes of this agent\.\n\nNo language model/);
  });

  test.each([
    [
      { results: [], disabled: true, unavailable: true, error: "index is\nbroken.", action: "Run svc memory index." },
      "did not work: index is broken. Run svc memory index.",
    ],
    [{ results: "?" }, "could not be read"],
    [null, "could not be read"],
  ])("tells why the search failed: %j", async (result, expected) => {
    const messages = [user("q"), { role: "tool" as const, toolCallId: "t1", name: "memory_search", text: JSON.stringify(result) }];

    expect(textOf(await collect(request(messages)))).toContain(expected);
  });

  test("passes on what a failed tool call said", async () => {
    const messages = [user("q"), { role: "tool" as const, toolCallId: "t1", name: "memory_search", text: "timed out", isError: true }];

    expect(textOf(await collect(request(messages)))).toContain("did not work: timed out.");
  });

  test("comes word by word and joins to the same text", async () => {
    const deltas = await collect(request(found("Where is the router?", [router])));

    expect(deltas.filter((d) => d.type === "text").length).toBeGreaterThan(20);
    expect(deltas.slice(-2)).toEqual([
      { type: "usage", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
      { type: "finish", reason: "stop" },
    ]);
  });
});

test("an abort ends the answer at the next word", async () => {
  const abort = new AbortController();
  const seen: string[] = [];

  const run = (async () => {
    for await (const delta of provider.stream(request(found("Where is the router?", [router])), { signal: abort.signal })) {
      if (delta.type === "text") seen.push(delta.delta);
      if (seen.length === 3) abort.abort();
    }
  })();

  await expect(run).rejects.toMatchObject({ name: "AbortError" });
  expect(seen).toHaveLength(3);
});

test("it is the embedded provider and always available", () => {
  expect(provider).toMatchObject({ id: "recall", embedded: true, defaultModel: "recall" });
  expect(provider.available()).toEqual({ ok: true });
});

test("what the gateway tells the agent beside a question is not searched for", async () => {
  const content = ["System: The parcel has come.", "Where is the router?"].map((text) => ({ type: "text" as const, text }));
  const call = (await collect(request([{ role: "user", content }]))).find((delta) => delta.type === "toolCall");
  expect(call).toMatchObject({ name: "memory_search", argsDelta: JSON.stringify({ query: "Where is the router?" }) });
});

describe("what the gateway tells", () => {
  const told = (events: string, prompt: string): ModelMessage => ({
    role: "user",
    content: [
      { type: "text", text: events },
      { type: "text", text: prompt },
    ],
  });
  const check = "This is a periodic check, nobody is waiting. Follow HEARTBEAT.md if it is part of your workspace files.";
  const heartbeat = (message: ModelMessage) => {
    const req = request([message]);
    return collect({ ...req, context: { ...req.context, trigger: "heartbeat" } });
  };

  test("a heartbeat after a wake names the events and quotes no note", async () => {
    const deltas = await heartbeat(told("System: The parcel has come.\nSystem: It is in the hall.\nSystem:", check));

    expect(deltas.filter((d) => d.type === "toolCall")).toEqual([]);
    expect(textOf(deltas)).toBe("> The parcel has come.\n> It is in the hall.");
  });

  test("a heartbeat without events is acknowledged", async () => {
    const deltas = await heartbeat(user(check));
    expect(deltas.filter((d) => d.type === "toolCall")).toEqual([]);
    expect(textOf(deltas)).toBe("HEARTBEAT_OK");
  });

  test("events of others are named without the frame around them, and a long list is cut", async () => {
    const lines = Array.from({ length: 60 }, (_, i) => `System: event ${i} ${"x".repeat(1_000)}`);
    const framed = [
      'System: <<<EXTERNAL_UNTRUSTED_CONTENT id="0123456789abcdef">>>',
      "System: Source: webhook",
      "System: ---",
      "System: the build is red",
      'System: <<<END_EXTERNAL_UNTRUSTED_CONTENT id="0123456789abcdef">>>',
    ];
    expect(textOf(await heartbeat(told(framed.join("\n"), check)))).toBe("> the build is red");

    const text = textOf(await heartbeat(told(lines.join("\n"), check)));
    expect(text.split("\n")).toHaveLength(41);
    expect(text.split("\n").at(-1)).toBe("> … and 20 more lines");
    expect(text.length).toBeLessThan(13_000);
  });

  test("events that came with a question are named before its answer, and are not searched for", async () => {
    const [question, ...rest] = found("Where is the router?", [router]);
    const asked = told("System: The parcel has come.", "Where is the router?");
    expect(question?.role).toBe("user");

    const [call] = await collect(request([asked]));
    expect(call).toMatchObject({ type: "toolCall", argsDelta: JSON.stringify({ query: "Where is the router?" }) });
    const text = textOf(await collect(request([asked, ...rest])));
    expect(text.startsWith("> The parcel has come.\n\nThis is in your notes:")).toBe(true);
  });
});

test("the answer says why no language model answers, when the gateway knows", async () => {
  const req = request(found("Where is the router?", [router]));
  const notice = 'model provider "lab" cannot be used: no API key';
  const text = textOf(await collect({ ...req, context: { ...req.context, notice } }));

  expect(text).toContain(
    'No language model can answer (model provider "lab" cannot be used: no API key), so svc can only quote your notes; `svc doctor` says what to do.',
  );
  expect(text).not.toContain("No language model is configured");
});
