import { Agent } from "node:http";
import { ask } from "./chat.mjs";
import { makeHome, spawnGateway } from "./gateway.mjs";
import { loadHttp } from "./http.mjs";
import { spawnVendor } from "./vendor.mjs";

const CALLERS = 8;
const WORDS = { chat: 20_000, turns: 20 };

/** Loads that one part of the gateway is busy with, as in the suites `http` and `chat`. */
export const loads = ["chat", "turns", "models", "embeddings-base64", "embeddings-float"];

/**
 * A gateway and what it takes to keep it busy.
 * @returns `round` does a piece of the work and tells how many `unit` it was
 */
export async function openLoad(name, { program, nodeArgs }) {
  const vendor = await spawnVendor();
  const words = WORDS[name];
  const home = makeHome(words === undefined ? embeddingConfig(vendor) : chatConfig(vendor, words));
  const gateway = await spawnGateway(home, { program, nodeArgs });
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const close = async () => {
    agent.destroy();
    await Promise.all([gateway.stop(), vendor.stop()]);
    home.remove();
  };
  try {
    await gateway.ready();
  } catch (error) {
    await close();
    throw error;
  }
  const work = words === undefined ? httpRound(name, gateway) : chatRound(gateway, { agent, words, isLong: name === "chat" });
  return { pid: gateway.pid, close, ...work };
}

function chatConfig({ baseUrl }, words) {
  return {
    models: { providers: { lab: { baseUrl, apiKey: "bench-only", models: [{ id: `words-${words}` }] } } },
    agents: { defaults: { model: { primary: `lab/words-${words}` } } },
  };
}

function embeddingConfig({ baseUrl }) {
  return { agents: { defaults: { memorySearch: { provider: "openai", remote: { baseUrl, apiKey: "bench-only" } } } } };
}

function chatRound(gateway, { agent, words, isLong }) {
  const turn = async () => {
    const done = await ask(gateway, { agent, model: "svc" });
    if (done.words !== words) throw new Error(`${done.words} of ${words} words came`);
  };
  const caller = async () => {
    for (let i = 0; i < (isLong ? 1 : 10); i += 1) await turn();
  };
  const turns = isLong ? CALLERS : CALLERS * 10;
  return {
    unit: isLong ? "words" : "turns",
    async round() {
      await Promise.all(Array.from({ length: CALLERS }, caller));
      return isLong ? turns * words : turns;
    },
  };
}

function httpRound(name, { url, headers }) {
  const total = 1_000;
  const format = name.startsWith("embeddings-") ? name.slice("embeddings-".length) : undefined;
  const input = "Where is the key of the greenhouse? ".repeat(6);
  const json = format === undefined ? undefined : JSON.stringify({ model: "svc", input, encoding_format: format });
  const path = format === undefined ? "/v1/models" : "/v1/embeddings";
  return {
    unit: "requests",
    async round() {
      await loadHttp(url + path, { total, inFlight: 32, headers, json });
      return total;
    },
  };
}
