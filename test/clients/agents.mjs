import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { apiKey, askedFor, baseURL, joined, query, statusOf, weather } from "./shared.mjs";

setTracingDisabled(true);
const tools = [tool({ name: "weather", description: "Weather.", parameters: query, execute: weather })];
const agent = new Agent({ name: "A", model: "svc", instructions: "Be brief." });
const caller = new Agent({ name: "A", model: "svc/caller", tools });
const writer = new Agent({ name: "A", model: "svc/writer", outputType: query });

/** The calls of one API; `api` is its name in front of each. */
function callsOf(api, options) {
  const runner = (key = apiKey) => {
    const openAIClient = new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
    return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, ...options }), tracingDisabled: true });
  };
  return {
    [api]: async () => (await runner().run(agent, "hi")).finalOutput,
    async [`${api}, streamed`]() {
      const result = await runner().run(agent, "hi", { stream: true });
      const text = await joined(result.toTextStream(), (delta) => delta);
      await result.completed;
      return text;
    },
    async [`${api}, tools`]() {
      return [(await runner().run(caller, "Bern?")).finalOutput, askedFor()];
    },
    async [`${api}, tools, streamed`]() {
      const result = await runner().run(caller, "Bern?", { stream: true });
      await result.completed;
      return [result.finalOutput, askedFor()];
    },
    [`${api}, structured`]: async () => (await runner().run(writer, "hi")).finalOutput,
    async [`${api}, next turn`]() {
      const first = await runner().run(agent, "one");
      return (await runner().run(agent, [...first.history, { role: "user", content: "two" }])).finalOutput;
    },
    [`${api}, wrong key`]: () => statusOf(runner("wrong").run(agent, "hi")),
  };
}

const responses = callsOf("responses", {});
export const agents = {
  ...callsOf("chat", { useResponses: false }),
  ...responses,
  async "responses, next turn by id"() {
    const modelProvider = new OpenAIProvider({ openAIClient: new OpenAI({ baseURL, apiKey }) });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const { lastResponseId } = await runner.run(agent, "one");
    return (await runner.run(agent, "two", { previousResponseId: lastResponseId })).finalOutput;
  },
};
