import { createAnthropic } from "@ai-sdk/anthropic";

const usage = { input_tokens: 1, output_tokens: 1 };
const events = [
  { type: "message_start", message: { id: "r", type: "message", role: "assistant", model: "rehearsal", content: [], usage } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
  { type: "message_stop" },
];
const answer = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

/** One turn with a server that is not there: what the package compiles at its first answer is compiled before somebody waits for one. */
export async function rehearse(): Promise<void> {
  const vendor = createAnthropic({
    baseURL: "http://rehearsal.invalid/v1",
    apiKey: "none",
    fetch: async () => new Response(answer, { headers: { "content-type": "text/event-stream" } }),
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "." }] }];
  const { stream } = await vendor.chat("rehearsal").doStream({ prompt, maxOutputTokens: 1 });
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}
