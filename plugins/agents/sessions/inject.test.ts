import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, record } from "../../../test/fixtures/agents-gateway.ts";

let gw: AgentsGateway;

beforeAll(async () => {
  gw = await createAgentsGateway();
}, 120_000);
afterAll(() => gw.close());

const inject = (note: { agentId?: string; sessionKey?: string; text: string; id: string; label?: string }) =>
  gw.service("agents@1").inject(note);

describe("a note of another plugin", () => {
  test("goes to the main session, which is made for it", async () => {
    expect(await gw.service("store@2").sessions.get("agent:echo:main")).toBeUndefined();
    expect(await inject({ agentId: "echo", text: "The build is green.", id: "n1" })).toEqual({ messageId: "n1", isKnown: false });

    expect(await gw.history("agent:echo:main")).toMatchObject([
      { role: "assistant", text: "The build is green.", __svc: { id: "n1", kind: "inject" } },
    ]);
    expect(await gw.service("store@2").sessions.get("agent:echo:main")).toMatchObject({ lastMessagePreview: "The build is green." });
    expect((await gw.service("store@2").sessions.get("agent:echo:main"))?.lastInteractionAt).toBeUndefined();
  });

  test("is there once for each id, however often and at whatever time it comes", async () => {
    const note = { sessionKey: "notes", text: "Once.", id: "same" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => inject(note)));
    expect(answers.filter(({ isKnown }) => !isKnown)).toHaveLength(1);
    expect(await inject(note)).toEqual({ messageId: "same", isKnown: true });
    expect((await gw.history("notes")).map(({ text }) => text)).toEqual(["Once."]);
  });

  test("is told as one of chat.inject is", async () => {
    const client = await gw.client();
    const frames = record(client);
    await client.request("sessions.messages.subscribe", { key: "agent:main:told" });
    await inject({ sessionKey: "told", text: "Hello.", id: "t1", label: "CI" });
    await client.request("chat.inject", { sessionKey: "told", message: "Hello.", label: "CI" });
    await client.request("health", {});

    const chats = frames
      .filter(({ event }) => event === "chat")
      .map(({ payload: { runId: _, message, ...rest } }) => ({ ...rest, text: (message as { content: unknown }).content }));
    expect(chats).toHaveLength(2);
    expect(chats[0]).toEqual(chats[1]);
    expect(chats[0]).toMatchObject({ state: "final", text: [{ type: "text", text: "[CI]\n\nHello." }] });
    expect(frames.filter(({ event }) => event === "session.message")).toHaveLength(2);
  });

  test("names an agent that is there", async () => {
    await expect(inject({ agentId: "nobody", text: "x", id: "x" })).rejects.toMatchObject({ code: "unknown-agent" });
  });
});
