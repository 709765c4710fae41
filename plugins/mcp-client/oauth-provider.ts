import { randomBytes } from "node:crypto";
import type { OAuthProvider } from "./library.ts";
import type { OAuthStore, StoredLogin } from "./oauth-store.ts";
import type { RegisteredClient } from "./settings.ts";

/** Issuer of what came before the authorization server was known. */
const UNKNOWN = "unknown";

interface ProviderOptions {
  server: string;
  store: OAuthStore;
  login: StoredLogin;
  /** Client that was registered by hand. */
  client?: RegisteredClient | undefined;
  /** Stored with its tokens and not before: whoever leaves it keeps the login that was there. */
  isBegun?: boolean;
}

/** A provider, and what a login in progress needs of it. */
export interface LoginProvider extends OAuthProvider {
  /** Address that a person has to open; undefined until the server asked for it. */
  authorizationUrl(): URL | undefined;
  expectedState(): string;
}

/** Keeps what OAuth needs for one server; every change of a login that has its tokens is stored before the library goes on. */
export function createOAuthProvider({ server, store, login, client: ours, isBegun = false }: ProviderOptions): LoginProvider {
  const state = randomBytes(24).toString("base64url");
  let verifier = "";
  let discovery: Record<string, unknown> | undefined;
  let address: URL | undefined;
  let hasTokens = !isBegun;
  const keep = async () => {
    if (hasTokens) await store.write(server, login);
  };
  const entry = (issuer: string | undefined) => login.byIssuer[issuer ?? login.issuer ?? UNKNOWN];
  const change = (issuer = UNKNOWN, values: { client?: Record<string, unknown>; tokens?: Record<string, unknown> }) => {
    login.byIssuer[issuer] = { ...login.byIssuer[issuer], ...values };
    return keep();
  };
  return {
    redirectUrl: login.redirectUrl,
    clientMetadata: {
      client_name: "svc",
      redirect_uris: [login.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
    state: () => state,
    clientInformation: async (context) => (ours ? informationOf(ours) : entry(context?.issuer)?.client),
    saveClientInformation: (client, context) => change(context?.issuer, { client }),
    tokens: async (context) => entry(context?.issuer)?.tokens,
    async saveTokens(tokens, context) {
      login.issuer = context?.issuer ?? UNKNOWN;
      hasTokens = true;
      // A server that names no rights with the tokens gave those that were asked for (RFC 6749, section 5.1).
      const asked = address?.searchParams.get("scope") ?? entry(context?.issuer)?.tokens?.scope;
      await change(context?.issuer, { tokens: { ...(asked ? { scope: asked } : {}), ...tokens } });
    },
    redirectToAuthorization(url) {
      address = url;
    },
    saveCodeVerifier(value) {
      verifier = value;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(value) {
      discovery = value;
    },
    discoveryState: () => discovery,
    async invalidateCredentials(scope) {
      if (scope === "discovery" || scope === "all") discovery = undefined;
      if (scope === "verifier" || scope === "discovery") return;
      for (const one of Object.values(login.byIssuer)) {
        if (scope !== "client") delete one.tokens;
        if (scope !== "tokens") delete one.client;
      }
      await keep();
    },
    authorizationUrl: () => address,
    expectedState: () => state,
  };
}

function informationOf({ clientId, clientSecret }: RegisteredClient): Record<string, unknown> {
  return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
}
