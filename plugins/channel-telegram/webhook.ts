import { createHash, timingSafeEqual } from "node:crypto";
import type { HttpAnswer, HttpCall } from "svc/sdk";
import { isUpdate, type Update } from "./updates.ts";

/** Path of the gateway below which Telegram delivers. */
export const WEBHOOK_PATH = "/channels/telegram";
const MAX_BODY_BYTES = 1_048_576;
/** Longest time that Telegram is kept waiting; it sends again what was not answered. */
const MAX_WAIT_MS = 20_000;

interface Receiver {
  secret: string;
  /** Resolves when the host has stored the update; rejects when it cannot be taken now. */
  take(update: Update): Promise<void>;
}

/** The HTTP route of all accounts that have their messages sent. */
export interface WebhookRoute {
  pathOf(accountId: string): string;
  /** Accepts messages for an account. @returns what ends that */
  open(accountId: string, receiver: Receiver): () => void;
  handle(call: Pick<HttpCall, "req" | "rest" | "bytes">): Promise<HttpAnswer>;
}

export function createWebhookRoute(): WebhookRoute {
  const receivers = new Map<string, Receiver>();
  return {
    pathOf: (accountId) => `${WEBHOOK_PATH}/${encodeURIComponent(accountId)}`,
    open(accountId, receiver) {
      receivers.set(accountId, receiver);
      return () => {
        if (receivers.get(accountId) === receiver) receivers.delete(accountId);
      };
    },
    async handle({ req, rest, bytes }) {
      const receiver = receivers.get(rest);
      const isKnown = isSecret(req.headers.get("x-telegram-bot-api-secret-token"), receiver?.secret);
      // The same for an account that is not there: nobody learns which are.
      if (!receiver || !isKnown) return { status: 401, body: "" };
      const update = parsed(await bytes({ maxBytes: MAX_BODY_BYTES }));
      if (!update) return { status: 400, body: "expected an update of the Bot API" };
      const stored = await within(receiver.take(update));
      return { status: stored ? 200 : 503, headers: stored ? {} : { "retry-after": "5" }, body: "" };
    },
  };
}

/** Compares digests, so that the time says nothing about the secret. */
function isSecret(given: string | null, secret: string | undefined): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given ?? ""), digest(secret ?? "\0")) && given !== null;
}

function parsed(body: Uint8Array): Update | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return isUpdate(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @returns false when it is not stored in time, or never */
async function within(stored: Promise<void>): Promise<boolean> {
  let late: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    late = setTimeout(() => resolve(false), MAX_WAIT_MS);
  });
  const done = stored.then(
    () => true,
    () => false,
  );
  return Promise.race([done, timeout]).finally(() => clearTimeout(late));
}
