import { texts } from "../texts/parts.js";

/** Facts about the code that signs a phone in. Pure. */

/**
 * Address that the other device is to open: a browser keeps a key of its own over HTTPS, and on the machine itself.
 * @param {string} text as a person wrote it
 * @returns {{ address: string, problem?: undefined } | { address?: undefined, problem: string }}
 */
export function inviteAddress(text) {
  const written = text.trim();
  if (written === "") return { problem: texts.writeAddressWhich };
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (!url || !["https:", "http:"].includes(url.protocol)) return { problem: texts.noWebAddress };
  if (url.protocol === "http:" && !isHere(url.hostname)) {
    return { problem: texts.overPlainHttp };
  }
  const path = url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`;
  return { address: url.origin + path };
}

/** @param {string} hostname */
function isHere(hostname) {
  return hostname === "localhost" || hostname.startsWith("127.") || hostname === "[::1]";
}

/** Text of the code: the page takes the invitation out of its address before anything else. @param {string} address @param {string} token */
export function inviteLink(address, token) {
  return `${address}#invite=${token}`;
}

/** Minutes and seconds: "4:05". @param {number} ms */
export function timeLeft(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Why a code would open nothing, by how the gateway signs people in; undefined when it would. @param {string | undefined} authMode */
export function noInviteReason(authMode) {
  if (authMode === "trusted-proxy") return texts.gatewayProxySays;
  if (authMode === "none") return texts.gatewayLetsEverybody;
  return undefined;
}
