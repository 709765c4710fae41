import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const answer =
  'data: {"id":"r","choices":[{"index":0,"delta":{"role":"assistant","content":"."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** One turn with a server that is not there: what the package compiles at its first answer is compiled before somebody waits for one. */
export async function rehearse(): Promise<void> {
  const vendor = createOpenAICompatible({
    name: "rehearsal",
    baseURL: "http://rehearsal.invalid/v1",
    includeUsage: true,
    fetch: async () => new Response(answer, { headers: { "content-type": "text/event-stream" } }),
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "." }] }];
  const { stream } = await vendor.chatModel("rehearsal").doStream({ prompt });
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}
