import { randomBytes } from "node:crypto";
import type { OAuthProvider } from "./library.ts";
import type { OAuthStore, StoredLogin } from "./oauth-store.ts";

/** Issuer of what came before the authorization server was known. */
const UNKNOWN = "unknown";

interface ProviderOptions {
  server: string;
  store: OAuthStore;
  login: StoredLogin;
}

/** A provider, and what a login in progress needs of it. */
export interface LoginProvider extends OAuthProvider {
  /** Address that a person has to open; undefined until the server asked for it. */
  authorizationUrl(): URL | undefined;
  expectedState(): string;
}

/** Keeps what OAuth needs for one server; every change is stored before the library goes on. */
export function createOAuthProvider({ server, store, login }: ProviderOptions): LoginProvider {
  const state = randomBytes(24).toString("base64url");
  let verifier = "";
  let discovery: Record<string, unknown> | undefined;
  let address: URL | undefined;
  const entry = (issuer: string | undefined) => login.byIssuer[issuer ?? login.issuer ?? UNKNOWN];
  const change = (issuer = UNKNOWN, values: { client?: Record<string, unknown>; tokens?: Record<string, unknown> }) => {
    login.byIssuer[issuer] = { ...login.byIssuer[issuer], ...values };
    return store.write(server, login);
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
    clientInformation: async (context) => entry(context?.issuer)?.client,
    saveClientInformation: (client, context) => change(context?.issuer, { client }),
    tokens: async (context) => entry(context?.issuer)?.tokens,
    async saveTokens(tokens, context) {
      login.issuer = context?.issuer ?? UNKNOWN;
      await change(context?.issuer, { tokens });
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
      await store.write(server, login);
    },
    authorizationUrl: () => address,
    expectedState: () => state,
  };
}
