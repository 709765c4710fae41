import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embedMany, generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { apiKey, askedFor, baseURL, joined, pixel, query, statusOf, texts, weather } from "./shared.mjs";

const compatible = (key = apiKey) => createOpenAICompatible({ name: "svc", baseURL, apiKey: key });
const openai = (key = apiKey) => createOpenAI({ baseURL, apiKey: key });
const withTools = {
  prompt: "Bern?",
  tools: { weather: tool({ description: "Weather.", inputSchema: query, execute: weather }) },
  stopWhen: stepCountIs(3),
};
const picture = [
  { type: "text", text: "what?" },
  { type: "image", image: pixel },
];

/** The calls of one API; `api` is its name in front of each. */
function callsOf(api, provider) {
  return {
    [api]: async () => (await generateText({ model: provider()("svc"), prompt: "hi" })).text,
    [`${api}, streamed`]: () => joined(streamText({ model: provider()("svc"), prompt: "hi" }).textStream, (delta) => delta),
    async [`${api}, tools`]() {
      return [(await generateText({ model: provider()("svc/caller"), ...withTools })).text, askedFor()];
    },
    async [`${api}, tools, streamed`]() {
      return [await streamText({ model: provider()("svc/caller"), ...withTools }).text, askedFor()];
    },
    [`${api}, structured`]: async () => (await generateObject({ model: provider()("svc/writer"), schema: query, prompt: "hi" })).object,
    [`${api}, picture`]: async () =>
      (await generateText({ model: provider()("svc"), messages: [{ role: "user", content: picture }] })).text,
    async [`${api}, next turn`]() {
      const first = await generateText({ model: provider()("svc"), prompt: "one" });
      const messages = [{ role: "user", content: "one" }, ...first.response.messages, { role: "user", content: "two" }];
      return (await generateText({ model: provider()("svc"), messages })).text;
    },
    [`${api}, wrong key`]: () => statusOf(generateText({ model: provider("wrong")("svc"), prompt: "hi", maxRetries: 0 })),
    embeddings: async () =>
      (await embedMany({ model: provider().textEmbeddingModel("svc"), values: texts })).embeddings.map((vector) => vector.length),
  };
}

export const aiSdkCompatible = callsOf("chat", compatible);
export const aiSdkOpenai = callsOf("responses", openai);
