import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DoctorFinding } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { needsPackages } from "../../test/servers/vendored.ts";
import { buildChatModel } from "../../test/tools/make-tiny-gguf.mjs";

/** Each letter is a token of the tiny model, so the prompts of an agent are long ones. */
const contextWindow = 32_768;
const configOf = (modelPath: string) => ({
  agents: { defaults: { skipBootstrap: true } },
  gateway: { http: { endpoints: { chatCompletions: { enabled: true } } } },
  models: { providers: { local: { params: { temperature: 0 }, models: [{ id: "tiny", modelPath, contextWindow, maxTokens: 40 }] } } },
});

const packages = await needsPackages("local-runtime");
packages.describe("a gateway with a model on this machine", runWithModel);

function runWithModel(): void {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({
      plugins: ["store", "agents", "openai-http", "local-runtime", "model-local", "model-recall"],
      config: configOf("tiny.gguf"),
    });
    await writeFile(join(gateway.stateDir, "tiny.gguf"), buildChatModel({ ctx: contextWindow }));
  });
  afterAll(() => gateway.close());

  const complete = (body: object) =>
    gateway.fetch("/v1/chat/completions", { method: "POST", body: JSON.stringify({ model: "svc", ...body }) });
  const hello = [{ role: "user", content: "hello" }];

  test("an agent answers with it though no agent names a model", async () => {
    const client = await gateway.client();
    const { result } = (await client.request(
      "agent",
      { message: "hello", idempotencyKey: crypto.randomUUID() },
      { onAccepted: () => undefined },
    )) as { result: { payloads: Array<{ text: string }>; meta: { agentMeta: object } } };
    expect(result.meta.agentMeta).toMatchObject({ provider: "local", model: "tiny" });
    expect(result.payloads[0]?.text).not.toBe("");
  });

  test("tokens stream over HTTP, the answer ends at its length, and usage says what was read before", async () => {
    const body = { messages: hello, max_tokens: 20, stream: true, stream_options: { include_usage: true } };
    await (await complete(body)).text();
    const response = await complete(body);
    const events = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
    const chunks = events.map(
      (line) =>
        JSON.parse(line.slice(6)) as { choices: Array<{ delta: { content?: string }; finish_reason: string | null }>; usage?: object },
    );
    expect(chunks.filter(({ choices }) => choices[0]?.delta.content).length).toBeGreaterThan(5);
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(["length"]);
    const usage = chunks.at(-1)?.usage as { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
    expect(usage).toMatchObject({ completion_tokens: 20, prompt_tokens_details: { cached_tokens: expect.any(Number) } });
    expect(usage.prompt_tokens_details.cached_tokens).toBeGreaterThan(usage.prompt_tokens / 2);
  });

  test("a conversation that is too long is refused with its numbers", async () => {
    const response = await complete({ messages: [{ role: "user", content: "hello ".repeat(10_000) }] });
    expect(response.ok).toBe(false);
    expect(await response.text()).toMatch(/the conversation has \d{5} tokens, and the model's context window is 32768/);
  });

  test("the doctor names a file that is not there, and a config without it is in force at once", async () => {
    const found = async () =>
      (await gateway.rpc<{ findings: DoctorFinding[] }>("gateway.doctor")).findings.filter(({ id }) => id === "models/local-unusable");
    expect(await found()).toEqual([]);
    await gateway.reload(configOf("gone.gguf"));
    const path = "models.providers.local.models[id=tiny].modelPath";
    expect(await found()).toMatchObject([
      { path, severity: "error", message: expect.stringContaining("gone.gguf: there is no such file") },
    ]);
    expect((await complete({ messages: hello })).status).toBeGreaterThanOrEqual(400);
    await gateway.reload(configOf("tiny.gguf"));
    expect((await complete({ messages: hello, max_tokens: 5 })).status).toBe(200);
  });
}
