import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelRequest } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeEach, expect, test } from "vitest";

let gw: TestGateway | undefined;
afterAll(() => gw?.close());
const used = (input: number) => ({ input, output: 0, cacheRead: 0, cacheWrite: 0, total: input });
let result: string;
beforeEach(() => {
  result = "";
});

async function open(image: object): Promise<TestGateway> {
  const blind = fakeModel(
    Array.from({ length: 4 }, () => (request: ModelRequest) => {
      const last = request.messages.at(-1);
      if (last?.role !== "tool")
        return { toolCalls: [{ name: "image", args: { path: "cat.png", question: "What is it?" } }], usage: used(1) };
      result = last.text;
      return { text: "done", usage: used(2) };
    }),
  );
  const seer = fakeModel([{ text: "a grey cat", usage: used(100) }], { id: "seer", info: { input: ["text", "image"] } });
  return createTestGateway({
    plugins: ["store", "agents", "tools-web"],
    models: [blind, seer],
    config: {
      agents: { list: [{ id: "main", model: "fake/script" }] },
      plugins: { entries: { "tools-web": { config: { image } } } },
    },
  });
}

async function ask(gateway: TestGateway) {
  const agents = gateway.service("agents@1");
  const folder = agents.list()[0]?.workspace ?? "";
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "cat.png"), Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1"));
  const run = await agents.run({ message: "look", trigger: "user", actor: { kind: "internal", scopes: [] } });
  return run.done;
}

test("an agent whose model is blind looks through another one; its tokens are those of the run", async () => {
  gw = await open({ model: "seer/script" });
  const { usage } = await ask(gw);
  expect(result).toContain("a grey cat");
  expect(usage.input).toBe(103);
});

test("without a model that sees the agent is told so", async () => {
  await gw?.close();
  gw = await open({});
  await ask(gw);
  expect(result).toContain("no model that sees is configured");
});
