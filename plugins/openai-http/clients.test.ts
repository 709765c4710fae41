import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { okText } from "../../test/fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../../test/fakes/openai-server.ts";
import { needsClients } from "../../test/servers/clients.ts";

const folder = join(import.meta.dirname, "../../test/clients");
const { describe, test } = needsClients(folder);

interface Line {
  client: string;
  call: string;
  result?: unknown;
  error?: string;
}

const bern = [{ query: "Bern?" }];
/** Results of each call, the same whatever the library; a call that a library does not have is left out. */
const expected: Record<string, Record<string, unknown>> = {
  "@ai-sdk/openai": {
    text: okText,
    stream: okText,
    tools: [okText, 2, bern],
    "tools, streamed": [okText, 2, bern],
    object: { query: "hi" },
    picture: okText,
    "next turn": okText,
    "wrong key": [401, "Unauthorized"],
  },
  "@openai/agents": {
    text: okText,
    stream: okText,
    tools: [okText, bern],
    "tools, streamed": [okText, bern],
    object: { query: "hi" },
    "next turn": okText,
    "next turn by id": okText,
    "wrong key": [401, "invalid_api_key"],
  },
  "@langchain/openai": {
    text: okText,
    stream: okText,
    tools: [okText, bern],
    "tools, streamed": [["weather", bern[0]]],
    object: { query: "hi" },
    picture: okText,
    "next turn": okText,
    "wrong key": [401, "invalid_api_key"],
  },
};

describe("a client library with its defaults", () => {
  let vendor: FakeOpenAi;
  let gateway: TestGateway;
  let lines: Line[];

  beforeAll(async () => {
    vendor = await startFakeOpenAi();
    const models = ["ok", "tool", "json"].map((id) => ({ id }));
    const list = [
      { id: "main", model: "lab/ok" },
      { id: "caller", model: "lab/tool" },
      { id: "writer", model: "lab/json" },
    ];
    gateway = await createTestGateway({
      plugins: ["store", "agents", "model-openai-compatible", "openai-http"],
      config: { agents: { list }, models: { providers: { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey, models } } } },
    });
    const env = { PATH: process.env.PATH, OPENAI_API_KEY: gateway.token };
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "calls.mjs"), `${gateway.url}/v1`], {
      env,
      timeout: 120_000,
    });
    lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
  });

  afterAll(async () => {
    await gateway?.close();
    await vendor?.close();
  });

  test.each(Object.keys(expected))("%s", (client) => {
    const own = lines.filter((line) => line.client === client);

    expect(own.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(Object.fromEntries(own.map(({ call, result }) => [call, result]))).toEqual(expected[client]);
  });

  test("gives the model what was said before, whatever form it has", () => {
    const turns = vendor.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => (body as { messages: Array<{ role: string; content: unknown }> }).messages.slice(1))
      .filter((messages) => messages.at(-1)?.content === "two");

    const said = (answer: string) => ["one", answer, "two"];
    expect(turns.map((messages) => messages.map(({ content }) => content))).toEqual([said(okText), said(okText), said(okText), said("1")]);
  });
});
