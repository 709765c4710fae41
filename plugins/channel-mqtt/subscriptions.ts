/** A topic filter whose named levels say who writes and where. */
export interface Subscription {
  /** As configured: `svc/{sender}/in`. */
  topic: string;
  /** As the broker takes it: `svc/+/in`. */
  filter: string;
  /** Topic for answers, with the same names in it. */
  answerTopic?: string;
  payload: "text" | "json";
}

/** Names that stand in the levels of a topic. */
export interface TopicNames {
  sender?: string;
  group?: string;
}

const NAMES = ["{sender}", "{group}"];
/** Longest topic, in bytes, that is used as an address. */
const MAX_TOPIC_BYTES = 400;

/** The filter of a pattern. @throws {Error} for one that is none */
export function filterOf(pattern: string): string {
  const levels = pattern.split("/");
  const fault = (what: string) => new Error(`the topic "${pattern}" ${what}`);
  if (pattern === "" || pattern.startsWith("$")) throw fault("is none that can be subscribed: expected a name without $ at its beginning");
  for (const [i, level] of levels.entries()) {
    if (NAMES.includes(level) || level === "+") continue;
    if (level === "#" && i === levels.length - 1) continue;
    if (/[#+{}\0]/.test(level))
      throw fault("has a wildcard or a name inside a level: expected +, {sender} or {group} alone, or # at its end");
  }
  for (const name of NAMES) if (levels.filter((level) => level === name).length > 1) throw fault(`names ${name} twice`);
  return levels.map((level) => (NAMES.includes(level) ? "+" : level)).join("/");
}

/** Names in a topic that a pattern takes; undefined when it does not. */
export function matchTopic(pattern: string, topic: string): TopicNames | undefined {
  const [expected, levels] = [pattern.split("/"), topic.split("/")];
  const names: TopicNames = {};
  for (const [i, level] of expected.entries()) {
    if (level === "#") return names;
    const found = levels[i];
    if (found === undefined) return undefined;
    if (level === "{sender}") names.sender = found;
    else if (level === "{group}") names.group = found;
    else if (level !== "+" && level !== found) return undefined;
  }
  return expected.length === levels.length ? names : undefined;
}

/** True when a topic can match both filters: the broker may send such a message twice. */
export function overlap(one: string, other: string): boolean {
  const [a, b] = [one.split("/"), other.split("/")];
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    // A # at the end takes the level above it as well.
    if (a[i] === "#" || b[i] === "#") return true;
    if (a[i] === undefined || b[i] === undefined) return false;
    if (a[i] !== "+" && b[i] !== "+" && a[i] !== b[i]) return false;
  }
  return true;
}

/** A pattern with its names filled in; undefined when one is missing, or cannot stand in a topic. */
export function fillTopic(pattern: string, names: TopicNames): string | undefined {
  const levels = pattern.split("/").map((level) => (level === "{sender}" ? names.sender : level === "{group}" ? names.group : level));
  const topic = levels.join("/");
  return levels.every((level) => level !== undefined) && isTopic(topic) ? topic : undefined;
}

/** True for a name that something can be published under. */
export function isTopic(topic: string): boolean {
  return topic !== "" && !topic.startsWith("$") && !/[#+\p{Cc}]/u.test(topic) && Buffer.byteLength(topic) <= MAX_TOPIC_BYTES;
}

/** True for one level of a topic that names somebody. */
export function isName(name: string): boolean {
  return isTopic(name) && !/[/:]/.test(name) && name.trim() === name;
}
