import { request } from "node:http";

/**
 * Asks one question for a streamed answer over `agent` and reads it to its end.
 * @returns milliseconds to the first word and to the end, and how many words came
 */
export function ask(server, { agent, model }) {
  const json = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Tell me all." }] });
  const headers = { ...server.headers, "content-type": "application/json", "content-length": Buffer.byteLength(json) };
  const sentAt = performance.now();
  return new Promise((resolve, reject) => {
    const req = request(`${server.url}/v1/chat/completions`, { method: "POST", agent, headers }, (res) => {
      let text = "";
      let firstMs;
      res.setEncoding("utf8");
      res.on("data", (part) => {
        text += part;
        if (firstMs === undefined && text.includes("word")) firstMs = performance.now() - sentAt;
      });
      res.on("error", reject);
      res.on("end", () => {
        const words = text.split("word ").length - 1;
        if (res.statusCode !== 200 || !text.endsWith("data: [DONE]\n\n")) reject(new Error(`chat: ${res.statusCode} ${text.slice(-300)}`));
        else resolve({ firstMs, ms: performance.now() - sentAt, words });
      });
    });
    req.on("error", reject);
    req.end(json);
  });
}
