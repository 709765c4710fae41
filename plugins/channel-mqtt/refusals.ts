import { AccountRefusedError, oneLine, printableLine, SendRefusedError } from "svc/sdk";

const MAX_WORDS = 200;

/** Words of a broker as they may stand in a log and on a terminal. */
export function wordsOf(text: string): string {
  return oneLine(printableLine(text), MAX_WORDS);
}

/** Meaning of a reason code (MQTT 5, section 2.4). */
const meanings: Readonly<Record<number, string>> = {
  1: "it does not speak MQTT 5",
  2: "it does not accept the client id",
  3: "it is not available",
  4: "wrong user name or password",
  5: "not authorized",
  128: "no reason given",
  129: "malformed packet",
  130: "protocol error",
  131: "a rule of its own",
  132: "it does not speak MQTT 5",
  133: "it does not accept the client id",
  134: "wrong user name or password",
  135: "not authorized",
  136: "it is not available",
  137: "it is busy",
  138: "banned",
  139: "it shuts down",
  140: "wrong kind of authentication",
  141: "it heard nothing for too long",
  142: "another client connected with the same client id",
  143: "it does not accept the topic filter",
  144: "it does not accept the topic",
  145: "packet identifier in use",
  147: "too many messages at once",
  149: "the packet is too large",
  150: "too many messages in a short time",
  151: "a quota is used up",
  152: "an administrator ended it",
  153: "it does not accept the form of the message",
  154: "it keeps no retained messages",
  155: "it does not offer the quality of service",
  156: "use another server",
  157: "the server has moved",
  159: "too many connections in a short time",
  160: "the longest time of a connection is over",
  162: "it does not accept wildcards",
};

/** Answers to a connection after which another try would end in the same way. */
const REFUSED = new Set([1, 2, 4, 5, 132, 133, 134, 135, 138, 140, 154, 155, 157]);
const TAKEN_OVER = 142;
/** Answers to a message that may be others later. */
const BUSY = new Set([128, 131, 136, 137, 145, 147, 150, 151]);

export function reasonOf(code: number): string {
  return `${meanings[code] ?? "no reason known"} (reason code ${code})`;
}

/** Fault of a connection that the broker did not accept. @param words its own words, where it has any */
export function faultOfConnack(code: number, words = ""): Error {
  const message = `the broker refused the account: ${reasonOf(code)}${suffix(words)}`;
  return REFUSED.has(code) ? new AccountRefusedError(message) : new Error(message);
}

/** Fault of a subscription: what the broker does not allow now, it will not allow later. */
export function faultOfSubscription(code: number, filter: string): Error {
  const message = `the broker refuses the subscription to "${wordsOf(filter)}": ${reasonOf(code)}`;
  return BUSY.has(code) ? new Error(message) : new AccountRefusedError(message);
}

/** Fault of a link that the broker ended. A second client under the same id is not fought: each would end the other for ever. */
export function faultOfDisconnect(code: number, clientId: string, words = ""): Error {
  if (code !== TAKEN_OVER) return new Error(`the broker closed the link: ${reasonOf(code)}${suffix(words)}`);
  const what = `another client connected with the client id "${clientId}" and has the session now (reason code ${code})`;
  return new AccountRefusedError(`${what}; stop it, or give one of the two a clientId of its own, then: svc channels start mqtt`);
}

/** Reads the broker's answer to a message. */
export function refusalOf(code: number, topic: string): SendRefusedError {
  return new SendRefusedError(`the broker did not take the message to ${wordsOf(topic)}: ${reasonOf(code)}`, {
    isPermanent: !BUSY.has(code),
  });
}

function suffix(words: string): string {
  const said = wordsOf(words);
  return said === "" ? "" : `: ${said}`;
}

/** Message of an error without the account's secrets. */
export function withoutSecrets(error: Error, secrets: readonly string[]): string {
  return wordsOf(secrets.reduce((text, secret) => text.replaceAll(secret, "…"), error.message));
}
