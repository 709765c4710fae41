import { createCall } from "./call.ts";

const answer =
  'data: {"id":"r","choices":[{"index":0,"delta":{"role":"assistant","content":"."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** One turn with a server that is not there: what is compiled at the first answer is compiled before somebody waits for one. */
export async function rehearse(): Promise<void> {
  const settings = { id: "rehearsal", name: "rehearsal", baseUrl: "", headers: {}, timeoutMs: 0, firstAnswerMs: 0, models: [] };
  const call = createCall(settings, { url: "", headers: {} }, async () => new Response(answer));
  const context = { agentId: "", sessionKey: "", runId: "" };
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "." }] }];
  for await (const _ of call({ model: "rehearsal", system: ".", messages, tools: [], context }, new AbortController().signal));
}
