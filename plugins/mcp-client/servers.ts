import { type PluginContext, type PreparedReload, type SvcConfig, withLimit } from "svc/sdk";
import { type Connection, openConnection } from "./connection.ts";
import { answerElicitation } from "./elicitation.ts";
import { mcpErrors } from "./errors.ts";
import { reasonOf } from "./failures.ts";
import { loadMcpLibrary } from "./library.ts";
import { Logins } from "./logins.ts";
import { createOAuthProvider } from "./oauth-provider.ts";
import { OAuthStore, type StoredLogin, tokensOf, type WantedScope } from "./oauth-store.ts";
import { hasScope, joinedScopes } from "./scope.ts";
import { type LinkState, ServerLink } from "./server-link.ts";
import { hasOwnToken, type RegisteredClient, type ServerSettings, secretsOf, serverSettings } from "./settings.ts";
import { type RunningCall, ToolSet } from "./tool-set.ts";

const CLOSE_MS = 6_000;
/** A server that wants other rights each time gets no more of them asked for. */
const MAX_SCOPE_CHARS = 2_000;

/** State of one server of the config. */
export interface ServerStatus {
  name: string;
  transport: "stdio" | "http";
  state: LinkState | "misconfigured";
  problem?: string;
  /** Is a login kept? Absent for programs. */
  loggedIn?: boolean;
  tools: string[];
}

/** The servers of the config. */
export class Servers {
  readonly #ctx: PluginContext;
  readonly #links = new Map<string, ServerLink>();
  /** Servers that cannot even be tried, with the reason. */
  readonly #faults = new Map<string, string>();
  readonly #calls = new Set<RunningCall>();
  readonly #tools: ToolSet;
  readonly #store: OAuthStore;
  /** Logins in use: their tokens are secrets, also those that are renewed later. */
  readonly #logins = new Map<string, StoredLogin>();
  readonly logins: Logins;
  #library: ReturnType<typeof loadMcpLibrary> | undefined;
  #isStarted = false;

  constructor(ctx: PluginContext) {
    this.#ctx = ctx;
    this.#tools = new ToolSet(ctx, () => this.#links.values(), this.#calls);
    this.#store = new OAuthStore(ctx.kv);
    const { clock, version } = ctx;
    this.logins = new Logins({
      library: () => this.#load(),
      fetch: (url, init) => ctx.fetch(url, init),
      store: this.#store,
      clock,
      version,
    });
  }

  /** Connects to all of them, in the background. */
  start(): void {
    this.#isStarted = true;
    this.#apply();
  }

