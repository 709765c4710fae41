import { texts } from "../texts/sign-in.js";

/**
 * Says in words why a connection was refused, and the next step. Pure. `field` is `secret` where the gateway does not say which of the two it asks for.
 *
 * @typedef {{ kind: "secret", field: "token" | "password" | "secret", reason: string, isFailure: boolean, retryAfterMs?: number }
 *   | { kind: "other" | "version" | "pairing", title: string, text: string, lines: string[] }} Refusal
 */

/**
 * @param {{ message: string, details?: object | undefined, retryAfterMs?: number | undefined, code: string }} error
 * @param {{ origin: string, protocol: string, port: string, hostname: string }} page
 * @returns {Refusal}
 */
export function refusalOf(error, page) {
  const details = /** @type {Record<string, unknown>} */ (error.details ?? {});
  const code = String(details.code ?? details.reason ?? error.code);
  const field = code.startsWith("AUTH_PASSWORD") ? "password" : code.startsWith("AUTH_TOKEN") ? "token" : "secret";
  switch (code) {
    case "AUTH_TOKEN_MISSING":
    case "AUTH_PASSWORD_MISSING":
      return { kind: "secret", field, reason: "", isFailure: false };
    case "AUTH_TOKEN_MISMATCH":
    case "AUTH_PASSWORD_MISMATCH":
      return {
        kind: "secret",
        field,
        reason: texts.gatewayRefusedCheck(field),
        isFailure: true,
      };
    case "AUTH_BOOTSTRAP_TOKEN_MISMATCH": {
      const reason = texts.codeBeenUsed;
      return { kind: "secret", field: "secret", reason, isFailure: true };
    }
    case "AUTH_RATE_LIMITED": {
      const reason = texts.tooManyFailed;
      return { kind: "secret", field, reason, isFailure: true, retryAfterMs: error.retryAfterMs ?? 60_000 };
    }
    case "CONTROL_UI_ORIGIN_NOT_ALLOWED":
      return {
        kind: "other",
        title: texts.addressNotAllowed,
        text: texts.gatewayAcceptsPages,
        lines: [`gateway: { controlUi: { allowedOrigins: ["${page.origin}"] } }`],
      };
    case "PAIRING_REQUIRED":
      return {
        kind: "pairing",
        title: texts.waitingApproval,
        text: texts.browserNewGateway,
        lines: [`svc devices approve ${details.requestId ?? ""}`.trim()],
      };
    case "AUTH_DEVICE_TOKEN_MISMATCH":
    case "AUTH_SCOPE_MISMATCH":
      return {
        kind: "secret",
        field,
        reason: texts.browserSOwn,
        isFailure: false,
      };
    case "DEVICE_IDENTITY_REQUIRED":
      return {
        kind: "other",
        title: texts.pageNeedsHttps,
        text: texts.anotherMachineGateway,
        lines: [
          `ssh -N -L ${page.port || "18789"}:127.0.0.1:${page.port || "18789"} ${page.hostname}`,
          `http://127.0.0.1:${page.port || "18789"}/`,
        ],
      };
    case "PROTOCOL_MISMATCH":
      return {
        kind: "version",
        title: texts.newVersionRunning,
        text: texts.pageOlderNewer,
        lines: [],
      };
    case "gateway auth changed":
      return { kind: "secret", field, reason: texts.gatewaySSecret, isFailure: false };
    default:
      return { kind: "other", title: texts.gatewayRefusedConnection, text: error.message, lines: [] };
  }
}
