import type { AgentAction } from "../action.ts";
import { MAX_PAYLOAD_BYTES } from "../deliveries/stored-action.ts";
import { actionErrors } from "./errors.ts";

/** Size of a row besides its action. */
const ROW_BYTES = 64;

/**
 * A row holds 256 KiB. Texts are measured before anything is done with them, actions when they are whole.
 * @throws {SvcError} `hook-too-large`
 */
export function checkSize(what: string | AgentAction): void {
  const isText = typeof what === "string";
  // A text has at least as many bytes as units: a long one need not be counted.
  if (isText && what.length > MAX_PAYLOAD_BYTES) throw actionErrors.hookTooLarge();
  const bytes = Buffer.byteLength(isText ? what : JSON.stringify(what));
  if (bytes + (isText ? 0 : ROW_BYTES) > MAX_PAYLOAD_BYTES) throw actionErrors.hookTooLarge();
}
