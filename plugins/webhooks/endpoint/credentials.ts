import { hash, timingSafeEqual } from "node:crypto";

/** Names under which senders put a token into the address, where every log on the way would keep it. */
const tokenNames = new Set(["token", "access_token", "auth", "key"]);

export const QUERY_TOKEN_REFUSED =
  "Hook token must be provided via Authorization: Bearer <token> or X-SVC-Token header (query parameters are not allowed).";

/** Does the address carry a token? Whether it is right does not matter. */
export function hasQueryToken(url: URL): boolean {
  if (url.search === "") return false;
  for (const name of url.searchParams.keys()) if (tokenNames.has(name.toLowerCase())) return true;
  return false;
}

/** The token a request presents: the bearer when there is one, else `x-svc-token`. */
export function presentedToken(headers: { get(name: string): string | null }): string | undefined {
  const bearer = /^Bearer\s+(.*)$/is.exec(headers.get("authorization") ?? "")?.[1]?.trim();
  return bearer || headers.get("x-svc-token")?.trim() || undefined;
}

/** SHA-256 of a token: what is compared, so that neither length nor common beginnings show in the time. */
export function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Equal work for a missing, a short and a long token. */
export function isToken(presented: string | undefined, expected: Buffer): boolean {
  return timingSafeEqual(digestOf(presented ?? ""), expected) && presented !== undefined;
}
