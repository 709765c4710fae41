import { OpenAIEmbedding, openai } from "@llamaindex/openai";
import { agent } from "@llamaindex/workflow";
import { tool } from "llamaindex";
import { apiKey, askedFor, baseURL, joined, pixel, query, statusOf, texts, weather } from "./shared.mjs";

const llm = (model, key = apiKey) => openai({ model, apiKey: key, baseURL, maxRetries: 0 });
const messages = (content) => [{ role: "user", content }];
const tools = [tool({ name: "weather", description: "Weather.", parameters: query, execute: weather })];
const picture = [
  { type: "text", text: "what?" },
  { type: "image_url", image_url: { url: pixel } },
];

export const llamaindex = {
  chat: async () => (await llm("svc").chat({ messages: messages("hi") })).message.content,
  "chat, streamed": async () => joined(await llm("svc").chat({ messages: messages("hi"), stream: true }), ({ delta }) => delta),
  async "chat, tools, streamed"() {
    const { data } = await agent({ llm: llm("svc/caller"), tools }).run("Bern?");
    return [data.result, askedFor()];
  },
  async "chat, structured"() {
    const { message } = await llm("svc/writer").chat({ messages: messages("hi"), responseFormat: query });
    return JSON.parse(message.content);
  },
  "chat, picture": async () => (await llm("svc").chat({ messages: messages(picture) })).message.content,
  "chat, next turn": async () =>
    (await llm("svc").chat({ messages: [...messages("one"), { role: "assistant", content: "1" }, ...messages("two")] })).message.content,
  "chat, wrong key": () => statusOf(llm("svc", "wrong").chat({ messages: messages("hi") })),
  embeddings: async () =>
    (await new OpenAIEmbedding({ model: "svc", apiKey, baseURL }).getTextEmbeddings(texts)).map((vector) => vector.length),
};
