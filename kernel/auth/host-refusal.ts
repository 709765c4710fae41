import type { SvcError } from "../../sdk/errors.ts";
import { protocolErrors } from "../../sdk/protocol/errors.ts";

/** Characters of a foreign `Host` that an answer repeats. */
const MAX_HOST_CHARS = 100;

/** A request by a host name that is not one of the gateway's (RFC 9110 15.5.20). */
export function misdirected(host: string): SvcError {
  const name = host.slice(0, MAX_HOST_CHARS).replace(/[^\w.:-]/g, "?");
  return protocolErrors.misdirectedRequest({ host: name });
}
