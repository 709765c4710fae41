import { messageOf, oneLine, printableLine } from "svc/sdk";

const MAX_CHARS = 200;

/** Words of a server as they may stand in a log and on a terminal. */
export function wordsOf(text: string): string {
  return oneLine(printableLine(text), MAX_CHARS);
}

/** Message of an error without the account's secrets, whoever put them there. */
export function messageWithout(error: unknown, secrets: readonly string[]): string {
  return wordsOf(secrets.reduce((shown, secret) => shown.replaceAll(secret, "…"), messageOf(error)));
}
