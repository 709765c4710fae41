import type { MessageRoute } from "svc/sdk";
import { idFault } from "svc/sdk/internal";
import { badRequest } from "./errors.ts";

/** Longest id of a channel, an account, a recipient or a thread. */
const MAX_ID_CHARS = 512;
/** The other fields of a place; without a channel they say nothing. */
const details = { to: "x-svc-message-to", accountId: "x-svc-account-id", threadId: "x-svc-thread-id" } as const;

/** Headers that name a place. */
export const placeHeaders: readonly string[] = ["x-svc-message-channel", ...Object.values(details)];

/**
 * The place on a channel that a request is taken to come from, as its headers name it. Undefined: none, which is `webchat`.
 * @throws {SvcError} `v1-bad-request` for an id that is none, and for the place on a channel that is not named
 */
export function placeOf(headers: Headers): MessageRoute | undefined {
  const channel = idOf(headers, "x-svc-message-channel");
  const rest = Object.entries(details).flatMap(([field, header]) => {
    const id = idOf(headers, header);
    if (id !== undefined && channel === undefined) throw badRequest(`${header}: names no place without x-svc-message-channel`);
    return id === undefined ? [] : [[field, id] as const];
  });
  return channel === undefined ? undefined : { channel, ...Object.fromEntries(rest) };
}

function idOf(headers: Headers, name: string): string | undefined {
  const value = headers.get(name)?.trim() ?? "";
  if (value === "") return undefined;
  const id = decoded(value);
  const fault = id.length > MAX_ID_CHARS ? `expected at most ${MAX_ID_CHARS} characters, received ${id.length}` : idFault(id);
  if (fault !== undefined) throw badRequest(`${name}: ${fault}`);
  return id;
}

/** A header arrives byte by byte: what is UTF-8 was meant as such, and anything else as Latin-1. */
export function decoded(value: string): string {
  if (!/[\u0080-\u00ff]/.test(value)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}
