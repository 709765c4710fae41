import { isClientError } from "../../sdk/client/error.ts";
import { isSvcError, messageOf } from "../../sdk/errors.ts";

/** A failed command, as `--json` prints it. */
export interface Failure {
  type: "usage" | "config" | "transport" | "auth" | "rpc" | "internal";
  code: string;
  message: string;
  hint?: string;
  exit: number;
}

const EXIT_CONFIG = 78;
const transportCodes = new Set(["gateway-unreachable", "connection-closed", "request-timed-out", "request-timeout", "too-many-pending"]);
const authCodes = new Set(["client-unauthorized", "unauthorized", "rate-limited", "missing-scope", "FORBIDDEN", "NOT_PAIRED"]);

/** Anything thrown by a command → what to say and how to exit. Only a fault of the program itself shows where it happened. */
export function toFailure(error: unknown): Failure {
  if (isSvcError(error)) {
    const exit = error.spec.exit ?? 1;
    const hint = typeof error.fields.hint === "string" ? error.fields.hint : undefined;
    return { type: typeOf(error.code, exit), code: error.code, message: error.message, ...(hint ? { hint } : {}), exit };
  }
  if (isClientError(error)) {
    const code = error.detailCode ?? error.code;
    const type = error.detailCode?.startsWith("AUTH_") ? "auth" : typeOf(error.code, 1);
    return { type, code, message: error.message, exit: 1 };
  }
  const denied = /^(EACCES|EPERM|EROFS|ENOSPC)$/.exec(String((error as NodeJS.ErrnoException | undefined)?.code))?.[1];
  if (denied !== undefined) {
    const hint = "the file or folder cannot be written; check its owner, its mode and the disk, or choose another SVC_STATE_DIR";
    return { type: "config", code: denied.toLowerCase(), message: messageOf(error), hint, exit: 1 };
  }
  return {
    type: "internal",
    code: "internal",
    message: messageOf(error),
    hint: "this is a fault of svc; run again with --log-level debug",
    exit: 1,
  };
}

function typeOf(code: string, exit: number): Failure["type"] {
  if (exit === 2) return "usage";
  if (exit === EXIT_CONFIG || code.startsWith("config-")) return "config";
  if (transportCodes.has(code)) return "transport";
  return authCodes.has(code) ? "auth" : "rpc";
}
