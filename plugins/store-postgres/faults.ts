import type { StoreStatus } from "svc/sdk";
import { Refusal } from "./refusal.ts";

/** Reasons of this store; the embedded one has others. */
export type StorageReason = Exclude<NonNullable<StoreStatus["reason"]>, "corrupt" | "down">;

/** Description and remedy for each fault, for the error and for health. */
export const storageAdvice: Record<StorageReason, string> = {
  full: "the disk of the database is full, nothing can be stored; free some space there; writing resumes by itself within 5 s",
  readonly: "the database is read-only, nothing can be stored; make it writable; writing resumes by itself within 5 s",
  standby:
    "the database is a standby and takes no writes; store.postgres.url must lead to the primary; writing resumes by itself within 5 s",
  io: "the disk of the database fails, nothing can be stored; check the server's log; writing resumes by itself within 5 s",
  unreachable:
    "the database does not answer, nothing can be stored; check the server and the network; writing resumes by itself within 5 s",
  fenced: "this gateway has lost its lease, nothing can be stored; check its clock and its link to the database",
  closed: "the store is closed; the gateway is stopping",
};

/** The one error of a commit or a read that the storage, not the caller, made impossible. */
export function storageUnavailable(reason: StorageReason, cause?: unknown): Refusal {
  return new Refusal("storage-unavailable", { reason, advice: storageAdvice[reason] }, { retryAfterMs: 5_000, cause });
}

/** Code of an answer that did not come in time. */
export const NO_ANSWER = "NO_ANSWER";

/** @throws the answer's own error; one with the code `NO_ANSWER` after `ms` */
export async function answerWithin<T>(ms: number, answer: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error(`no answer within ${ms} ms`), { code: NO_ANSWER })), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** SQLSTATE of an error of the server, or the driver's and the system's word for what the network did. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "";
}

const sqlState = /^[0-9A-Z]{5}$/;

/**
 * Fault of the storage that an error tells of; undefined for one of the statement itself. What is no SQLSTATE comes from the network or the driver: the database was
 * not reached, or its answer was not.
 */
export function storageFault(error: unknown): StorageReason | undefined {
  const code = codeOf(error);
  if (!sqlState.test(code) || code.startsWith("E") || code.startsWith("08") || code.startsWith("57P") || code === "57014")
    return "unreachable";
  if (code.startsWith("53")) return code === "53100" ? "full" : "unreachable";
  if (code === "25006") return "readonly";
  if (code.startsWith("58") || code.startsWith("XX")) return "io";
  // A password that was changed, a role that was locked, a database that is gone: an operator's matter, and it heals.
  if (code.startsWith("28") || code === "3D000" || code === "25P03" || code === "25P04") return "unreachable";
  return undefined;
}

/** A statement that would succeed when it is sent again: the server has undone it. */
export function isTransient(error: unknown): boolean {
  return ["40P01", "40001", "55P03"].includes(codeOf(error));
}

/**
 * Names an error of the driver without what may hold a secret: the message of a failed connection repeats the address, and that of the driver its options.
 */
export function faultText(error: unknown): string {
  const code = codeOf(error);
  const message = sqlState.test(code) && error instanceof Error ? error.message.slice(0, 200) : "";
  return [code || "no answer", message].filter((part) => part !== "").join(": ");
}
