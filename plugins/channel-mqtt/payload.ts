import { isRecord } from "svc/sdk";
import type { Subscription } from "./subscriptions.ts";

/** Words of a message, and the name that its sender gives themselves. */
export interface ReceivedPayload {
  text: string;
  name?: string;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** Everything that controls a terminal; tabs and line breaks are layout. */
const controls = /(?![\n\t])\p{Cc}/gu;

/** Reads a payload: UTF-8, or a JSON object with `text` and perhaps `name`. Undefined for what is neither. */
export function readPayload(bytes: Buffer, form: Subscription["payload"]): ReceivedPayload | undefined {
  let whole: string;
  try {
    whole = utf8.decode(bytes);
  } catch {
    return undefined;
  }
  if (form === "text") return { text: clean(whole) };
  const value = parsed(whole);
  if (!isRecord(value) || typeof value.text !== "string") return undefined;
  return { text: clean(value.text), ...(typeof value.name === "string" ? { name: value.name } : {}) };
}

/** @param about fields beside the text, in JSON only */
export function writePayload(text: string, form: Subscription["payload"], about: { id: string; name?: string }): Buffer {
  return Buffer.from(form === "text" ? text : JSON.stringify({ text, ...about }));
}

function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(controls, "");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
