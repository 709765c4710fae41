import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type HttpAnswer, type HttpCall, isRecord } from "svc/sdk";
import { type Delivery, readCommand, readEvent } from "./deliveries.ts";

/** Path of the gateway below which Slack delivers. */
export const EVENTS_PATH = "/channels/slack";
const MAX_BODY_BYTES = 1_048_576;
/** Age of a request, or its distance ahead, from which it is refused (docs.slack.dev/authentication/verifying-requests-from-slack). */
const MAX_AGE_S = 300;
/** Requests of one account whose signatures are remembered for that time. Messages beyond that are told apart by their ids. */
const MAX_SEEN = 5_000;
const MAX_CHALLENGE_CHARS = 1_000;

interface Receiver {
  secret: string;
  now(): number;
  /** Resolves when the host has what is in the delivery; rejects when it cannot be taken now. */
  take(delivery: Delivery): Promise<void>;
}

interface OpenReceiver extends Receiver {
  /** Each request that was taken, by its signature: its time, and the promise that settles with its message. */
  seen: Map<string, { at: number; stored: Promise<void> }>;
}

/** The HTTP route of all accounts in the mode `events`. */
export interface EventsEndpoint {
  /** Accepts requests for an account. @returns what ends that */
  open(accountId: string, receiver: Receiver): () => void;
  handle(call: Pick<HttpCall, "req" | "rest" | "bytes">): Promise<HttpAnswer>;
}

/** @param answerMs longest time that a request is kept waiting for the host */
export function createEventsEndpoint(answerMs: number): EventsEndpoint {
  const receivers = new Map<string, OpenReceiver>();
  return {
    open(accountId, receiver) {
      const open: OpenReceiver = { ...receiver, seen: new Map() };
      receivers.set(accountId, open);
      return () => {
        if (receivers.get(accountId) === open) receivers.delete(accountId);
      };
    },
    async handle({ req, rest, bytes }) {
      const receiver = receivers.get(rest);
      const signed = signatureOf(req.headers);
      // The same for an account that is not there: nobody learns which are. Nothing is read before.
      if (!receiver || !signed || !isRecent(signed.time, receiver.now())) return { status: 401, body: "" };
      const body = await bytes({ maxBytes: MAX_BODY_BYTES });
      if (!isSigned(receiver.secret, signed, body)) return { status: 401, body: "" };
      return answer(receiver, { signature: signed.value, body, type: req.headers.get("content-type") ?? "", answerMs });
    },
  };
}

interface Signature {
  time: string;
  value: string;
}

function signatureOf(headers: Headers): Signature | undefined {
  const [time, value] = [headers.get("x-slack-request-timestamp") ?? "", headers.get("x-slack-signature") ?? ""];
  return /^\d{1,12}$/.test(time) && /^v0=[0-9a-f]{64}$/.test(value) ? { time, value } : undefined;
}

function isRecent(time: string, now: number): boolean {
  return Math.abs(now / 1_000 - Number(time)) <= MAX_AGE_S;
}

/** Compares digests, so that the time says nothing about the signature. */
function isSigned(secret: string, { time, value }: Signature, body: Uint8Array): boolean {
  if (secret === "") return false;
  const expected = `v0=${createHmac("sha256", secret).update(`v0:${time}:`).update(body).digest("hex")}`;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(value), digest(expected));
}

interface SignedRequest {
  signature: string;
  body: Uint8Array;
  type: string;
  answerMs: number;
}

async function answer(receiver: OpenReceiver, { signature, body, type, answerMs }: SignedRequest): Promise<HttpAnswer> {
  const payload = parsed(body, type);
  if (!payload) return { status: 400, headers: { "x-slack-no-retry": "1" }, body: "expected an event or a slash command of Slack" };
  if (payload.type === "url_verification") {
    const { challenge } = payload;
    return { headers: { "content-type": "text/plain; charset=utf-8" }, body: String(challenge ?? "").slice(0, MAX_CHALLENGE_CHARS) };
  }
  const delivery = readEvent(payload) ?? readCommand(payload);
  if (!delivery) return { status: 200, body: "" };
  // Slack signs each of its own repetitions anew: the same signature again is somebody else's copy, and is answered as the first one.
  let request = receiver.seen.get(signature);
  if (!request) {
    forgetOld(receiver);
    request = { at: receiver.now(), stored: receiver.take(delivery) };
    receiver.seen.set(signature, request);
  }
  if (await within(request.stored, answerMs)) return { status: 200, body: "" };
  if (receiver.seen.get(signature) === request) receiver.seen.delete(signature);
  return { status: 503, headers: { "retry-after": "5" }, body: "" };
}

function forgetOld({ seen, now }: OpenReceiver): void {
  const limit = now() - 2 * MAX_AGE_S * 1_000;
  for (const [signature, { at }] of seen) {
    if (at > limit && seen.size < MAX_SEEN) break;
    seen.delete(signature);
  }
}

/** Events are JSON, slash commands are forms. */
function parsed(body: Uint8Array, type: string): Record<string, unknown> | undefined {
  const text = Buffer.from(body).toString();
  if (type.startsWith("application/x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(text));
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @returns false when it is not stored in time, or cannot be taken now */
async function within(stored: Promise<void>, limitMs: number): Promise<boolean> {
  let late: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    late = setTimeout(() => resolve(false), limitMs);
  });
  const done = stored.then(
    () => true,
    () => false,
  );
  return Promise.race([done, timeout]).finally(() => clearTimeout(late));
}