  /** Takes a changed config: what is the same stays connected. */
  prepare(): PreparedReload {
    return { apply: () => (this.#isStarted ? this.#apply() : undefined), discard: () => undefined };
  }

  async close(): Promise<void> {
    this.#isStarted = false;
    const closing = [...this.#links.values()].map((link) => link.close());
    this.#links.clear();
    await withLimit(Promise.all(closing), CLOSE_MS, () => undefined);
  }

  status(): ServerStatus[] {
    const { servers } = this.#ctx.snapshot().mcp;
    return Object.entries(servers).map(([name, { url }]) => {
      const link = this.#links.get(name);
      const fault = this.#faults.get(name);
      const { state, problem } = link?.status ?? {
        state: fault === undefined ? ("connecting" as const) : ("misconfigured" as const),
        problem: fault,
      };
      const tools = link ? this.#tools.namesOf(link) : [];
      const own = { name, state, ...(problem === undefined ? {} : { problem }), tools };
      if (url === undefined) return { ...own, transport: "stdio" };
      return { ...own, transport: "http", loggedIn: tokensOf(this.#logins.get(name)).length > 0 };
    });
  }

  /** @throws {SvcError} `mcp-unknown-server`, `mcp-unavailable` for one whose settings are not usable */
  find(name: string): ServerLink {
    const link = this.#links.get(name);
    if (link) return link;
    const fault = this.#faults.get(name);
    if (fault !== undefined) throw mcpErrors.mcpUnavailable({ server: name, reason: fault });
    throw mcpErrors.mcpUnknownServer({ server: name, known: Object.keys(this.#ctx.snapshot().mcp.servers).join(", ") || "none" });
  }

  /** Forgets what a login left; the server is asked anew without it. */
  async logout(name: string): Promise<boolean> {
    const link = this.find(name);
    const had = await this.#store.remove(name);
    if (had) await link.restart();
    return had;
  }

  #apply(): void {
    const wanted = this.#read(this.#ctx.snapshot().mcp.servers);
    for (const [name, link] of this.#links) {
      const next = wanted.get(name);
      if (next && JSON.stringify(next) === JSON.stringify(link.settings)) continue;
      this.#links.delete(name);
      void link.close();
    }
    for (const [name, settings] of wanted) {
      if (this.#links.has(name)) continue;
      const link = this.#linkTo(settings);
      this.#links.set(name, link);
      link.start();
    }
    this.#tools.apply();
  }

  #read(servers: SvcConfig["mcp"]["servers"]): Map<string, ServerSettings> {
    this.#faults.clear();
    const { stateDir: cwd } = this.#ctx;
    const wanted = new Map<string, ServerSettings>();
    for (const name of Object.keys(servers)) {
      try {
        wanted.set(name, serverSettings(name, { servers, cwd, secret: (path) => this.#ctx.secret(path) }));
      } catch (error) {
        this.#faults.set(name, reasonOf(error));
        this.#ctx.logger.warn(`MCP server "${name}" is not started: ${reasonOf(error)}`);
      }
    }
    return wanted;
  }

  #linkTo(settings: ServerSettings): ServerLink {
    const { clock, timers, logger } = this.#ctx;
    const configured = secretsOf(settings);
    return new ServerLink(settings, {
      clock,
      timers,
      logger,
      onTools: () => this.#tools.refresh(),
      want: (wanted) => this.#want(settings, wanted),
      secrets: () => [...configured, ...tokensOf(this.#logins.get(settings.name))],
      open: (events, signal) => this.#open(settings, events, signal),
    });
  }

  /** A login that has the rights was widened already; a token of the config is none, and where there is no login, one may bring them. */
  async #want(settings: ServerSettings, wanted: WantedScope): Promise<boolean> {
    const { name } = settings;
    if (hasOwnToken(settings)) return false;
    const login = this.#logins.get(name);
    if (!login) return true;
    if (hasScope(login, wanted.scope)) return false;
    login.wanted = { ...wanted, scope: joinedScopes(login.wanted?.scope, wanted.scope).slice(0, MAX_SCOPE_CHARS) };
    await this.#store.write(name, login);
    return true;
  }

  async #open(
    settings: ServerSettings,
    events: { lost(reason: string): void; toolsChanged(): void },
    signal: AbortSignal,
  ): Promise<Connection> {
    const { version, logger, clock } = this.#ctx;
    const { name } = settings;
    const library = await this.#load();
    const login = settings.kind === "http" ? await this.#store.read(name, settings) : undefined;
    if (login) this.#logins.set(name, login);
    else this.#logins.delete(name);
    const deps = {
      library,
      version,
      logger,
      fetch: (url: string | URL, init?: RequestInit) => this.#ctx.fetch(url, init),
      monotonic: () => clock.monotonic(),
      // Without a login nothing is kept, and nothing is registered anywhere.
      auth: login && createOAuthProvider({ server: name, store: this.#store, login, client: httpClientOf(settings) }),
      elicit: (request: Parameters<typeof answerElicitation>[2]) => {
        const [call, ...more] = [...this.#calls].filter(({ server }) => server === name);
        const place = call && more.length === 0 ? { agentId: call.agentId, sessionKey: call.sessionKey } : {};
        return answerElicitation(this.#ctx, name, request, { ...place, signal: this.#ctx.signal });
      },
      onClosed: events.lost,
      onToolsChanged: events.toolsChanged,
    };
    return openConnection(settings, deps, signal);
  }

  /** A failed load is tried again: the packages may be installed meanwhile. */
  #load(): ReturnType<typeof loadMcpLibrary> {
    this.#library ??= loadMcpLibrary(this.#ctx.vendor).catch((error: unknown) => {
      this.#library = undefined;
      throw error;
    });
    return this.#library;
  }
}

function httpClientOf(settings: ServerSettings): RegisteredClient | undefined {
  return settings.kind === "http" ? settings.oauth : undefined;
}
