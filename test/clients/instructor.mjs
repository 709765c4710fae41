import Instructor from "@instructor-ai/instructor";
import OpenAI from "openai";
import { z } from "zod/v3";
import { apiKey, baseURL, statusOf } from "./shared.mjs";

const query = z.object({ query: z.string() });
const ask = (mode, model, { key = apiKey, ...more } = {}) => {
  const client = new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
  const request = { model, messages: [{ role: "user", content: "hi" }], response_model: { schema: query, name: "Thing" }, ...more };
  return Instructor({ client, mode }).chat.completions.create(request);
};
const plain = ({ query: text }) => ({ query: text });

export const instructor = {
  "chat, structured": async () => plain(await ask("JSON_SCHEMA", "svc/writer")),
  "chat, structured as JSON": async () => plain(await ask("JSON", "svc/writer")),
  "chat, structured by a tool": async () => plain(await ask("TOOLS", "svc/caller")),
  "chat, structured by a function": async () => plain(await ask("FUNCTIONS", "svc/caller")),
  async "chat, structured, streamed"() {
    let last;
    for await (const part of await ask("TOOLS", "svc/caller", { stream: true })) last = part;
    return plain(last);
  },
  "chat, wrong key": () => statusOf(ask("TOOLS", "svc", { key: "wrong" })),
};
