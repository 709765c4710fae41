import { AccountRefusedError, oneLine, printableLine, SendRefusedError } from "svc/sdk";
import { attrOf, childOf, childrenOf, textOf, type XmlElement } from "./xml.ts";

const MAX_WORDS = 200;
/** Wait that a server asks for with an error of the type `wait`; it names none. */
const WAIT_MS = 30_000;

/** Words of a server as they may stand in a log and on a terminal. */
export function wordsOf(text: string): string {
  return oneLine(printableLine(text.slice(0, 4 * MAX_WORDS)), MAX_WORDS);
}

/** Condition of an error, a stream error or a SASL failure, and the text beside it. */
export function conditionOf(element: XmlElement | undefined): { condition: string; words: string } {
  const condition = element && childrenOf(element).find(({ name }) => name !== "text")?.name;
  const text = textOf(element && childOf(element, "text"));
  const name = wordsOf(condition ?? "no reason given");
  return { condition: condition ?? "", words: text.trim() === "" ? name : `${wordsOf(text)} (${name})` };
}

/** Stream errors before the login that no further try can change. */
const refusedStreams = new Set(["host-unknown", "host-gone"]);

/** Reads the error with which a server ends a stream. */
export function faultOfStream(element: XmlElement): Error {
  const { condition, words } = conditionOf(element);
  if (condition === "conflict") {
    return new AccountRefusedError(
      `another client has taken this account's place (${words}); give each gateway its own account, or another resource`,
    );
  }
  if (refusedStreams.has(condition)) return new AccountRefusedError(`the server does not serve this domain: ${words}`);
  if (condition === "see-other-host") return new Error("the server names another host; set it as host and port");
  return new Error(`the server ended the stream: ${words}`);
}

/** Failures of SASL that are not about this moment. */
const refusedLogins = new Set([
  "not-authorized",
  "account-disabled",
  "credentials-expired",
  "invalid-authzid",
  "invalid-mechanism",
  "mechanism-too-weak",
  "encryption-required",
]);

/** Reads a SASL failure (RFC 6120, 6.5). */
export function faultOfLogin(element: XmlElement): Error {
  const { condition, words } = conditionOf(element);
  const message = `the server refused the account: ${words}`;
  return refusedLogins.has(condition) ? new AccountRefusedError(message) : new Error(message);
}

/** Conditions that pass, whatever the type says. */
const passing = new Set(["internal-server-error", "remote-server-timeout", "resource-constraint", "remote-server-not-found"]);

const meanings: Readonly<Record<string, string>> = {
  "item-not-found": "there is no {}",
  "service-unavailable": "{} does not exist or does not take messages now",
  "recipient-unavailable": "{} cannot be reached",
  forbidden: "this account may not write to {}",
  "not-allowed": "this account may not write to {}",
  "not-authorized": "this account may not write to {}",
  "not-acceptable": "this account is not in {}",
  gone: "{} is gone",
  "jid-malformed": "{} is no address for this server",
  "remote-server-not-found": "the server of {} cannot be found",
  "policy-violation": "a policy of the server does not let the message to {} pass",
};

/** Reads the error that came back in place of a message. */
export function refusalOf(stanza: XmlElement, target: string): SendRefusedError {
  const error = childOf(stanza, "error");
  const { condition, words } = conditionOf(error);
  const message = `${(meanings[condition] ?? "the message to {} was refused").replace("{}", target)}: ${words}`;
  if (attrOf(error, "type") === "wait" || passing.has(condition))
    return new SendRefusedError(message, { isPermanent: false, retryAfterMs: WAIT_MS });
  return new SendRefusedError(message, { isPermanent: true });
}
