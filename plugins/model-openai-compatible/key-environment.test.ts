import { definePlugin } from "svc/sdk";
import { createTestGateway } from "svc/sdk/testing";
import { expect, test } from "vitest";

test("a vendor is there when its key is in the gateway's environment or in the plugin's own", async () => {
  let list: () => string[] = () => [];
  const reader = definePlugin({
    id: "reader",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(ctx) {
      list = () => [...ctx.contributions("modelProvider")].map((c) => c.id).sort();
    },
  });
  const own = { "model-openai-compatible": { env: { GROQ_API_KEY: "key-of-the-entry" } } };
  const gateway = await createTestGateway({
    plugins: ["model-openai-compatible", reader],
    env: { MISTRAL_API_KEY: "key-of-the-gateway" },
    config: { plugins: { entries: own } },
  });
  try {
    expect(list()).toEqual(["groq", "mistral"]);
    await gateway.reload({});
    expect(list()).toEqual(["mistral"]);
  } finally {
    await gateway.close();
  }
});
