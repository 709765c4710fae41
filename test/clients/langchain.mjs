import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { apiKey, baseURL, joined, pixel, query, statusOf, texts, weather } from "./shared.mjs";

const configuration = { baseURL };
const weatherTool = tool(weather, { name: "weather", description: "Weather.", schema: query });
const picture = [
  { type: "text", text: "what?" },
  { type: "image_url", image_url: { url: pixel } },
];

/** The calls of one API; `api` is its name in front of each. */
function callsOf(api, options) {
  const chat = (model, key = apiKey) => new ChatOpenAI({ model, apiKey: key, configuration, maxRetries: 0, ...options });
  const answered = async (model, first) => {
    const [call] = first.tool_calls;
    const result = new ToolMessage({ content: "sunny", tool_call_id: call.id });
    return [(await model.invoke([new HumanMessage("Bern?"), first, result])).text, [call.args]];
  };
  return {
    [api]: async () => (await chat("svc").invoke("hi")).text,
    [`${api}, streamed`]: async () => joined(await chat("svc").stream("hi"), (chunk) => chunk.text),
    async [`${api}, tools`]() {
      const model = chat("svc/caller").bindTools([weatherTool]);
      return answered(model, await model.invoke("Bern?"));
    },
    async [`${api}, tools, streamed`]() {
      const model = chat("svc/caller").bindTools([weatherTool]);
      let whole;
      for await (const chunk of await model.stream("Bern?")) whole = whole ? whole.concat(chunk) : chunk;
      return answered(model, new AIMessage({ content: "", tool_calls: whole.tool_calls }));
    },
    [`${api}, structured`]: () => chat("svc/writer").withStructuredOutput(query, { method: "jsonSchema" }).invoke("hi"),
    [`${api}, picture`]: async () => (await chat("svc").invoke([new HumanMessage({ content: picture })])).text,
    [`${api}, next turn`]: async () =>
      (await chat("svc").invoke([new HumanMessage("one"), new AIMessage("1"), new HumanMessage("two")])).text,
    [`${api}, wrong key`]: () => statusOf(chat("svc", "wrong").invoke("hi")),
  };
}

export const langchain = {
  ...callsOf("chat", {}),
  ...callsOf("responses", { useResponsesApi: true }),
  async embeddings() {
    const vectors = await new OpenAIEmbeddings({ model: "svc", apiKey, configuration, maxRetries: 0 }).embedDocuments(texts);
    return vectors.map((vector) => vector.length);
  },
};
