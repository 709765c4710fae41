import { type ChannelAccount, isRecord, oneLine, printableLine } from "svc/sdk";

const MAX_TEXT_CHARS = 300;
/** A shorter text is part of too many words to be told from them. */
const MIN_SECRET_CHARS = 6;
/** An account is a small tree; what lies deeper is no credential. */
const MAX_DEPTH = 6;
/** Keys of an account that say where it is, not how it gets in. */
const plainKeys = new Set([
  ...["accountId", "name", "host", "url", "nick", "nickAlternatives", "realname", "user", "username", "server", "serverName"],
  ...["mechanism", "caPath", "certPath", "keyPath", "address", "fromName", "mailbox", "authservIds"],
]);

/** A text of a channel as operators may see it. */
export function clean(text: string, secrets: readonly string[] = []): string {
  return oneLine(printableLine(secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text)), MAX_TEXT_CHARS);
}

/** Texts of an account, at any place in it, that may be credentials: nothing a channel says shows them. The longest first, as one may be part of another. */
export function secretsOf(account: ChannelAccount): string[] {
  return textsOf(account, MAX_DEPTH).toSorted((a, b) => b.length - a.length);
}

function textsOf(value: unknown, depth: number): string[] {
  if (typeof value === "string") return value.length >= MIN_SECRET_CHARS ? [value] : [];
  if (depth === 0) return [];
  if (Array.isArray(value)) return value.flatMap((item) => textsOf(item, depth - 1));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => (plainKeys.has(key) ? [] : textsOf(item, depth - 1)));
}
