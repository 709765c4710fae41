import { createTestGateway, eventually } from "svc/sdk/testing";
import { expect, test } from "vitest";

test("a gateway without any language model answers from the notes and cites them", async () => {
  const gateway = await createTestGateway({
    plugins: ["store", "agents", "memory-core", "model-recall", "openai-http"],
    workspace: {
      "MEMORY.md": "# Memory\n\n- The dentist is Dr. Example, phone 555-0100.\n",
      "memory/home/network.md": "# Network\n\nThe router stands in the hall cupboard.\nAdmin page: 192.168.1.1\n",
      "memory/garden.md": "# Garden\n\nTomatoes go out after the frost.\n",
    },
  });
  try {
    const ask = async (content: string) => {
      const body = JSON.stringify({ messages: [{ role: "user", content }] });
      const response = await gateway.fetch("/v1/chat/completions", { method: "POST", body });
      const answer = (await response.json()) as { choices: Array<{ message: { content: string } }> };
      return answer.choices[0]?.message.content;
    };

    const found = await ask("Where does the router stand?");
    expect(found).toContain("> The router stands in the hall cupboard.");
    expect(found).toMatch(/^Source: memory\/home\/network\.md#L\d+-L\d+$/m);
    expect(found).not.toContain("Tomatoes");
    expect(found?.match(/No language model is configured/g)).toHaveLength(1);

    expect(await ask("zymurgy?")).toContain("There is nothing about this in the notes");
  } finally {
    await gateway.close();
  }
});

test("a wake without a language model brings the event into the main chat, and no quotes of unrelated notes", async () => {
  const gateway = await createTestGateway({
    plugins: ["store", "agents", "memory-core", "model-recall"],
    workspace: { "MEMORY.md": "# Memory\n\n- Check the boiler periodically; nobody is at home on Mondays.\n" },
  });
  try {
    const socket = await gateway.ws();
    await gateway.rpc("wake", { mode: "now", text: "The parcel has come." });
    const report = await eventually(() => socket.events.find(({ event }) => event === "heartbeat"));
    expect(report.payload).toMatchObject({ preview: "> The parcel has come." });
    const { messages } = await gateway.rpc<{ messages: Array<{ role: string; content: unknown }> }>("chat.history", { sessionKey: "main" });
    expect(messages.filter(({ role }) => role === "assistant").map(({ content }) => content)).toEqual([
      [{ type: "text", text: "> The parcel has come." }],
    ]);
  } finally {
    await gateway.close();
  }
});
