import { AccountRefusedError, oneLine, printableLine, SendRefusedError } from "svc/sdk";

const MAX_WORDS = 200;
/** Longest `ERROR` that is looked through; a line has no more (RFC 1459). */
const MAX_ERROR_CHARS = 512;

/** Words of a server as they may stand in a log and on a terminal. */
export function wordsOf(text: string): string {
  return oneLine(printableLine(text), MAX_WORDS);
}

/** Answers to the registration after which the account is blocked. */
export const REFUSED = new Set([
  "464", // wrong server password
  "465", // banned
  "466", // about to be banned
  "902", // the services account is locked
  "904", // SASL failed
]);

/** Name of the link that an `ERROR` line is about. */
const closedLink = /^closing link:\s*\S+(?:\s+by\s+\S+)?(?=\s*[([])/i;
/** Begins an operator's words, or where to complain: what follows is no reason. */
const endsOfReason = [/\bkilled ?\(/i, / - ?e-?mail\b/i];

/** Reason of an `ERROR` line, with which a server closes a link. */
export function faultOfError(text: string): Error {
  return new Error(closedWith(text));
}

/** The same in answer to the registration: bans and wrong passwords refuse the account, everything else passes. */
export function faultOfRegistration(text: string): Error {
  const isRefused = /\b(?:[dgkqz][-: ]?lined?|ban|banned|password|access denied)\b/i.test(reasonOf(text));
  return isRefused ? new AccountRefusedError(closedWith(text)) : faultOfError(text);
}

/** An `ERROR` line without the words that others chose: names, hosts, and what an operator wrote. */
function reasonOf(text: string): string {
  let rest = oneLine(text, MAX_ERROR_CHARS).replace(closedLink, " ");
  for (const end of endsOfReason) {
    const at = rest.search(end);
    if (at >= 0) rest = rest.slice(0, at);
  }
  const isHostOrMask = (word: string) => /[.@]/.test(word.slice(1, -1));
  return rest
    .split(/[\s()[\]]/)
    .filter((word) => !isHostOrMask(word))
    .join(" ");
}

function closedWith(text: string): string {
  return `the server closed the link: ${wordsOf(text) || "no reason given"}`;
}

/** Answers to a message that say it will never be taken, by their numerics; `{}` is the target. */
const refusals: Readonly<Record<string, string>> = {
  "401": "there is nobody called {}",
  "402": "there is no server for {}",
  "403": "there is no room {}",
  "404": "the server does not let this account write to {}",
  "405": "this account is in too many rooms for {}",
  "407": "{} is more than one recipient",
  "408": "the server does not let this account write to {}",
  "442": "this account is not in {}",
  "477": "{} takes messages only from services accounts",
  "486": "{} takes messages only from services accounts",
  "489": "{} takes messages only over TLS",
  "492": "the server does not let this account write to {}",
  "493": "{} takes messages only from people in the same room",
  "494": "the server does not let this account write to {}",
  "531": "{} does not take messages from this account",
  "716": "{} takes messages only from people it knows",
};
/** Answers that say not now: too many recipients in a short time, or the server is too busy. */
const busy = new Set(["263", "439"]);
const BUSY_MS = 30_000;

/** Reads an answer as the refusal of a message to `target`; undefined when it is none. */
export function refusalOf(numeric: string, target: string, words: string): SendRefusedError | undefined {
  const said = wordsOf(words);
  const reason = refusals[numeric];
  if (reason !== undefined) return new SendRefusedError(`${reason.replace("{}", target)}: ${said}`, { isPermanent: true });
  if (busy.has(numeric)) return new SendRefusedError(`not now: ${said}`, { isPermanent: false, retryAfterMs: BUSY_MS });
  return undefined;
}
