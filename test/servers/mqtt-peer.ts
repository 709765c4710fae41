import { type ChannelPeer, type PeerAction, startPacketProxy } from "svc/sdk/testing";
import { ID_PROPERTY } from "../../plugins/channel-mqtt/message.ts";
import { startMosquitto } from "./mosquitto.ts";
import { startMqttTap } from "./mqtt-tap.ts";
import { connectMqttUser } from "./mqtt-user.ts";

const PASSWORDS = { good: "pw-3f8a1d77c2", wrong: "pw-wrong-1111" };
const GROUP = "group:kitchen";
/** User property that numbers what Ada says. */
const NUMBER = "number";

/** The other side of an MQTT account: mosquitto with passwords, a group, and Ada with a client of her own. */
export async function startMqttPeer(): Promise<ChannelPeer> {
  const broker = await startMosquitto({ users: { bot: PASSWORDS.good, ada: PASSWORDS.good } });
  const seen: PeerAction[] = [];
  const numbers = new Map<number, string>();
  const acknowledged = new Set<string>();
  const tap = await startMqttTap({
    brokerPort: broker.port,
    onReceived({ cmd, messageId, properties }) {
      const number = properties?.userProperties?.[NUMBER];
      if (cmd === "publish" && messageId !== undefined && number !== undefined) numbers.set(messageId, number);
    },
    onSent({ cmd, messageId }) {
      if (cmd === "puback" && messageId !== undefined) acknowledged.add(numbers.get(messageId) ?? "");
      return undefined;
    },
  });
  const proxy = await startPacketProxy(tap.port);
  const ada = await connectMqttUser({
    port: broker.port,
    topics: ["+/ada/out", "rooms/kitchen/agent"],
    username: "ada",
    password: PASSWORDS.good,
  });
  let shown = 0;
  const showNew = () => {
    for (const { topic, payload, properties } of ada.messages.slice(shown)) {
      const messageId = String(properties?.userProperties?.[ID_PROPERTY] ?? "");
      seen.push({ kind: "message", to: topic.startsWith("rooms/") ? GROUP : "ada", text: payload.toString(), messageId });
    }
    shown = ada.messages.length;
  };
  const topicsOf = (accountId: string) => [
    { topic: `${accountId}/{sender}/in`, answerTopic: `${accountId}/{sender}/out` },
    { topic: "rooms/{group}/say/{sender}", answerTopic: "rooms/{group}/agent" },
  ];
  let said = 0;

  return {
    config({ accounts, credentials }) {
      const own = { host: "127.0.0.1", port: proxy.port, tls: { enabled: false }, username: "bot", password: PASSWORDS[credentials] };
      const second = { clientId: "bot-second", subscriptions: topicsOf("second") };
      return { ...own, clientId: "bot-default", subscriptions: topicsOf("default"), ...(accounts === 2 ? { accounts: { second } } : {}) };
    },
    secrets: Object.values(PASSWORDS),
    direct: "ada",
    group: GROUP,
    get seen() {
      showNew();
      return seen;
    },
    async say({ accountId, chatType, text }) {
      said += 1;
      const topic = chatType === "direct" ? `${accountId}/ada/in` : "rooms/kitchen/say/ada";
      await ada.publish(topic, text, { properties: { userProperties: { [NUMBER]: String(said) } } });
      return String(said);
    },
    acknowledged: (id) => acknowledged.has(id),
    packets: (shape) => proxy.shape(shape),
    drop: () => tap.cut(),
    connections: () => tap.links.size,
    async close() {
      await proxy.close();
      await tap.close();
      await ada.close();
      await broker.stop();
    },
  };
}
