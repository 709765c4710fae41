import { accountIds, accountKeys, type ChannelAccount, commonErrors, isRecord, messageOf, type SvcConfig } from "svc/sdk";
import { fillTopic, filterOf, isTopic, overlap, type Subscription } from "./subscriptions.ts";

/** Id of the channel: the key of its section under `channels`. */
export const CHANNEL_ID = "mqtt";

/** How the link is secured. Files are read at each connect, so that a renewed certificate needs no restart. */
export interface TlsSettings {
  caPath?: string;
  /** Certificate and key of the account itself. */
  certPath?: string;
  keyPath?: string;
  serverName?: string;
}

/** A topic that says whether the account is there, by retained messages. */
export interface StatusSettings {
  topic: string;
  online: string;
  offline: string;
}

/** One account at a broker, as its section of the config describes it. */
export interface MqttAccount extends ChannelAccount {
  host: string;
  port: number;
  /** Undefined: the link is not encrypted. */
  tls: TlsSettings | undefined;
  clientId: string;
  username?: string;
  password?: string;
  subscriptions: Subscription[];
  /** Filters of topics that senders may name for their answers. */
  responseTopics: string[];
  status?: StatusSettings;
  /** Largest packet that the broker may send. */
  maxPacketBytes: number;
  /** Time for which the broker keeps messages while the account is away. */
  sessionExpirySeconds: number;
}

const PORTS = { tls: 8883, plain: 1883 };
const REQUIRED = ["host", "clientId", "subscriptions"];
const EXAMPLE = { sender: "a", group: "b" };

/** Accounts of the section: `default` where the section itself names a broker and topics, and the named ones. */
export function listAccounts(config: SvcConfig): string[] {
  return accountIds(config, CHANNEL_ID, REQUIRED);
}

/** Keys that the account lacks. Secrets are not looked at. */
export function inspectAccount(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] } {
  const raw = accountKeys(config, CHANNEL_ID, accountId, ["tls"]);
  const isMissing = (value: unknown) => value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  const missing = REQUIRED.filter((key) => isMissing(raw[key]));
  return { enabled: raw.enabled !== false, configured: missing.length === 0, missing };
}

/** @throws {SvcError} `invalid-config` for an account without a broker, a client id or topics, and for topics that cannot be used */
export function resolveAccount(config: SvcConfig, accountId: string): MqttAccount {
  const raw = accountKeys(config, CHANNEL_ID, accountId, ["tls"]);
  const fault = (message: string) => commonErrors.invalidConfig({ message: `channels.${CHANNEL_ID} (account "${accountId}"): ${message}` });
  const { missing, enabled } = inspectAccount(config, accountId);
  if (missing.length > 0) throw fault(`expected ${missing.join(" and ")}`);
  const responseTopics = Array.isArray(raw.responseTopics) ? raw.responseTopics.map(String) : [];
  let subscriptions: Subscription[];
  try {
    for (const topic of responseTopics) filterOf(topic);
    subscriptions = subscriptionsOf(raw.subscriptions, responseTopics.length > 0);
  } catch (error) {
    throw fault(messageOf(error));
  }
  const status = statusOf(raw.status);
  if (status && !isTopic(status.topic)) throw fault(`status.topic "${status.topic}" is no topic: expected one without wildcards`);
  if (raw.password !== undefined && raw.username === undefined) throw fault("expected username beside password");
  const tls = tlsOf(raw.tls);
  if ((tls?.certPath === undefined) !== (tls?.keyPath === undefined)) throw fault("expected tls.certPath and tls.keyPath together");
  return {
    accountId,
    enabled,
    host: String(raw.host),
    port: typeof raw.port === "number" ? raw.port : tls ? PORTS.tls : PORTS.plain,
    tls,
    clientId: String(raw.clientId),
    subscriptions,
    responseTopics,
    maxPacketBytes: typeof raw.maxPacketBytes === "number" ? raw.maxPacketBytes : 262_144,
    sessionExpirySeconds: typeof raw.sessionExpirySeconds === "number" ? raw.sessionExpirySeconds : 86_400,
    ...(typeof raw.name === "string" ? { name: raw.name } : {}),
    ...(typeof raw.username === "string" ? { username: raw.username } : {}),
    ...(typeof raw.password === "string" ? { password: raw.password } : {}),
    ...(status ? { status } : {}),
  };
}

/** A broker gives the session of a client id to whoever came last, and not every broker tells the other one why. */
export function identityOf({ host, port, clientId }: Pick<MqttAccount, "host" | "port" | "clientId">): string {
  return `${host}:${port}/${clientId}`;
}

/** The account's values of everything that nobody may see. */
export function secretValues({ password }: MqttAccount): string[] {
  return password ? [password] : [];
}

/** @throws {Error} for patterns that no broker takes, that overlap, or whose messages could not be answered */
function subscriptionsOf(raw: unknown, canAnswerElsewhere: boolean): Subscription[] {
  const list = (Array.isArray(raw) ? raw : []).filter(isRecord).map((one): Subscription => {
    const topic = String(one.topic);
    const answerTopic = typeof one.answerTopic === "string" ? one.answerTopic : undefined;
    const payload = one.payload === "json" ? "json" : "text";
    return { topic, filter: filterOf(topic), payload, ...(answerTopic === undefined ? {} : { answerTopic }) };
  });
  for (const [i, { topic, filter, answerTopic }] of list.entries()) {
    const twin = list.slice(0, i).find((other) => overlap(other.filter, filter));
    if (twin) throw new Error(`the topics "${twin.topic}" and "${topic}" overlap: a message would come twice`);
    if (answerTopic === undefined) {
      if (!canAnswerElsewhere) throw new Error(`the topic "${topic}" has no answers: expected answerTopic, or responseTopics`);
      continue;
    }
    const unknown = ["{sender}", "{group}"].find((name) => answerTopic.split("/").includes(name) && !topic.split("/").includes(name));
    if (unknown) throw new Error(`the answerTopic "${answerTopic}" names ${unknown}, which "${topic}" does not`);
    if (fillTopic(answerTopic, EXAMPLE) === undefined)
      throw new Error(`the answerTopic "${answerTopic}" is no topic: expected one without wildcards`);
  }
  return list;
}

function tlsOf(raw: unknown): TlsSettings | undefined {
  const { enabled, ...tls } = isRecord(raw) ? raw : {};
  return enabled === false ? undefined : (tls as TlsSettings);
}

function statusOf(raw: unknown): StatusSettings | undefined {
  if (!isRecord(raw) || typeof raw.topic !== "string") return undefined;
  const text = (value: unknown, otherwise: string) => (typeof value === "string" ? value : otherwise);
  return { topic: raw.topic, online: text(raw.online, "online"), offline: text(raw.offline, "offline") };
}
