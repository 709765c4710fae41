import OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { apiKey, askedFor, baseURL, joined, pixel, query, statusOf, texts, weather } from "./shared.mjs";

const client = new OpenAI({ baseURL, apiKey });
const stranger = new OpenAI({ baseURL, apiKey: "wrong" });
const messages = (content) => [{ role: "user", content }];
const tools = [zodResponsesFunction({ name: "weather", parameters: query })];

async function answered(first) {
  const [call] = first.output;
  const output = [{ type: "function_call_output", call_id: call.call_id, output: "sunny" }];
  const next = await client.responses.create({ model: "svc/caller", input: output, previous_response_id: first.id, tools });
  return [next.output_text, [call.parsed_arguments]];
}

export const official = {
  models: async () => (await client.models.list()).data.map(({ id }) => id),
  chat: async () => (await client.chat.completions.create({ model: "svc", messages: messages("hi") })).choices[0].message.content,
  "chat, streamed": async () =>
    joined(
      await client.chat.completions.create({ model: "svc", messages: messages("hi"), stream: true }),
      (chunk) => chunk.choices[0]?.delta.content,
    ),
  async "chat, tools"() {
    const tool = zodFunction({ name: "weather", parameters: query, function: weather });
    const runner = client.chat.completions.runTools({ model: "svc/caller", messages: messages("Bern?"), tools: [tool] });
    return [await runner.finalContent(), askedFor()];
  },
  async "chat, tools, streamed"() {
    const tool = zodFunction({ name: "weather", parameters: query, function: weather });
    const runner = client.chat.completions.runTools({ model: "svc/caller", messages: messages("Bern?"), tools: [tool], stream: true });
    return [await runner.finalContent(), askedFor()];
  },
  async "chat, structured"() {
    const format = { response_format: zodResponseFormat(query, "thing") };
    return (await client.chat.completions.parse({ model: "svc/writer", messages: messages("hi"), ...format })).choices[0].message.parsed;
  },
  async "chat, picture"() {
    const content = [
      { type: "text", text: "what?" },
      { type: "image_url", image_url: { url: pixel } },
    ];
    return (await client.chat.completions.create({ model: "svc", messages: messages(content) })).choices[0].message.content;
  },
  "chat, wrong key": () => statusOf(stranger.chat.completions.create({ model: "svc", messages: messages("hi") })),
  responses: async () => (await client.responses.create({ model: "svc", input: "hi" })).output_text,
  "responses, streamed": async () => (await client.responses.stream({ model: "svc", input: "hi" }).finalResponse()).output_text,
  "responses, tools": async () => answered(await client.responses.parse({ model: "svc/caller", input: "Bern?", tools })),
  "responses, tools, streamed": async () =>
    answered(await client.responses.stream({ model: "svc/caller", input: "Bern?", tools }).finalResponse()),
  "responses, structured": async () =>
    (await client.responses.parse({ model: "svc/writer", input: "hi", text: { format: zodTextFormat(query, "thing") } })).output_parsed,
  "responses, next turn by id": async () => {
    const { id } = await client.responses.create({ model: "svc", input: "one" });
    return (await client.responses.create({ model: "svc", input: "two", previous_response_id: id })).output_text;
  },
  "responses, wrong key": () => statusOf(stranger.responses.create({ model: "svc", input: "hi" })),
  embeddings: async () => (await client.embeddings.create({ model: "svc", input: texts })).data.map(({ embedding }) => embedding.length),
};
