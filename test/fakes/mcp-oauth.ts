import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of MCP over HTTP that wants OAuth 2.1, and its authorization server on another port. It checks what it is sent. */
export interface FakeMcpOAuth {
  /** Address of the MCP server. */
  url: string;
  /** Everything that was wrong with the requests. */
  readonly faults: string[];
  /** Requests to the token endpoint, by grant. */
  readonly grants: string[];
  /** Value of the header `x-api-key` of each request, by path. */
  readonly keys: Array<[path: string, key: string | undefined]>;
  /** Methods that anybody may call; none at first. */
  readonly open: Set<string>;
  /** Rights that a method wants, in the form of a scope; none at first. */
  readonly wants: Map<string, string>;
  /** Scope of each request for a login, in order. */
  readonly askedScopes: Array<string | null>;
  /** Access tokens that are out lose their rights, although they were given. */
  narrow(): void;
  /** Access tokens that are out end now. */
  expire(): void;
  /** Address of the authorization server in the metadata of the resource, in place of its own. */
  nameIssuer(address: string): void;
  close(): Promise<void>;
}

/** A client that was registered by hand: others cannot be. */
interface RegisteredByHand {
  id: string;
  secret: string;
}

interface Code {
  scope: string;
  challenge: string;
  redirectUri: string;
  clientId: string;
}

export async function startMcpOAuth({ client }: { client?: RegisteredByHand } = {}): Promise<FakeMcpOAuth> {
  const faults: string[] = [];
  const grants: string[] = [];
  const keys: Array<[string, string | undefined]> = [];
  const open = new Set<string>();
  const wants = new Map<string, string>();
  const askedScopes: Array<string | null> = [];
  /** Scopes of the tokens that are out. */
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const codes = new Map<string, Code>();
  const clients = new Map<string, string[]>();
  let named: string | undefined;

  const issuer = await listen((request, response) => authorize(request, response));
  const resource = await listen((request, response) => serve(request, response));
  const issuerUrl = addressOf(issuer);
  const url = `${addressOf(resource)}/mcp`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", url);
    keys.push([pathname, request.headers["x-api-key"] as string | undefined]);
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return json(response, 200, { resource: url, authorization_servers: [named ?? issuerUrl] });
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const body = request.method === "POST" ? await bodyOf(request) : "{}";
    const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: { protocolVersion?: string } };
    if (!access.has(token) && !open.has(method)) {
      const metadata = `${addressOf(resource)}/.well-known/oauth-protected-resource/mcp`;
      response.setHeader("WWW-Authenticate", `Bearer resource_metadata="${metadata}"`);
      return json(response, 401, { error: "invalid_token" });
    }
    const wanted = wants.get(method);
    if (wanted !== undefined && !wanted.split(" ").every((one) => access.get(token)?.split(" ").includes(one))) {
      response.setHeader("WWW-Authenticate", `Bearer error="insufficient_scope", scope="${wanted}"`);
      return json(response, 403, { error: "insufficient_scope" });
    }
    if (request.method !== "POST") return json(response, 405, {});
    if (id === undefined) return json(response, 202, undefined);
    const results: Record<string, object> = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "guarded", version: "1" } },
      "tools/list": { tools: [{ name: "whoami", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }] },
      "tools/call": { content: [{ type: "text", text: `you are ${token}` }] },
    };
    const result = results[method];
    return json(
      response,
      200,
      result ? { jsonrpc: "2.0", id, result } : { jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } },
    );
  }

  async function authorize(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuerUrl);
    keys.push([pathname, request.headers["x-api-key"] as string | undefined]);
    if (pathname === "/.well-known/oauth-authorization-server") return json(response, 200, metadataOf(issuerUrl, client));
    if (pathname === "/register" && !client) {
      const { redirect_uris } = JSON.parse(await bodyOf(request)) as { redirect_uris: string[] };
      const clientId = `client-${clients.size + 1}`;
      clients.set(clientId, redirect_uris);
      return json(response, 201, { client_id: clientId, redirect_uris, token_endpoint_auth_method: "none" });
    }
    if (pathname === "/authorize") return grant(searchParams, response);
    if (pathname === "/token") return give(new URLSearchParams(await bodyOf(request)), request, response);
    return json(response, 404, {});
  }

  function grant(query: URLSearchParams, response: ServerResponse): void {
    const [clientId, redirectUri, challenge] = ["client_id", "redirect_uri", "code_challenge"].map((name) => query.get(name) ?? "") as [
      string,
      string,
      string,
    ];
    askedScopes.push(query.get("scope"));
    if (client ? clientId !== client.id : !clients.get(clientId)?.includes(redirectUri))
      faults.push(`redirect_uri ${redirectUri} is not registered by ${clientId}`);
    if (query.get("code_challenge_method") !== "S256" || challenge === "") faults.push("no S256 challenge");
    if (query.get("resource") !== url) faults.push(`resource ${query.get("resource")}`);
    const code = randomBytes(8).toString("hex");
    codes.set(code, { challenge, redirectUri, clientId, scope: query.get("scope") ?? "" });
    const back = new URL(redirectUri);
    back.search = new URLSearchParams({ code, state: query.get("state") ?? "", iss: issuerUrl }).toString();
    response.writeHead(302, { Location: back.href }).end();
  }

  function give(form: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    const type = form.get("grant_type") ?? "";
    grants.push(type);
    const basic = client && `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
    if (client && request.headers.authorization !== basic) {
      faults.push("the client did not show its secret");
      return json(response, 401, { error: "invalid_client" });
    }
    const scope = type === "refresh_token" ? refresh.get(form.get("refresh_token") ?? "") : codes.get(form.get("code") ?? "")?.scope;
    if (form.get("resource") !== url) faults.push(`resource ${form.get("resource")} at the token endpoint`);
    if (type === "refresh_token" ? !refresh.delete(form.get("refresh_token") ?? "") : !redeem(form))
      return json(response, 400, { error: "invalid_grant" });
    const [accessToken, refreshToken] = [`access-${randomBytes(8).toString("hex")}`, `refresh-${randomBytes(8).toString("hex")}`];
    access.set(accessToken, scope ?? "");
    refresh.set(refreshToken, scope ?? "");
    json(response, 200, { access_token: accessToken, refresh_token: refreshToken, token_type: "Bearer", expires_in: 3_600 });
  }

  function redeem(form: URLSearchParams): boolean {
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (!code || code.challenge !== challenge) faults.push("the verifier does not fit the challenge");
    if (code?.redirectUri !== form.get("redirect_uri")) faults.push("another redirect_uri");
    if (!client && code?.clientId !== form.get("client_id")) faults.push("another client_id");
    return code !== undefined;
  }

  return {
    url,
    faults,
    grants,
    keys,
    open,
    wants,
    askedScopes,
    narrow: () => {
      for (const token of access.keys()) access.set(token, "");
    },
    expire: () => access.clear(),
    nameIssuer: (address) => {
      named = address;
    },
    close: async () => {
      await Promise.all([issuer, resource].map(stop));
    },
  };
}

function metadataOf(issuer: string, client: RegisteredByHand | undefined): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    ...(client ? {} : { registration_endpoint: `${issuer}/register` }),
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: [client ? "client_secret_basic" : "none"],
    authorization_response_iss_parameter_supported: true,
  };
}

function listen(handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<Server> {
  const server = createServer((request, response) => {
    handler(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(body === undefined ? "" : JSON.stringify(body));
}
