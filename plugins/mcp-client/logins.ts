import { timingSafeEqual } from "node:crypto";
import { type Clock, cleanExternalLine } from "svc/sdk";
import { mcpErrors } from "./errors.ts";
import { reasonOf } from "./failures.ts";
import type { Fetch, loadMcpLibrary } from "./library.ts";
import { createOAuthProvider, type LoginProvider } from "./oauth-provider.ts";
import type { OAuthStore, StoredLogin } from "./oauth-store.ts";
import { grantedScope, joinedScopes } from "./scope.ts";
import { serverFetch } from "./server-fetch.ts";
import { hasOwnToken, type ServerSettings } from "./settings.ts";

/** Time a person has to log in. */
const LIFE_MS = 600_000;
const MAX_PENDING = 16;

interface Pending {
  provider: LoginProvider;
  settings: HttpSettings;
  endsAt: number;
}

type HttpSettings = Extract<ServerSettings, { kind: "http" }>;

interface LoginDeps {
  library(): ReturnType<typeof loadMcpLibrary>;
  fetch: Fetch;
  store: OAuthStore;
  clock: Clock;
  version: string;
}

/** Logins that wait for a person: OAuth with a code, which a command hands over. */
export class Logins {
  readonly #deps: LoginDeps;
  readonly #pending = new Map<string, Pending>();

  constructor(deps: LoginDeps) {
    this.#deps = deps;
  }

  /**
   * Asks the server where a person has to log in; undefined: it lets this client in as it is.
   * @throws {SvcError} `mcp-no-login`, `mcp-login-failed`
   */
  async begin(settings: ServerSettings, redirectUrl: string, signal: AbortSignal): Promise<URL | undefined> {
    const server = settings.name;
    if (settings.kind !== "http") throw mcpErrors.mcpNoLogin({ server, reason: "it is a program; give it what it needs in env" });
    if (hasOwnToken(settings))
      throw mcpErrors.mcpNoLogin({ server, reason: "the config gives it a header Authorization; take that out first" });
    const { store } = this.#deps;
    const known = await store.read(server, settings);
    const login = newLogin(settings, { redirectUrl, known });
    const provider = createOAuthProvider({ server, store, login, client: settings.oauth, isBegun: true });
    try {
      if (known?.wanted) await this.#askForMore(settings, { provider, known, signal });
      else if (await this.#isLetIn(settings, { provider, signal })) return undefined;
    } catch (error) {
      if (!provider.authorizationUrl()) throw mcpErrors.mcpLoginFailed({ server, reason: cleanExternalLine(reasonOf(error)) });
    }
    return this.#await(settings, provider);
  }

  /** Connects as a client of this login would. @throws what the library throws, after it asked for a login */
  async #isLetIn(settings: HttpSettings, { provider, signal }: { provider: LoginProvider; signal: AbortSignal }): Promise<true> {
    const client = await this.#client();
    try {
      const options = { signal, timeout: settings.startMs };
      await client.connect(await this.#transport(settings, provider), options);
      // Some let anybody connect, and want a login for all that comes after.
      if (client.getServerCapabilities()?.tools !== undefined) await client.request({ method: "tools/list", params: {} }, options);
      return true;
    } finally {
      await client.close().catch(() => undefined);
    }
  }

  /** Asks for a login with the rights that there are and those that a call wanted: the server would let the client in as it is. */
  async #askForMore(
    { url, headers, startMs }: HttpSettings,
    { provider, known, signal }: { provider: LoginProvider; known: StoredLogin; signal: AbortSignal },
  ): Promise<void> {
    const { auth } = await this.#deps.library();
    const { scope, metadataUrl } = known.wanted ?? {};
    const onward = serverFetch({ url, headers, fetch: this.#deps.fetch });
    const stop = AbortSignal.any([signal, AbortSignal.timeout(startMs)]);
    await auth(provider, {
      serverUrl: new URL(url),
      scope: joinedScopes(grantedScope(known), scope),
      ...(metadataUrl === undefined ? {} : { resourceMetadataUrl: new URL(metadataUrl) }),
      fetchFn: (input, init) => onward(input, { ...init, signal: stop }),
    });
  }

  /** Keeps a login until its person comes back. @returns the address to open */
  #await(settings: HttpSettings, provider: LoginProvider): URL {
    const server = settings.name;
    const address = provider.authorizationUrl();
    if (!address) throw mcpErrors.mcpLoginFailed({ server, reason: "it names no address to log in at" });
    if (address.protocol !== "https:" && address.hostname !== new URL(settings.url).hostname)
      throw mcpErrors.mcpLoginFailed({
        server,
        reason: `it sends people to ${cleanExternalLine(address.origin)}, which is no https address`,
      });
    this.#pending.delete(server);
    const [oldest] = this.#pending.keys();
    if (oldest !== undefined && this.#pending.size >= MAX_PENDING) this.#pending.delete(oldest);
    this.#pending.set(server, { provider, settings, endsAt: this.#deps.clock.monotonic() + LIFE_MS });
    return address;
  }

  /**
   * Takes what the authorization server sent the person back with.
   * @throws {SvcError} `mcp-login-failed`
   */
  async finish(server: string, params: URLSearchParams): Promise<void> {
    const failed = (reason: string) => mcpErrors.mcpLoginFailed({ server, reason: cleanExternalLine(reason) });
    const pending = this.#pending.get(server);
    if (!pending || pending.endsAt < this.#deps.clock.monotonic()) throw failed("no login is waiting");
    if (!isSame(params.get("state") ?? "", pending.provider.expectedState())) throw failed("the answer belongs to another login");
    this.#pending.delete(server);
    const refusal = params.get("error");
    if (refusal !== null) throw failed(`${refusal} ${params.get("error_description") ?? ""}`);
    const transport = await this.#transport(pending.settings, pending.provider);
    try {
      await transport.start();
      await transport.finishAuth(params);
    } catch (error) {
      throw failed(reasonOf(error));
    } finally {
      await transport.close().catch(() => undefined);
    }
  }

  async #client() {
    const { Client } = await this.#deps.library();
    return new Client(
      { name: "svc", version: this.#deps.version },
      {
        capabilities: {},
        listMaxPages: 1,
        jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data }) },
        listChanged: { tools: { autoRefresh: false, debounceMs: 1_000, onChanged: () => undefined } },
      },
    );
  }

