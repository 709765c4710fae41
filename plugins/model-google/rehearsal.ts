import { createGoogleGenerativeAI } from "@ai-sdk/google";

const chunk = { candidates: [{ content: { role: "model", parts: [{ text: "." }] }, finishReason: "STOP", index: 0 }] };

/** One turn with a server that is not there: what the package compiles at its first answer is compiled before somebody waits for one. */
export async function rehearse(): Promise<void> {
  const vendor = createGoogleGenerativeAI({
    baseURL: "http://rehearsal.invalid/v1beta",
    apiKey: "none",
    fetch: async () => new Response(`data: ${JSON.stringify(chunk)}\n\n`, { headers: { "content-type": "text/event-stream" } }),
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "." }] }];
  const { stream } = await vendor.chat("rehearsal").doStream({ prompt });
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}
