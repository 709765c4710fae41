import { createTestGateway } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { createTalkPlatform, echoModel } from "../../../test/fixtures/talk-platform.ts";

const talk = { token: "good", allowFrom: ["@ada"], accounts: { work: {} } };

test("SVC_SKIP_CHANNELS=1 starts no account: not at a reload, and not by hand", async () => {
  const platform = createTalkPlatform();
  const skipping = await createTestGateway({
    plugins: ["store", "agents", "messaging", platform.plugin],
    models: [echoModel()],
    config: { channels: { talk } },
    env: { SVC_SKIP_CHANNELS: "1" },
  });
  try {
    await skipping.reload({ channels: { talk: { ...talk, token: "another" } } });
    await expect(skipping.rpc("channels.start", { channel: "talk", accountId: "work" })).rejects.toThrow("SVC_SKIP_CHANNELS is 1");
    expect(platform.starts).toEqual([]);
  } finally {
    await skipping.close();
  }
});
