import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { createFakeOpenAiEmbeddings, type FakeOpenAiEmbeddings } from "../../test/fakes/embedding-openai.ts";
import { okText } from "../../test/fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../../test/fakes/openai-server.ts";
import { needsClients, needsPython } from "../../test/servers/clients.ts";

const folder = join(import.meta.dirname, "../../test/clients");
const { describe, test } = needsClients(folder);
const { python, version, test: testPython } = needsPython(join(folder, "python"));
const page = join(import.meta.dirname, "../../sdk/docs/openai-clients.md");

interface Line {
  client: string;
  call: string;
  result?: unknown;
  error?: string;
}

const structured = { query: "hi" };
const answeredTool = [okText, [{ query: "Bern?" }]];
/** Results of each call, the same whatever the library: by the name of the call, without that of its API. */
const results: Readonly<Record<string, unknown>> = {
  "": okText,
  streamed: okText,
  tools: answeredTool,
  "tools, streamed": answeredTool,
  structured,
  "structured as JSON": structured,
  "structured by a tool": structured,
  "structured by a function": structured,
  "structured, streamed": structured,
  picture: okText,
  "next turn": okText,
  "next turn by id": okText,
  "wrong key": 401,
  models: ["svc", "svc/default", "svc/main", "svc/caller", "svc/writer"],
  embeddings: [4, 4],
};
const resultOf = (call: string) => results[call.replace(/^(chat|responses)(, |$)/, "")];

describe("a client library with its defaults", () => {
  let vendor: FakeOpenAi;
  let embedder: FakeOpenAiEmbeddings;
  let gateway: TestGateway;
  let lines: Line[];
  let pythonLines: Line[] | undefined;

  beforeAll(async () => {
    vendor = await startFakeOpenAi();
    embedder = await createFakeOpenAiEmbeddings();
    const models = ["ok", "tool", "json"].map((id) => ({ id }));
    const remote = { baseUrl: embedder.url, apiKey: embedder.apiKey };
    const memorySearch = { provider: "openai", remote, outputDimensionality: 4, enabled: false };
    const list = [
      { id: "main", model: "lab/ok", memorySearch },
      { id: "caller", model: "lab/tool", tools: { profile: "minimal" as const } },
      { id: "writer", model: "lab/json" },
    ];
    gateway = await createTestGateway({
      plugins: ["store", "agents", "memory-core", "embed-openai", "model-openai-compatible", "openai-http"],
      config: { agents: { list }, models: { providers: { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey, models } } } },
    });
    lines = await calledBy(process.execPath, "calls.mjs");
  });

  async function calledBy(program: string, script: string): Promise<Line[]> {
    const env = { PATH: process.env.PATH, OPENAI_API_KEY: gateway.token };
    const { stdout } = await promisify(execFile)(program, [join(folder, script), `${gateway.url}/v1`], { env, timeout: 120_000 });
    // Some libraries talk, too.
    const said = stdout.split("\n").filter((line) => line.startsWith('{"client"'));
    return said.map((line) => JSON.parse(line) as Line);
  }

  afterAll(async () => {
    await gateway?.close();
    await vendor?.close();
    await embedder?.close();
  });

  test("gets what it asks for, whatever the call", () => {
    expect(lines.length).toBeGreaterThan(60);
    expect(wrongOf(lines)).toEqual([]);
  });

  test("gives the model what was said before, whatever form it has", () => {
    const turns = vendor.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => (body as { messages: Array<{ role: string; content: unknown }> }).messages.slice(1))
      .filter((messages) => messages.at(-1)?.content === "two")
      .map((messages) => messages.map(({ content }) => content));

    const asked = lines.filter(({ call }) => call.includes("next turn"));
    expect(turns).toEqual(asked.map(({ client }) => ["one", /langchain|llamaindex/.test(client) ? "1" : okText, "two"]));
  });

  testPython("in Python gets what it asks for, too", async () => {
    pythonLines = await calledBy(python, "python/calls.py");
    expect(pythonLines.length).toBeGreaterThan(15);
    expect(wrongOf(pythonLines)).toEqual([]);
  });

  test("is in the table of the docs, with every call that was made", async () => {
    const inPython = pythonLines ? pythonTable(pythonLines) : readFileSync(page, "utf8").split(/(?=^## Python$)/m)[1];
    await expect(`${tableOf(lines)}\n${inPython}`).toMatchFileSnapshot(page);
  });
});

/** Lines with another result than their call should have. */
function wrongOf(lines: readonly Line[]): Line[] {
  return lines.filter(({ call, result, error }) => error !== undefined || JSON.stringify(result) !== JSON.stringify(resultOf(call)));
}

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

/** The calls of a library that not every machine has: where it is missing, the table stays as it was written last. */
function pythonTable(lines: readonly Line[]): string {
  const calls = lines.map(({ call }) => row([call, "yes"])).sort();
  return `${["## Python", "", row(["Call", `\`openai\` ${version} (PyPI)`]), row(["---", "---"]), ...calls].join("\n")}\n`;
}

/** A page with a row for each call and a column for each library. */
function tableOf(lines: readonly Line[]): string {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  const clients = [...new Set(lines.map(({ client }) => client))];
  const calls = [...new Set(lines.map(({ call }) => call))].sort();
  const cell = (client: string, call: string) => (lines.some((line) => line.client === client && line.call === call) ? "yes" : "");
  return `${[
    "# Clients of the OpenAI API",
    "",
    "Every call below was made by the library with its defaults, a base URL and a key, against a gateway with a scripted model, and brought the right answer. An empty cell is a call that",
    "the library does not have, or that was not tried. Written by `plugins/openai-http/clients.test.ts`.",
    "",
    row(["Call", ...clients.map((client) => `\`${client}\` ${dependencies[client]}`)]),
    row(["---", ...clients.map(() => "---")]),
    ...calls.map((call) => row([call, ...clients.map((client) => cell(client, call))])),
  ].join("\n")}\n`;
}
