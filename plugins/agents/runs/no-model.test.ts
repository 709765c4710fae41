import { createTestGateway } from "svc/sdk/testing";
import { expect, test } from "vitest";

test("where no model answers a run fails at once, and says what to do", async () => {
  const gw = await createTestGateway({ plugins: ["store", "agents"], config: { agents: { defaults: { skipBootstrap: true } } } });
  try {
    const client = await gw.client();
    const asked = client.request("agent", { message: "hi", idempotencyKey: "k1" }, { onAccepted: () => undefined });

    await expect(asked).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "no language model is available; add one under models.providers",
      details: { code: "NO_MODEL" },
      payload: { runId: "k1", status: "error" },
    });
  } finally {
    await gw.close();
  }
});
