/**
 * `node relay.mjs <port> <vendor address>`: the least that could answer `POST /v1/embeddings` with a vendor's vectors: it passes the bytes on over kept
 * connections, both ways. No auth, no check of anything.
 */
import { Agent, createServer, request } from "node:http";

const [port, vendor] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

createServer((req, res) => {
  if (req.method === "GET") return res.end("ready");
  const { "content-type": type, "content-length": length } = req.headers;
  const headers = { "content-type": type, "content-length": length, authorization: "Bearer bench-only" };
  const passed = request(`${vendor}/embeddings`, { method: "POST", agent, headers }, (answer) => {
    res.writeHead(answer.statusCode, {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": answer.headers["content-length"],
    });
    answer.pipe(res);
  });
  passed.on("error", () => res.destroy());
  req.pipe(passed);
}).listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
