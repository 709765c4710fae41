/**
 * `node relay.mjs <port> <vendor address>`: the least that could answer `POST /v1/embeddings` and `/v1/chat/completions` with what a vendor says: it
 * passes the bytes on over kept connections, both ways. No auth, no check of anything.
 */
import { Agent, createServer, request } from "node:http";

const [port, vendor] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

createServer((req, res) => {
  if (req.method === "GET") return res.end("ready");
  const { "content-type": type, "content-length": length } = req.headers;
  const headers = { "content-type": type, "content-length": length, authorization: "Bearer bench-only" };
  const passed = request(`${vendor}${req.url.slice("/v1".length)}`, { method: "POST", agent, headers }, (answer) => {
    const { "content-type": type, "content-length": length } = answer.headers;
    res.writeHead(answer.statusCode, { "Content-Type": type, ...(length === undefined ? {} : { "Content-Length": length }) });
    answer.pipe(res);
  });
  passed.on("error", () => res.destroy());
  req.pipe(passed);
}).listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
