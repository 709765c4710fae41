import type { ProcessFault } from "./messages.ts";

/** A failure inside the process of the models, with its class. */
export class Fault extends Error {
  readonly fault: ProcessFault["fault"];
  constructor(fault: ProcessFault["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Rejects with a fault of class `model` that begins with `what`. */
export async function found<T>(what: string, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    throw new Fault("model", `${what}: ${messageOf(error)}`);
  }
}

export function faultOf(error: unknown): ProcessFault {
  if (error instanceof Fault) return { fault: error.fault, message: error.message };
  const message = messageOf(error);
  return { fault: /longer than the (usable )?context/i.test(message) ? "too-long" : "bad-response", message };
}

export function downloadFault(error: unknown): ProcessFault["fault"] {
  const status = statusOf(error);
  if (status === 401 || status === 403) return "auth";
  return status === 404 ? "model" : "network";
}

/** The library's downloader puts the number into one of several places. */
function statusOf(error: unknown): number | undefined {
  const { statusCode, status, message = "" } = (error ?? {}) as { statusCode?: unknown; status?: unknown; message?: string };
  if (typeof statusCode === "number") return statusCode;
  if (typeof status === "number") return status;
  const told = /status(?: code)?:? (\d{3})\b/i.exec(message)?.[1];
  return told === undefined ? undefined : Number(told);
}

export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return withoutCredentials(text).replaceAll(/\s+/g, " ").trim().slice(0, 500);
}

/** Addresses in messages of the library are the whole ones: a signature or a password may be in them. */
function withoutCredentials(text: string): string {
  return text.replaceAll(/(https?:\/\/)(?:[^\s/@?]*@)?([^\s?#,]*)(?:[?#][^\s,]*)?/gi, "$1$2");
}
