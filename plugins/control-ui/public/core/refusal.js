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
        reason: `The gateway refused this ${field}. Check that it is complete and belongs to this gateway.`,
        isFailure: true,
      };
    case "AUTH_BOOTSTRAP_TOKEN_MISMATCH": {
      const reason =
        "This code has been used, or has run out. Show a new one where you are signed in, or sign in with the gateway's secret.";
      return { kind: "secret", field: "secret", reason, isFailure: true };
    }
    case "AUTH_RATE_LIMITED": {
      const reason = "Too many failed attempts from this address. The gateway refuses further ones until the time is over.";
      return { kind: "secret", field, reason, isFailure: true, retryAfterMs: error.retryAfterMs ?? 60_000 };
    }
    case "CONTROL_UI_ORIGIN_NOT_ALLOWED":
      return {
        kind: "other",
        title: "This address is not allowed yet",
        text: "The gateway accepts pages from its own addresses only. To allow this one, add the line to its config file, then try again:",
        lines: [`gateway: { controlUi: { allowedOrigins: ["${page.origin}"] } }`],
      };
    case "PAIRING_REQUIRED":
      return {
        kind: "pairing",
        title: "Waiting for approval",
        text: "This browser is new to the gateway. Approve it on the gateway's machine; this page then continues by itself:",
        lines: [`svc devices approve ${details.requestId ?? ""}`.trim()],
      };
    case "AUTH_DEVICE_TOKEN_MISMATCH":
    case "AUTH_SCOPE_MISMATCH":
      return {
        kind: "secret",
        field,
        reason: "This browser's own token is not valid any more. Sign in with the gateway's secret.",
        isFailure: false,
      };
    case "DEVICE_IDENTITY_REQUIRED":
      return {
        kind: "other",
        title: "This page needs HTTPS or a tunnel",
        text: "From another machine the gateway accepts paired devices only, and a browser cannot prove that it is one over plain HTTP. Use HTTPS, or a tunnel that makes this browser local; run it, then open the address it forwards:",
        lines: [
          `ssh -N -L ${page.port || "18789"}:127.0.0.1:${page.port || "18789"} ${page.hostname}`,
          `http://127.0.0.1:${page.port || "18789"}/`,
        ],
      };
    case "PROTOCOL_MISMATCH":
      return {
        kind: "version",
        title: "A new version is running",
        text: "This page is older or newer than the gateway. Reload it.",
        lines: [],
      };
    case "gateway auth changed":
      return { kind: "secret", field, reason: "The gateway's secret was changed. Sign in with the new one.", isFailure: false };
    default:
      return { kind: "other", title: "The gateway refused the connection", text: error.message, lines: [] };
  }
}
