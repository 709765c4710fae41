import type { Fetch } from "./library.ts";
import type { StoredLogin, WantedScope } from "./oauth-store.ts";

const MAX_CHALLENGE_CHARS = 4_096;
const MAX_SCOPE_CHARS = 1_000;

/** Refusal of a request by a server that wants more rights than the login has. */
export class ScopeRefusal extends Error {
  readonly wanted: WantedScope;
  constructor(wanted: WantedScope) {
    super(`it wants more rights: ${wanted.scope}`);
    this.name = "ScopeRefusal";
    this.wanted = wanted;
  }
}

/**
 * `fetch` that takes a refusal of the server for want of rights apart. The library would begin a login by itself, and a person has to agree to it.
 * @throws {ScopeRefusal}
 */
export function withScopeRefusals(fetch: Fetch, url: string): Fetch {
  const own = new URL(url).href;
  return async (input, init) => {
    const response = await fetch(input, init);
    const wanted = response.status === 403 && new URL(input).href === own ? wantedIn(response.headers.get("www-authenticate")) : undefined;
    if (!wanted) return response;
    await response.body?.cancel().catch(() => undefined);
    throw new ScopeRefusal(wanted);
  };
}

/** The rights that a challenge names (RFC 6750, section 3); undefined: it names none, or is about something else. Pure. */
export function wantedIn(challenge: string | null): WantedScope | undefined {
  if (challenge === null || challenge.length > MAX_CHALLENGE_CHARS || !/^bearer\b/i.test(challenge)) return undefined;
  const values = new Map<string, string>();
  for (const [, name = "", quoted, token] of challenge.matchAll(/[\s,]([a-z_]{1,32})=(?:"([^"]*)"|([^\s",]+))/gi))
    values.set(name.toLowerCase(), quoted ?? token ?? "");
  const error = values.get("error");
  const scope = scopesOf(values.get("scope")).join(" ");
  if (scope === "" || scope.length > MAX_SCOPE_CHARS || (error !== undefined && error !== "insufficient_scope")) return undefined;
  const metadataUrl = values.get("resource_metadata");
  return { scope, ...(metadataUrl !== undefined && URL.canParse(metadataUrl) ? { metadataUrl } : {}) };
}

/** Rights of a list, without what RFC 6749 (appendix A.4) does not allow in one. */
function scopesOf(text: unknown): string[] {
  if (typeof text !== "string") return [];
  return [...new Set(text.split(" "))].filter((one) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(one));
}

/** Both lists of rights as one. Pure. */
export function joinedScopes(a: unknown, b: unknown): string {
  return [...new Set([...scopesOf(a), ...scopesOf(b)])].join(" ");
}

/** Rights that a login has, as far as its authorization server said. Pure. */
export function grantedScope({ issuer, byIssuer }: StoredLogin): string {
  return joinedScopes(byIssuer[issuer ?? ""]?.tokens?.scope, undefined);
}

/** Has a login all of the rights? Pure. */
export function hasScope(login: StoredLogin, scope: string): boolean {
  const granted = new Set(scopesOf(grantedScope(login)));
  return scopesOf(scope).every((one) => granted.has(one));
}
