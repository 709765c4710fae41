import { connect } from "node:net";
import type { MqttClient, PublishOptions, PublishPacket } from "../../plugins/channel-mqtt/library.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import { loadMqtt } from "./mqtt-library.ts";

/** Somebody at a broker, with a client of their own. */
export interface MqttUser {
  /** Messages of the topics subscribed to, oldest first. */
  readonly messages: readonly PublishPacket[];
  /** Resolves when the broker has the message. */
  publish(topic: string, text: string | Buffer, options?: Partial<PublishOptions>): Promise<void>;
  /** Waits for a message to this topic, with this text. */
  sees(topic: string, text: string): Promise<PublishPacket>;
  /** Texts that came to a topic. */
  texts(topic: string): string[];
  close(): Promise<void>;
}

interface UserOptions {
  port: number;
  topics: readonly string[];
  username?: string;
  password?: string;
}

export async function connectMqttUser({ port, topics, username, password }: UserOptions): Promise<MqttUser> {
  const { MqttClient: Client } = await loadMqtt();
  const messages: PublishPacket[] = [];
  const client: MqttClient = new Client(() => connect({ host: "127.0.0.1", port }), {
    protocolVersion: 5,
    reconnectPeriod: 0,
    ...(username === undefined ? {} : { username, password }),
  });
  client.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    client.on("connect", resolve);
    client.on("error", reject);
    client.on("close", () => reject(new Error("the broker closed the link of the user")));
  });
  client.handleMessage = (packet, done) => {
    messages.push(packet);
    done();
  };
  const filters = Object.fromEntries(topics.map((topic) => [topic, { qos: 1 }]));
  await new Promise<void>((resolve, reject) => client.subscribe(filters, (error) => (error ? reject(error) : resolve())));
  const textOf = ({ payload }: PublishPacket) => payload.toString();
  return {
    messages,
    publish: (topic, text, options) =>
      new Promise((resolve, reject) =>
        client.publish(topic, Buffer.from(text), { qos: 1, ...options }, (error) => (error ? reject(error) : resolve())),
      ),
    sees: (topic, text) => eventually(() => messages.find((packet) => packet.topic === topic && textOf(packet) === text)),
    texts: (topic) => messages.filter((packet) => packet.topic === topic).map(textOf),
    close: () => new Promise((resolve) => client.end(true, {}, resolve)),
  };
}
