/**
 * The least that could answer: node:http and ws, pre-built answers, no auth, no plugins.
 * `node server.mjs <port>`; speaks just enough of the protocol for the bench's client.
 */
import { createServer } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { WebSocketServer } from "ws";

const live = Buffer.from('{"ok":true,"status":"live"}');
const modelEntry = (id) => ({ id, object: "model", created: 0, owned_by: "svc", permission: [] });
const models = Buffer.from(JSON.stringify({ object: "list", data: ["svc", "svc/default", "svc/main"].map(modelEntry) }));
const bodies = new Map([
  ["/healthz", live],
  ["/readyz", live],
  ["/v1/models", models],
]);
const hello = JSON.stringify({ type: "hello-ok", protocol: 4, filler: "x".repeat(5_000) });
const presence = JSON.stringify([{ host: "bare", mode: "gateway", reason: "self", filler: "x".repeat(200), ts: 0 }]);
const health = JSON.stringify({ ok: true, ts: 0, durationMs: 0, channels: {}, agents: [], filler: "x".repeat(1_000) });
const answers = new Map([
  ["connect", hello],
  ["system-presence", presence],
]);

const woken = Buffer.from('{"ok":true,"mode":"next-heartbeat","eventOutcome":"coalesced"}');

/** Reads a text, looks at it, answers. */
function wake(req, res) {
  const parts = [];
  req.on("data", (part) => parts.push(part));
  req.on("end", () => {
    const { text } = JSON.parse(Buffer.concat(parts).toString());
    res.writeHead(text ? 200 : 400, { "Content-Type": "application/json; charset=utf-8", "Content-Length": woken.length });
    res.end(woken);
  });
}

const server = createServer((req, res) => {
  if (req.url === "/hooks/wake") return wake(req, res);
  const body = bodies.get(req.url);
  res.writeHead(body ? 200 : 404, { "Content-Type": "application/json; charset=utf-8", "Content-Length": body?.length ?? 0 });
  res.end(body);
});
const wss = new WebSocketServer({ server, perMessageDeflate: false });
setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

function collected() {
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return JSON.stringify({ usedBytes: heapUsed + external });
}

/** One frame for all, serialised once. */
async function say(events, bytes) {
  const text = "x".repeat(bytes);
  for (let i = 0; i < events; i += 1) {
    said += 1;
    const frame = Buffer.from(`{"type":"event","event":"plugin.loud.said","payload":${JSON.stringify({ i, text })},"seq":${said}}`);
    for (const client of wss.clients) client.send(frame, { binary: false });
    await new Promise((resolve) => setImmediate(resolve));
  }
}
let said = 0;

wss.on("connection", (socket) => {
  socket.send('{"type":"event","event":"connect.challenge","payload":{"nonce":"0","ts":0}}');
  socket.on("message", async (data) => {
    const { id, method, params } = JSON.parse(data);
    if (method === "loud.say") await say(params.events, params.bytes);
    const payload = method === "loud.gc" ? collected() : (answers.get(method) ?? health);
    socket.send(`{"type":"res","id":"${id}","ok":true,"payload":${payload}}`);
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
