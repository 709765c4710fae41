import type { InboundEvent } from "svc/sdk";
import type { MqttAccount } from "./accounts.ts";
import { answerAddress } from "./address.ts";
import type { PublishPacket } from "./library.ts";
import { readPayload } from "./payload.ts";
import { isName, matchTopic } from "./subscriptions.ts";

/** User property that names the client that sent a message: how accounts know each other. */
export const CLIENT_PROPERTY = "svc-client";
/** User property with the id of a message, the same at each try. */
export const ID_PROPERTY = "svc-message";

/** A message for the host, or the reason why it is none; `isQuiet` when that is as it should be. */
export type Reading = { event: Omit<InboundEvent, "id"> } | { reason: string; isQuiet?: boolean };

type Rules = Pick<MqttAccount, "clientId" | "subscriptions" | "responseTopics">;

/** Reads a message as the host takes it. Pure. */
export function readMessage(packet: PublishPacket, rules: Rules): Reading {
  const { topic, properties } = packet;
  if (packet.retain) return { reason: "it is retained, and was said before", isQuiet: true };
  const client = properties?.userProperties?.[CLIENT_PROPERTY];
  if (client === rules.clientId) return { reason: "it is the account's own", isQuiet: true };
  for (const subscription of rules.subscriptions) {
    const names = matchTopic(subscription.topic, topic);
    if (!names) continue;
    const wrong = [names.sender, names.group].find((name) => name !== undefined && !isName(name));
    if (wrong !== undefined) return { reason: "a level of its topic is no name" };
    const received = readPayload(Buffer.from(packet.payload), subscription.payload);
    if (!received) return { reason: `its content is not ${subscription.payload === "json" ? "a JSON object with a text" : "UTF-8"}` };
    const { responseTopic, correlationData } = properties ?? {};
    const to = answerAddress(
      {
        subscription,
        names,
        ...(responseTopic === undefined ? {} : { responseTopic }),
        ...(correlationData === undefined ? {} : { correlationData }),
      },
      rules,
    );
    if (to === undefined) return { reason: "there is no topic for its answer: see answerTopic and responseTopics" };
    const sender = names.sender ?? `topic:${topic}`;
    return {
      event: {
        chatType: names.group === undefined ? "direct" : "group",
        peer: { id: to, ...(names.group === undefined ? {} : { name: names.group }) },
        sender: {
          id: sender,
          ...(received.name === undefined ? {} : { name: received.name }),
          // Another account like this one is a program.
          ...(client === undefined ? {} : { isBot: true }),
        },
        text: received.text,
      },
    };
  }
  return { reason: "its topic is none of the account's", isQuiet: true };
}
