import type { JsonObject } from "svc/sdk";
import { createTestGateway, type FakeModel, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spoken } from "../../../test/fixtures/spoken.ts";

const answers = Array.from({ length: 10 }, () => "Read.");
const reader = fakeModel(answers, { id: "reader", info: { input: ["text", "pdf"] } });
const writer = fakeModel(answers, { id: "writer" });
const base64 = (text: string) => Buffer.from(text, "latin1").toString("base64");
const content = base64("%PDF-1.7");

let gw: TestGateway;
beforeAll(async () => {
  const defaults = { skipBootstrap: true, model: "reader/script" };
  gw = await createTestGateway({ plugins: ["store", "agents"], models: [reader, writer], config: { agents: { defaults } } });
});
afterAll(() => gw.close());

async function ask(params: JsonObject): Promise<void> {
  const client = await gw.client();
  const request = { idempotencyKey: crypto.randomUUID(), ...params };
  await client.request<JsonObject>("agent" as string, request, { onAccepted: () => undefined });
}

function firstSeenBy({ requests }: FakeModel): unknown {
  return spoken(requests.at(-1)?.messages ?? []).find((message) => message.role === "user")?.content;
}

const attachments = [{ type: "file", mimeType: "application/pdf", fileName: "report.pdf", content }];
const file = { type: "file", mimeType: "application/pdf", data: content, fileName: "report.pdf" };

test("a PDF goes to the model that reads it, in later turns too, and another model gets its name", async () => {
  await ask({ sessionKey: "pdf", message: "Read this.", attachments });
  expect(firstSeenBy(reader)).toEqual([{ type: "text", text: "Read this." }, file]);

  await ask({ sessionKey: "pdf", message: "Once more." });
  expect(firstSeenBy(reader)).toEqual([{ type: "text", text: "Read this." }, file]);

  await ask({ sessionKey: "pdf", message: "And you?", model: "writer/script" });
  expect(firstSeenBy(writer)).toContainEqual({ type: "text", text: "[file report.pdf, which this model cannot read]" });
});

test("a message may be a file alone, also by chat.send, and stands in the history", async () => {
  await gw.rpc("chat.send", { sessionKey: "alone", message: "", attachments, idempotencyKey: "alone-1" });
  expect(await gw.rpc("agent.wait", { runId: "alone-1" })).toMatchObject({ status: "ok" });
  const { messages } = await gw.rpc<{ messages: unknown[] }>("chat.history", { sessionKey: "alone" });
  expect(messages[0]).toMatchObject({ role: "user", content: [file] });
});

test("a file that is not what its type says is refused, and nothing is stored", async () => {
  const lie = { ...attachments[0], content: base64("GIF89a") };
  await expect(ask({ sessionKey: "lie", message: "Read this.", attachments: [lie] })).rejects.toThrow("does not begin as application/pdf");
  expect(await gw.rpc("chat.history", { sessionKey: "lie" })).toMatchObject({ sessionInfo: null });
});
