// Calls of the OpenAI API by client libraries that others write, each with the defaults of its library. `node calls.mjs <base URL>`, with the key in
// OPENAI_API_KEY, prints one line of JSON per call: {client, call, result} or {client, call, error}.
import { agents } from "./agents.mjs";
import { aiSdkCompatible, aiSdkOpenai } from "./ai-sdk.mjs";
import { instructor } from "./instructor.mjs";
import { langchain } from "./langchain.mjs";
import { llamaindex } from "./llamaindex.mjs";
import { official } from "./official.mjs";

const clients = {
  openai: official,
  "@ai-sdk/openai-compatible": aiSdkCompatible,
  "@ai-sdk/openai": aiSdkOpenai,
  "@langchain/openai": langchain,
  "@llamaindex/openai": llamaindex,
  "@openai/agents": agents,
  "@instructor-ai/instructor": instructor,
};

for (const [client, calls] of Object.entries(clients)) {
  for (const [call, make] of Object.entries(calls)) {
    const line = await make().then(
      (result) => ({ client, call, result }),
      (error) => ({ client, call, error: String(error?.stack ?? error).slice(0, 2_000) }),
    );
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}
