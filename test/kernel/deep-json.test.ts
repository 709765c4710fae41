import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommandLine } from "../../kernel/cli/run.ts";
import { door } from "./_door.ts";
import { connected } from "./_ws.ts";

const HOOK_TOKEN = "hook-token-of-this-test-0123456789";
const lists = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
/** Adds a member to a JSON object. */
const beside = (object: object, value: string) => `${JSON.stringify(object).slice(0, -1)},"extra":${value}}`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "openai-http", "webhooks", door],
    models: [fakeModel(Array(20).fill("done"))],
    config: {
      hooks: {
        enabled: true,
        token: HOOK_TOKEN,
        mappings: [{ id: "any", match: { path: "any" }, messageTemplate: "{{text}}", deliver: false }],
      },
    },
  });
});
afterAll(() => gateway?.close());

const messages = [{ role: "user", content: "hi" }];
const routes: Array<[path: string, body: object]> = [
  ["/v1/chat/completions", { model: "svc", messages }],
  ["/v1/embeddings", { model: "svc", input: "hi" }],
  ["/hooks/wake", { text: "hi", mode: "next-heartbeat" }],
  ["/hooks/agent", { message: "hi", deliver: false }],
  ["/hooks/any", { text: "hi" }],
  ["/door", { value: 1 }],
];

async function post(path: string, body: string): Promise<{ status: number; text: string }> {
  const headers = path.startsWith("/hooks") ? { authorization: `Bearer ${HOOK_TOKEN}` } : {};
  const response = await gateway.fetch(path, { method: "POST", body, headers });
  return { status: response.status, text: await response.text() };
}

describe("a body that is nested too deeply is 400, and the answer names limit and place:", () => {
  test.each(routes)("%s", async (path, body) => {
    for (const depth of [64, 5_000, 100_000]) {
      const text = beside(body, lists(depth));
      const answer = await post(path, text);
      expect([answer.status, depth]).toEqual([400, depth]);
      expect(answer.text).toContain(`nested deeper than 64 levels: level 65 begins at character ${text.indexOf('"extra":') + 8 + 64}`);
    }
  });

  test("in the error shape of the OpenAI API below /v1", async () => {
    const { text } = await post("/v1/chat/completions", beside({ model: "svc", messages }, lists(64)));
    expect(JSON.parse(text)).toEqual({
      error: { message: expect.stringContaining("nested deeper"), type: "invalid_request_error", param: null, code: null },
    });
  });

  test.each(["/v1/chat/completions", "/hooks/agent", "/hooks/any", "/door"])("64 levels are served: %s", async (path) => {
    const body = routes.find(([known]) => known === path)?.[1] ?? {};
    expect((await post(path, beside(body, lists(63)))).status).toBe(200);
  });
});

test("arguments of an earlier tool call that are nested too deeply stay text, and the request is served", async () => {
  const call = (args: string) => ({ id: "c1", type: "function", function: { name: "look", arguments: args } });
  const history = [
    { role: "user", content: "look" },
    { role: "assistant", content: null, tool_calls: [call(`{"a":${lists(20_000)}}`)] },
    { role: "tool", tool_call_id: "c1", content: "seen" },
  ];
  const body = { model: "svc", messages: [...history, ...messages] };
  expect((await post("/v1/chat/completions", JSON.stringify(body))).status).toBe(200);
});

test("a frame that is nested too deeply is refused under its id, with limit and place", async () => {
  const socket = await connected(gateway);
  for (const depth of [63, 20_000]) {
    const head = '{"type":"req","id":"deep","method":"door.touch","params":{"value":';
    socket.send(`${head}${lists(depth)}}}`);
    const { error } = await socket.frame((frame) => frame.id === "deep");
    const message = `invalid request frame: the frame is nested deeper than 64 levels: level 65 begins at character ${head.length + 63}`;
    expect(error).toEqual({ code: "INVALID_REQUEST", message });
  }
  await socket.close();
});

describe("a command is given JSON that is nested too deeply, and says so instead of failing inside:", () => {
  const deep = lists(20_000);
  let file: string;
  beforeAll(async () => {
    file = join(gateway.stateDir, "deep.json");
    await writeFile(file, `{"a":${deep}}`);
  });

  async function svc(...argv: string[]): Promise<{ code: number; err: string }> {
    let err = "";
    const code = await runCommandLine(argv, {
      env: { HOME: gateway.stateDir, SVC_STATE_DIR: gateway.stateDir },
      cwd: gateway.stateDir,
      stdout: { write: () => true },
      stderr: { write: (part: string) => (err += part) },
      interrupt: () => ({ signal: new AbortController().signal, exitCode: (n: number) => n, dispose: () => undefined }),
    });
    return { code, err };
  }

  test.each<[string, () => string[], number]>([
    ["gateway call", () => ["gateway", "call", "health", "--params", `{"a":${deep}}`], 2],
    ["config set", () => ["config", "set", "logging.level", deep], 2],
    ["config set --expect", () => ["config", "set", "logging.level", "debug", "--expect", deep], 2],
    ["config patch", () => ["config", "patch", "--file", file], 1],
    ["hooks test", () => ["hooks", "test", "any", "--payload", file], 2],
  ])("%s", async (_, argv, code) => {
    const ended = await svc(...argv());
    expect([ended.code, ended.err]).toEqual([code, expect.stringMatching(/nested (too deeply|deeper than 64 levels)/)]);
    expect(ended.err).not.toContain("fault of svc");
  });
});
