/**
 * `node vendor.mjs <port>`: `POST /v1/embeddings` as OpenAI-compatible servers have it. A vector depends on the text alone; texts fall into 64 subjects.
 * `POST /v1/chat/completions` streams the words of `x N`, N being the number at the end of the model's name, in one go and bytes made beforehand.
 * `GET /calls` tells how often it was asked. It listens on loopback and checks nothing.
 */
import { createServer } from "node:http";
import { vectorOf } from "../lib/vectors.mjs";

const calls = { requests: 0, texts: 0, queries: 0, queryMs: 0 };
createServer((request, response) => {
  if (request.method === "GET") return send(response, calls);
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const asked = JSON.parse(Buffer.concat(parts).toString());
    if (request.url.endsWith("/chat/completions")) chat(response, asked.model);
    else send(response, embed(asked));
  });
}).listen(Number(process.argv[2]), "127.0.0.1");

function embed({ input, model, encoding_format: format }) {
  const started = performance.now();
  const texts = Array.isArray(input) ? input : [input];
  const data = texts.map((text, index) => ({ object: "embedding", index, embedding: encode(vectorOf(text), format) }));
  calls.requests += 1;
  calls.texts += texts.length;
  if (texts.length === 1) {
    calls.queries += 1;
    calls.queryMs += performance.now() - started;
  }
  return { object: "list", data, model, usage: { prompt_tokens: texts.length, total_tokens: texts.length } };
}

/** Bytes by model name. */
const streams = new Map();

function chat(response, model) {
  const bytes = streams.get(model) ?? streamOf(model);
  streams.set(model, bytes);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(bytes);
}

function streamOf(model) {
  const tokens = Number(/\d+$/.exec(model)[0]);
  const base = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 0, model };
  const event = (delta, finish_reason = null) => `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const usage = { prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens };
  return Buffer.from(
    event({ role: "assistant", content: "" }) +
      event({ content: "word " }).repeat(tokens) +
      event({}, "stop") +
      `data: ${JSON.stringify({ ...base, choices: [], usage })}\n\ndata: [DONE]\n\n`,
  );
}

function encode(vector, format) {
  return format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
}

function send(response, value) {
  const text = JSON.stringify(value);
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}
