import { createOpenAI } from "@ai-sdk/openai";

const events = [
  { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m" } },
  { type: "response.output_text.delta", item_id: "m", delta: "." },
  { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 1 } } },
];
const answer = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

/** One turn with a server that is not there: what the package compiles at its first answer is compiled before somebody waits for one. */
export async function rehearse(): Promise<void> {
  const vendor = createOpenAI({
    baseURL: "http://rehearsal.invalid/v1",
    apiKey: "none",
    fetch: async () => new Response(answer, { headers: { "content-type": "text/event-stream" } }),
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "." }] }];
  const { stream } = await vendor.responses("rehearsal").doStream({ prompt });
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}
