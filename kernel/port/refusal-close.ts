import type { SvcError } from "../../sdk/errors.ts";

/** Close code and reason after a handshake was refused with this error. */
export function refusalClose(error: SvcError): { code: number; reason: string } {
  switch (error.code) {
    case "protocol-mismatch":
      return { code: 1002, reason: error.message };
    case "gateway-starting":
      return { code: 1013, reason: "gateway starting" };
    case "draining":
      return { code: 1001, reason: "gateway stopping" };
    case "pairing-required":
      return { code: 1008, reason: `${error.message} (requestId: ${String(error.fields.requestId)})` };
    default:
      return { code: 1008, reason: error.message };
  }
}
