import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An OAuth provider on the loopback: gives access tokens for a refresh token, and says of each whether it is good (RFC 7662). */
export interface OauthProvider {
  tokenUrl: string;
  /** Takes the token behind its `token=`. */
  introspectionUrl: string;
  /** Good access tokens. */
  readonly tokens: Set<string>;
  /** Requests for a token so far. */
  requests(): number;
  /** Takes the refresh token back. */
  revoke(): void;
  close(): Promise<void>;
}

export async function startOauthProvider({
  user,
  refreshToken,
  clientSecret,
}: {
  user: string;
  refreshToken: string;
  clientSecret: string;
}): Promise<OauthProvider> {
  const tokens = new Set<string>();
  let requests = 0;
  let isRevoked = false;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (url.pathname === "/introspect") {
      const active = tokens.has(url.searchParams.get("token") ?? "");
      return answer(200, active ? { active, username: user, email: user } : { active });
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const form = new URLSearchParams(body);
    requests += 1;
    const isKnown =
      form.get("client_id") === "svc" && form.get("client_secret") === clientSecret && form.get("grant_type") === "refresh_token";
    if (!isKnown) return answer(401, { error: "invalid_client" });
    if (isRevoked || form.get("refresh_token") !== refreshToken) return answer(400, { error: "invalid_grant" });
    const token = `access-${requests}-${Math.random().toString(36).slice(2)}`;
    tokens.add(token);
    answer(200, { access_token: token, expires_in: 3_600, token_type: "Bearer" });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    tokenUrl: `${base}/token`,
    introspectionUrl: `${base}/introspect?token=`,
    tokens,
    requests: () => requests,
    revoke() {
      isRevoked = true;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
