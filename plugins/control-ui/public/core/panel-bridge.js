import { texts } from "../texts/panels.js";

/**
 * The page's end of the channel to a frame of a plugin: it takes `{id, method, params}` and answers `{id, ok, payload | error}`. Nothing of a message is
 * used before it was counted, measured and compared with what the panel declared.
 *
 * @typedef {{ code: string, message: string, retryAfterMs?: number }} Refusal
 * @typedef {{ id: string | number | null, method?: string, params?: Record<string, unknown>, refusal?: Refusal }} Call
 */

const MAX_BYTES = 65_536;
const CALLS_A_SECOND = 10;
const MAX_OPEN = 10;
/** Refusals in a row of a frame that does not heed them. */
const MAX_REFUSED = 1_000;
const SECOND_MS = 1_000;

const encoder = new TextEncoder();

/**
 * @param {{ methods: readonly string[], call: (method: string, params: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>,
 *   onFlood: () => void, now?: () => number }} options
 */
export function openBridge({ methods, call, onFlood, now = () => performance.now() }) {
  const { port1: own, port2: handed } = new MessageChannel();
  const isFree = createPace(now);
  let open = 0;
  let refused = 0;
  const ended = new AbortController();

  const close = () => {
    ended.abort();
    own.onmessage = null;
    own.close();
  };
  /** @param {Call["id"]} id @param {{ payload?: unknown } | { error: Refusal }} answer */
  const answer = (id, answer) => {
    if (!ended.signal.aborted) own.postMessage({ id, ok: !("error" in answer), ...answer });
  };
  /** @param {Call["id"]} id @param {Refusal} error */
  const refuse = (id, error) => {
    refused += 1;
    if (refused < MAX_REFUSED) return answer(id, { error });
    close();
    onFlood();
  };

  /** @param {unknown} data */
  const heard = async (data) => {
    if (!isFree() || open >= MAX_OPEN) return refuse(idOf(data), { code: "RATE_LIMITED", message: texts.tooMany, retryAfterMs: SECOND_MS });
    const { id, method = "", params = {}, refusal } = readCall(data, methods);
    if (refusal) return refuse(id, refusal);
    refused = 0;
    open += 1;
    try {
      answer(id, packed(await call(method, params, ended.signal)));
    } catch (error) {
      answer(id, { error: refusalOf(error) });
    } finally {
      open -= 1;
    }
  };
  own.onmessage = ({ data }) => void heard(data);
  return { port: handed, close };
}

/**
 * A message as a call, or the reason why it is none. Pure.
 * @param {unknown} data @param {readonly string[]} methods that the panel declared
 * @returns {Call}
 */
export function readCall(data, methods) {
  const id = idOf(data);
  const invalid = { id, refusal: { code: "INVALID_REQUEST", message: texts.badCall } };
  let text;
  try {
    text = JSON.stringify(data);
  } catch {
    return invalid; // it contains itself, or something that has no form as text
  }
  if (text === undefined || id === null) return invalid;
  if (text.length > MAX_BYTES || encoder.encode(text).length > MAX_BYTES)
    return { id, refusal: { code: "TOO_LARGE", message: texts.tooLarge } };
  const { method, params = {} } = JSON.parse(text);
  if (typeof method !== "string" || typeof params !== "object" || params === null || Array.isArray(params)) return invalid;
  if (!methods.includes(method)) return { id, refusal: { code: "FORBIDDEN", message: texts.noMethod } };
  return { id, method, params };
}

/** @param {unknown} data @returns {Call["id"]} */
function idOf(data) {
  const id = typeof data === "object" && data !== null && Object.hasOwn(data, "id") ? /** @type {{ id: unknown }} */ (data).id : undefined;
  return (typeof id === "string" && id.length <= 64) || (typeof id === "number" && Number.isFinite(id)) ? id : null;
}

/** @param {unknown} payload */
function packed(payload) {
  const text = JSON.stringify(payload ?? null);
  const isLarge = text.length > MAX_BYTES || encoder.encode(text).length > MAX_BYTES;
  return isLarge ? { error: { code: "TOO_LARGE", message: texts.answerTooLarge } } : { payload: JSON.parse(text) };
}

/** Says no more of a failure than its name and its sentence. @param {unknown} error @returns {Refusal} */
function refusalOf(error) {
  const { code = "UNAVAILABLE", message = String(error), retryAfterMs } = /** @type {Partial<Refusal>} */ (error ?? {});
  return { code: String(code), message: String(message), ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}) };
}

/** True for the first ten questions of any second. @param {() => number} now */
function createPace(now) {
  /** @type {number[]} */
  const times = [];
  return () => {
    const at = now();
    while (times.length > 0 && /** @type {number} */ (times[0]) <= at - SECOND_MS) times.shift();
    if (times.length >= CALLS_A_SECOND) return false;
    times.push(at);
    return true;
  };
}
