import { expect, test } from "vitest";
import { type PumpEnd, pump } from "./pump.ts";

type Message = Record<string, unknown>;

/** One end whose other side the test plays. */
function end(send: (message: Message) => Promise<void> = async () => undefined) {
  const sent: Message[] = [];
  const versions: string[] = [];
  let closed = 0;
  const transport: PumpEnd = {
    start: async () => undefined,
    async send(message) {
      sent.push(message);
      await send(message);
    },
    async close() {
      closed++;
    },
    setProtocolVersion: (version) => void versions.push(version),
  };
  return { transport, sent, versions, closed: () => closed };
}

function running(gateway = end()) {
  const client = end();
  const reports: string[] = [];
  const stop = new AbortController();
  const done = pump(client.transport, gateway.transport, { signal: stop.signal, report: (text) => void reports.push(text) });
  return { client, gateway, reports, stop, done };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("messages pass both ways as they are, and the agreed revision is used from then on", async () => {
  const { client, gateway, stop, done } = running();
  const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: { odd: true } };
  client.transport.onmessage?.(hello);
  const answer = { jsonrpc: "2.0", id: 1, result: { protocolVersion: "2025-11-25" } };
  gateway.transport.onmessage?.(answer);
  await settled();
  expect([gateway.sent, client.sent, gateway.versions]).toEqual([[hello], [answer], ["2025-11-25"]]);
  stop.abort();
  await done;
});

test("a request that does not arrive is answered, and a notice is only reported", async () => {
  const down = end(() => Promise.reject(new Error("connection refused")));
  const { client, reports, stop, done } = running(down);
  client.transport.onmessage?.({ jsonrpc: "2.0", id: 7, method: "tools/list" });
  client.transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/initialized" });
  await settled();
  const message = "the gateway did not take the request: connection refused";
  expect(client.sent).toEqual([{ jsonrpc: "2.0", id: 7, error: { code: -32_000, message } }]);
  expect(reports).toEqual(["connection refused", "connection refused"]);
  stop.abort();
  await done;
});

test("64 messages are under way at once, 1,000 wait, and the next one is refused", async () => {
  const stuck = end(() => new Promise(() => undefined));
  const { client, gateway, stop, done } = running(stuck);
  for (let id = 0; id < 64 + 1_000 + 1; id++) client.transport.onmessage?.({ jsonrpc: "2.0", id, method: "ping" });
  await settled();
  expect(gateway.sent).toHaveLength(64);
  expect(client.sent).toMatchObject([{ id: 1_064, error: { code: -32_000 } }]);
  stop.abort();
  await done;
});

test("the end of the client ends both", async () => {
  const { client, gateway, done } = running();
  await settled();
  client.transport.onclose?.();
  await done;
  expect([client.closed(), gateway.closed()]).toEqual([1, 1]);
});
