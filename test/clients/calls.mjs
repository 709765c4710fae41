// Calls of the OpenAI API by client libraries that others write, each with the defaults of its library. `node calls.mjs <base URL>`, with the key in
// OPENAI_API_KEY, prints one line of JSON per call: {client, call, result} or {client, call, error}.
import { createOpenAI } from "@ai-sdk/openai";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, tool as agentTool, OpenAIProvider, Runner, run, setDefaultOpenAIClient, setTracingDisabled } from "@openai/agents";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

const baseURL = process.argv[2] ?? "";
const apiKey = process.env.OPENAI_API_KEY ?? "";
const query = z.object({ query: z.string() });
const pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";

const provider = createOpenAI({ baseURL, apiKey });
/** Arguments of the calls that a library made of its own accord. */
const asked = [];
const weather = (input) => {
  asked.push(input);
  return "sunny";
};

const aiSdk = {
  text: async () => (await generateText({ model: provider("svc"), prompt: "hi" })).text,
  async stream() {
    let text = "";
    for await (const delta of streamText({ model: provider("svc"), prompt: "hi" }).textStream) text += delta;
    return text;
  },
  async tools() {
    const tools = { weather: tool({ description: "Weather.", inputSchema: query, execute: weather }) };
    const { text, steps } = await generateText({ model: provider("svc/caller"), prompt: "Bern?", tools, stopWhen: stepCountIs(3) });
    return [text, steps.length, asked.splice(0)];
  },
  async "tools, streamed"() {
    const tools = { weather: tool({ description: "Weather.", inputSchema: query, execute: weather }) };
    const { text, steps } = streamText({ model: provider("svc/caller"), prompt: "Bern?", tools, stopWhen: stepCountIs(3) });
    return [await text, (await steps).length, asked.splice(0)];
  },
  object: async () => (await generateObject({ model: provider("svc/writer"), schema: query, prompt: "hi" })).object,
  async picture() {
    const content = [
      { type: "text", text: "what?" },
      { type: "image", image: pixel },
    ];
    return (await generateText({ model: provider("svc"), messages: [{ role: "user", content }] })).text;
  },
  async "next turn"() {
    const first = await generateText({ model: provider("svc"), prompt: "one" });
    const messages = [{ role: "user", content: "one" }, ...first.response.messages, { role: "user", content: "two" }];
    return (await generateText({ model: provider("svc"), messages })).text;
  },
  async "wrong key"() {
    const stranger = createOpenAI({ baseURL, apiKey: "wrong" });
    return generateText({ model: stranger("svc"), prompt: "hi", maxRetries: 0 }).catch(({ statusCode, message }) => [statusCode, message]);
  },
};

setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL, apiKey }));
const agentWeather = agentTool({ name: "weather", description: "Weather.", parameters: query, execute: weather });

const agents = {
  text: async () => (await run(new Agent({ name: "A", model: "svc", instructions: "Be brief." }), "hi")).finalOutput,
  async stream() {
    const result = await run(new Agent({ name: "A", model: "svc" }), "hi", { stream: true });
    let text = "";
    for await (const delta of result.toTextStream()) text += delta;
    await result.completed;
    return text;
  },
  async tools() {
    const result = await run(new Agent({ name: "A", model: "svc/caller", tools: [agentWeather] }), "Bern?");
    return [result.finalOutput, asked.splice(0)];
  },
  async "tools, streamed"() {
    const result = await run(new Agent({ name: "A", model: "svc/caller", tools: [agentWeather] }), "Bern?", { stream: true });
    await result.completed;
    return [result.finalOutput, asked.splice(0)];
  },
  object: async () => (await run(new Agent({ name: "A", model: "svc/writer", outputType: query }), "hi")).finalOutput,
  async "next turn"() {
    const agent = new Agent({ name: "A", model: "svc" });
    const first = await run(agent, "one");
    return (await run(agent, [...first.history, { role: "user", content: "two" }])).finalOutput;
  },
  async "next turn by id"() {
    const agent = new Agent({ name: "A", model: "svc" });
    const { lastResponseId } = await run(agent, "one");
    return (await run(agent, "two", { previousResponseId: lastResponseId })).finalOutput;
  },
  async "wrong key"() {
    const openAIClient = new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 });
    const stranger = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }), tracingDisabled: true });
    return stranger.run(new Agent({ name: "A", model: "svc" }), "hi").catch(({ status, code }) => [status, code]);
  },
};

const chat = (model, key = apiKey) =>
  new ChatOpenAI({ model, apiKey: key, configuration: { baseURL }, useResponsesApi: true, maxRetries: 0 });
const langWeather = langchainTool(weather, { name: "weather", description: "Weather.", schema: query });

const langchain = {
  text: async () => (await chat("svc").invoke("hi")).text,
  async stream() {
    let text = "";
    for await (const chunk of await chat("svc").stream("hi")) text += chunk.text;
    return text;
  },
  async tools() {
    const model = chat("svc/caller").bindTools([langWeather]);
    const first = await model.invoke("Bern?");
    const [call] = first.tool_calls;
    const result = new ToolMessage({ content: "sunny", tool_call_id: call.id });
    return [(await model.invoke([new HumanMessage("Bern?"), first, result])).text, [call.args]];
  },
  async "tools, streamed"() {
    let whole;
    for await (const chunk of await chat("svc/caller").bindTools([langWeather]).stream("Bern?"))
      whole = whole ? whole.concat(chunk) : chunk;
    return whole.tool_calls.map(({ name, args }) => [name, args]);
  },
  object: async () => chat("svc/writer").withStructuredOutput(query, { method: "jsonSchema" }).invoke("hi"),
  async picture() {
    const content = [
      { type: "text", text: "what?" },
      { type: "image_url", image_url: { url: pixel } },
    ];
    return (await chat("svc").invoke([new HumanMessage({ content })])).text;
  },
  "next turn": async () => (await chat("svc").invoke([new HumanMessage("one"), new AIMessage("1"), new HumanMessage("two")])).text,
  "wrong key": async () =>
    chat("svc", "wrong")
      .invoke("hi")
      .catch(({ status, code }) => [status, code]),
};

for (const [client, calls] of Object.entries({ "@ai-sdk/openai": aiSdk, "@openai/agents": agents, "@langchain/openai": langchain })) {
  for (const [call, make] of Object.entries(calls)) {
    const line = await make().then(
      (result) => ({ client, call, result }),
      (error) => ({ client, call, error: String(error?.stack ?? error).slice(0, 2_000) }),
    );
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}
