import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { eventually } from "svc/sdk/testing";
import { expect, onTestFinished } from "vitest";
import { driveAccount } from "../../test/fixtures/driven-account.ts";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { loadMqtt, loadMqttCodec, needsMqtt } from "../../test/servers/mqtt-library.ts";
import { createMqttChannel } from "./channel.ts";

const { test } = await needsMqtt();

const packet = (content: object) => loadMqttCodec().generate(content, { protocolVersion: 5 });
const publish = (messageId: number, more: object) =>
  packet({ cmd: "publish", topic: "svc/ada/in", qos: 1, messageId, retain: false, ...more });

test("a broker that sends far more at once than it was asked for: all of it arrives once, in order, over as many links as it takes", async () => {
  const open = new Set(Array.from({ length: 1_300 }, (_, i) => i + 1));
  const sockets = new Set<Socket>();
  const texts = [...open].map((id) => `number ${id}`);
  let links = 0;
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    const parser = loadMqttCodec().parser({ protocolVersion: 5 });
    parser.on("packet", ({ cmd, messageId = 0 }) => {
      if (cmd === "connect") {
        const dup = links++ > 0;
        const kept = [...open].map((id) => publish(id, { payload: `number ${id}`, dup }));
        socket.write(Buffer.concat([packet({ cmd: "connack", sessionPresent: true, reasonCode: 0 }), ...kept]));
      }
      if (cmd === "subscribe") socket.write(packet({ cmd: "suback", messageId, granted: [1] }));
      if (cmd === "puback") open.delete(messageId);
      if (cmd === "disconnect") socket.end();
    });
    socket.on("data", (chunk) => parser.parse(chunk));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const account = driveAccount(createMqttChannel({ load: loadMqtt, kv: memoryKv(), times: { reconnectMs: 20 } }), {
    host: "127.0.0.1",
    port,
    tls: { enabled: false },
    clientId: "bot",
    subscriptions: [{ topic: "svc/{sender}/in", answerTopic: "svc/{sender}/out" }],
  });
  onTestFinished(async () => {
    await account.stop();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { receive } = account.run;
  // The host takes nothing before everything has come.
  account.run.receive = async (event) => {
    await account.is("ready");
    return receive(event);
  };

  await eventually(() => account.inbox.length === texts.length);
  expect(account.inbox.map(({ text }) => text)).toEqual(texts);
  await eventually(() => open.size === 0 && account.state().lifecycle === "ready");
  expect(links).toBe(2);
});
