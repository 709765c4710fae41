/**
 * The least that could answer: node:http and ws, pre-built answers, no auth, no plugins.
 * `node server.mjs <port>`; speaks just enough of the protocol for the bench's client.
 */
import { createServer } from "node:http";
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
const health = JSON.stringify({ ok: true, ts: 0, durationMs: 0, channels: {}, agents: [], filler: "x".repeat(1_000) });

const server = createServer((req, res) => {
  const body = bodies.get(req.url);
  res.writeHead(body ? 200 : 404, { "Content-Type": "application/json; charset=utf-8", "Content-Length": body?.length ?? 0 });
  res.end(body);
});
const wss = new WebSocketServer({ server, perMessageDeflate: false });
wss.on("connection", (socket) => {
  socket.send('{"type":"event","event":"connect.challenge","payload":{"nonce":"0","ts":0}}');
  socket.on("message", (data) => {
    const { id, method } = JSON.parse(data);
    socket.send(`{"type":"res","id":"${id}","ok":true,"payload":${method === "connect" ? hello : health}}`);
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
