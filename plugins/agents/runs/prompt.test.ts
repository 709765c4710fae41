import { definePlugin, type JsonObject, type Memory, z } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

const model = () => fakeModel(Array.from({ length: 10 }, () => "done"));
const agents = { defaults: { skipBootstrap: true, model: "fake/script" } };

/** The system prompt of one run. */
async function promptOf(gw: TestGateway, asked: ReturnType<typeof model>): Promise<string> {
  const client = await gw.client();
  await client.request<JsonObject>(
    "agent" as string,
    { message: "hi", idempotencyKey: crypto.randomUUID() },
    { onAccepted: () => undefined },
  );
  return asked.requests.at(-1)?.system ?? "";
}

test("answers cite as the memory does, also after a change of the config", async () => {
  const asked = model();
  const memory = { citations: "off" as const };
  gateway = await createTestGateway({ plugins: ["store", "agents", "memory-core"], models: [asked], config: { agents, memory } });
  expect(await promptOf(gateway, asked)).toContain("Do not mention file paths");

  const { hash } = await gateway.rpc<{ hash: string }>("config.get");
  await gateway.rpc("config.patch", { raw: JSON.stringify({ memory: { citations: "on" } }), baseHash: hash });
  expect(await promptOf(gateway, asked)).toContain("Source: <path#Lstart-Lend>");
});

test.each<[string, Partial<Memory> | undefined]>([
  ["a memory", undefined],
  ["a memory that says how it cites", {}],
])("without %s, answers cite in direct chats", async (_, memory) => {
  const asked = model();
  const search = definePlugin<unknown>({
    id: "own-search",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(ctx) {
      ctx.registerTool({ name: "memory_search", description: "Searches.", input: z.object({}), run: () => "" });
      if (memory) ctx.registerService("memory@1", memory as Memory);
    },
  });
  gateway = await createTestGateway({ plugins: ["store", "agents", search], models: [asked], config: { agents } });
  expect(await promptOf(gateway, asked)).toContain("Source: <path#Lstart-Lend>");
});