  async #transport({ url, headers }: HttpSettings, provider: LoginProvider) {
    const { StreamableHTTPClientTransport } = await this.#deps.library();
    const onward = serverFetch({ url, headers, fetch: this.#deps.fetch });
    return new StreamableHTTPClientTransport(new URL(url), {
      // Nothing is to be told here, and a stream that is refused would begin a second login beside the first.
      fetch: (input, init) => (isStream(input, init, url) ? Promise.resolve(new Response(null, { status: 405 })) : onward(input, init)),
      requestInit: {},
      authProvider: provider,
      reconnectionScheduler: () => () => undefined,
    });
  }
}

/** A login that begins: with the registration and the tokens that there are, unless more rights are wanted than these have. */
function newLogin(
  { url, oauth }: HttpSettings,
  { redirectUrl, known }: { redirectUrl: string; known: StoredLogin | undefined },
): StoredLogin {
  // A registration is for one address to come back to.
  const byIssuer = known?.redirectUrl === redirectUrl ? known.byIssuer : {};
  const kept = Object.entries(byIssuer).map(([issuer, { client, tokens }]) => [
    issuer,
    { ...(client ? { client } : {}), ...(tokens && !known?.wanted ? { tokens } : {}) },
  ]);
  return { url, redirectUrl, ...(oauth ? { clientId: oauth.clientId } : {}), byIssuer: Object.fromEntries(kept) };
}

/** The request for what a server has to say by itself. */
function isStream(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1], url: string): boolean {
  return (init?.method ?? "GET") === "GET" && new URL(input).href === new URL(url).href;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
