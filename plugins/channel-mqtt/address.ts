import { fillTopic, isName, isTopic, matchTopic, type Subscription, type TopicNames } from "./subscriptions.ts";

/** Longest address; the host keeps no longer ids. */
const MAX_ADDRESS_CHARS = 500;
const CHANNEL = "mqtt:";
const GROUP = "group:";
const TOPIC = "topic:";

/** Where a message is published. */
export interface Destination {
  topic: string;
  correlationData?: Buffer;
  payload: Subscription["payload"];
}

interface Rules {
  subscriptions: readonly Subscription[];
  /** Filters of other topics that may be published to. */
  responseTopics: readonly string[];
}

/**
 * An address in its one form: `ada` (somebody who writes to the first topic with a sender), `group:kitchen` (the first with a group), `topic:a/b`, or `topic:a/b#<base64url>` with
 * correlation data. Null for what is none.
 */
export function normalizeAddress(raw: string): string | null {
  const trimmed = raw.trim();
  const text = trimmed.startsWith(CHANNEL) ? trimmed.slice(CHANNEL.length) : trimmed;
  if (text.length > MAX_ADDRESS_CHARS) return null;
  if (text.startsWith(GROUP)) return isName(text.slice(GROUP.length)) ? text : null;
  if (!text.startsWith(TOPIC)) return isName(text) ? text : null;
  const { topic, correlation } = partsOf(text);
  return isTopic(topic) && /^[\w-]*$/.test(correlation) && !text.endsWith("#") ? text : null;
}

/** Address of answers to a message; undefined when the config has none for it. */
export function answerAddress(
  from: { subscription: Subscription; names: TopicNames; responseTopic?: string; correlationData?: Buffer },
  rules: Rules,
): string | undefined {
  const { subscription, names, responseTopic, correlationData } = from;
  // Everybody in a group reads the answer, so it stays there.
  if (responseTopic !== undefined && names.group === undefined && isAllowed(responseTopic, rules)) {
    const correlation = correlationData?.length ? `#${correlationData.toString("base64url")}` : "";
    const address = `${TOPIC}${responseTopic}${correlation}`;
    return normalizeAddress(address) === null ? undefined : address;
  }
  if (subscription.answerTopic === undefined) return undefined;
  const topic = fillTopic(subscription.answerTopic, names);
  if (topic === undefined) return undefined;
  const short = names.group === undefined ? (names.sender ?? "") : `${GROUP}${names.group}`;
  return normalizeAddress(short) !== null && destinationOf(short, rules)?.topic === topic ? short : `${TOPIC}${topic}`;
}

/** Topic of an address; undefined for one that the config does not allow. */
export function destinationOf(to: string, rules: Rules): Destination | undefined {
  const address = normalizeAddress(to);
  if (address === null) return undefined;
  if (address.startsWith(TOPIC)) {
    const { topic, correlation } = partsOf(address);
    const own = rules.subscriptions.find(({ answerTopic }) => answerTopic !== undefined && matchTopic(answerTopic, topic) !== undefined);
    if (!own && !isAllowed(topic, rules)) return undefined;
    const correlationData = correlation === "" ? {} : { correlationData: Buffer.from(correlation, "base64url") };
    return { topic, payload: (own ?? rules.subscriptions[0])?.payload ?? "text", ...correlationData };
  }
  const names: TopicNames = address.startsWith(GROUP) ? { group: address.slice(GROUP.length) } : { sender: address };
  for (const { topic: pattern, answerTopic, payload } of rules.subscriptions) {
    const isFor = names.group === undefined ? pattern.includes("{sender}") && !pattern.includes("{group}") : pattern.includes("{group}");
    const topic = isFor && answerTopic !== undefined ? fillTopic(answerTopic, names) : undefined;
    if (topic !== undefined) return { topic, payload };
  }
  return undefined;
}

function isAllowed(topic: string, { responseTopics }: Rules): boolean {
  return isTopic(topic) && responseTopics.some((filter) => matchTopic(filter, topic) !== undefined);
}

function partsOf(address: string): { topic: string; correlation: string } {
  const rest = address.slice(TOPIC.length);
  const at = rest.indexOf("#");
  return at < 0 ? { topic: rest, correlation: "" } : { topic: rest.slice(0, at), correlation: rest.slice(at + 1) };
}
