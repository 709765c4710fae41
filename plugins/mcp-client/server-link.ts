import { backoffDelayMs, type Clock, cleanExternalLine, type Disposable, isSvcError, type Logger, type Timers } from "svc/sdk";
import { type CallOptions, type Connection, withoutSecrets } from "./connection.ts";
import { mcpErrors } from "./errors.ts";
import { failureOf, reasonOf, scopeRefusal } from "./failures.ts";
import type { ListedTool } from "./library.ts";
import type { WantedScope } from "./oauth-store.ts";
import type { ServerSettings } from "./settings.ts";

const BACKOFF = { firstMs: 1_000, maxMs: 300_000 };
/** A connection that held so long counts as a good one: the next pause is the first again. */
const STABLE_MS = 60_000;
/** A call tries at once what the pause would try later, but not more often than this. */
const MIN_PAUSE_MS = 1_000;

/** State of a server: `login`: a person has to log in first. */
export type LinkState = "connecting" | "ready" | "waiting" | "login" | "closed";

export interface LinkDeps {
  clock: Clock;
  timers: Pick<Timers, "setTimeout">;
  logger: Logger;
  /** @param events `lost`: once, after a connection that was made has ended; `toolsChanged`: as often as the server says so */
  open(events: { lost(reason: string): void; toolsChanged(): void }, signal: AbortSignal): Promise<Connection>;
  /** The tools were listed, for the first time or anew. */
  onTools(): void;
  /** Remembers rights that the next login asks for; false: a login cannot widen them any further. */
  want(scope: WantedScope): Promise<boolean>;
  /** Values that nobody may see, in whatever a server says. */
  secrets(): readonly string[];
}

/** One server: connects, connects again after a pause, and makes calls. */
export class ServerLink {
  readonly settings: ServerSettings;
  readonly #deps: LinkDeps;
  readonly #closed = new AbortController();
  #state: LinkState = "connecting";
  #problem: string | undefined;
  #tools: readonly ListedTool[] = [];
  #offers = { resources: false, prompts: false };
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #attempt = 0;
  #openedAt = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #retry: Disposable | undefined;

  constructor(settings: ServerSettings, deps: LinkDeps) {
    this.settings = settings;
    this.#deps = deps;
  }

  /** The tools that were listed last. They stay while a connection is opened again, so that prompts stay the same. */
  get tools(): readonly ListedTool[] {
    return this.#tools;
  }

  get offers(): Connection["offers"] {
    return this.#offers;
  }

  get status(): { state: LinkState; problem: string | undefined } {
    return { state: this.#state, problem: this.#problem };
  }

  /** The text without the secrets of this server. */
  hide(text: string): string {
    return withoutSecrets(text, this.#deps.secrets());
  }

  /** Connects in the background; a failure is tried again. */
  start(): void {
    this.#connect().catch(() => undefined);
  }

  /** Connects anew, as after a login. */
  async restart(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#attempt = 0;
    this.#failedAt = Number.NEGATIVE_INFINITY;
    await connection?.close();
    this.start();
  }

  async close(): Promise<void> {
    this.#state = "closed";
    this.#closed.abort(new Error("the server was taken out of the config, or the gateway stops"));
    void this.#retry?.dispose();
    await this.#connection?.close();
    this.#connection = undefined;
  }

  /**
   * Calls a tool. What only reads is called again, once, after a lost connection.
   * @throws {SvcError} `mcp-unavailable`, `mcp-call-lost`, `mcp-timeout`, `mcp-rights`; else what the server answered
   */
  callTool(tool: ListedTool, args: Record<string, unknown>, options: CallOptions): Promise<Record<string, unknown>> {
    const isReadOnly = tool.annotations?.readOnlyHint === true;
    return this.#carry((connection) => connection.callTool(tool, args, options), { ...options, what: tool.name, isReadOnly });
  }

  /** A request that only reads. @throws as `callTool` */
  request(method: string, params: object, options: CallOptions): Promise<Record<string, unknown>> {
    return this.#carry((connection) => connection.request(method, params, options), { ...options, what: method, isReadOnly: true });
  }

  async #carry<T>(work: (connection: Connection) => Promise<T>, call: CallOptions & { what: string; isReadOnly: boolean }): Promise<T> {
    const server = this.settings.name;
    for (let tries = 1; ; tries++) {
      const connection = await this.#available(call.signal);
      try {
        return await work(connection);
      } catch (error) {
        // The library tells an abort as a time-out.
        call.signal.throwIfAborted();
        const failure = failureOf(error);
        if (failure === "answered") throw error;
        const refusal = scopeRefusal(error);
        if (refusal) throw await this.#wantsRights(refusal.wanted, call.what);
        const seconds = this.settings.timeoutMs / 1_000;
        if (failure === "timeout") throw mcpErrors.mcpTimeout({ server, tool: cleanExternalLine(call.what, 100), seconds });
        this.#drop(connection, reasonOf(error));
        if (failure === "login") this.#wantsLogin();
        const mayRepeat = failure === "unsent" || (failure === "lost" && call.isReadOnly);
        if (mayRepeat && tries === 1) continue;
        if (failure !== "lost" || call.isReadOnly) throw this.#unavailable(reasonOf(error));
        throw mcpErrors.mcpCallLost({ server, tool: cleanExternalLine(call.what, 100) });
      }
    }
  }

  async #available(signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted();
    if (this.#connection) return this.#connection;
    const sinceFailure = this.#deps.clock.monotonic() - this.#failedAt;
    if (!this.#opening && (this.#state === "login" || this.#state === "closed" || sinceFailure < MIN_PAUSE_MS))
      throw this.#unavailable(this.#problem ?? "it does not run");
    return new Promise((resolve, reject) => {
      const leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      this.#connect()
        .then(resolve, (error) => reject(this.#unavailable(isSvcError(error) ? error.message : reasonOf(error))))
        .finally(() => signal.removeEventListener("abort", leave));
    });
  }

  /** Several callers wait for one attempt. */
  #connect(): Promise<Connection> {
    if (this.#connection) return Promise.resolve(this.#connection);
    if (this.#closed.signal.aborted) return Promise.reject(this.#closed.signal.reason);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<Connection> {
    void this.#retry?.dispose();
    this.#state = "connecting";
    const { name, startMs } = this.settings;
    const tooLate = AbortSignal.timeout(startMs);
    const signal = AbortSignal.any([this.#closed.signal, tooLate]);
    let opened: Connection | undefined;
    try {
      const events = {
        lost: (reason: string) => opened && this.#drop(opened, reason),
        toolsChanged: () =>
          opened &&
          this.#list(opened).catch((error) => this.#warn(`its tools cannot be listed: ${cleanExternalLine(this.hide(reasonOf(error)))}`)),
      };
      opened = await this.#deps.open(events, signal);
      this.#connection = opened;
      await this.#list(opened, signal);
    } catch (error) {
      this.#connection = undefined;
      void opened?.close();
      const { reason, isLogin } = tooLate.aborted
        ? { reason: `it was not ready within ${startMs / 1_000} s`, isLogin: false }
        : await this.#openingFailed(error);
      this.#failed(reason, isLogin);
      throw mcpErrors.mcpUnavailable({ server: name, reason: this.#problem ?? reason });
    }
    if (this.#closed.signal.aborted) {
      await opened.close();
      throw this.#closed.signal.reason;
    }
    this.#state = "ready";
    this.#problem = undefined;
    this.#openedAt = this.#deps.clock.monotonic();
    this.#deps.logger.info(`MCP server "${name}" is connected and has ${this.#tools.length} tools`);
    return opened;
  }

  /** Another login helps where there is none, or where it has fewer rights than are wanted: a server that is never content is no reason to ask a person again. */
  async #openingFailed(error: unknown): Promise<{ reason: string; isLogin: boolean }> {
    const refusal = scopeRefusal(error);
    if (!refusal) return { reason: reasonOf(error), isLogin: failureOf(error) === "login" };
    const isLogin = await this.#deps.want(refusal.wanted);
    return { reason: `${refusal.message}${isLogin ? "" : ", and the login cannot be widened"}`, isLogin };
  }

  async #list(
    connection: Connection,
    signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.settings.startMs)]),
  ): Promise<void> {
    this.#tools = await connection.listTools(signal);
    this.#offers = connection.offers;
    this.#deps.onTools();
  }

  #drop(connection: Connection, reason: string): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    void connection.close();
    if (this.#closed.signal.aborted) return;
    if (this.#deps.clock.monotonic() - this.#openedAt >= STABLE_MS) this.#attempt = 0;
    this.#failedAt = Number.NEGATIVE_INFINITY;
    this.#later(reason);
    this.#warn(`disconnected: ${this.#problem}`);
  }

  #failed(reason: string, isLogin: boolean): void {
    if (this.#closed.signal.aborted) return;
    this.#failedAt = this.#deps.clock.monotonic();
    if (isLogin) return this.#wantsLogin();
    this.#later(reason);
    // The first failure is news; the same again every five minutes would fill the log.
    if (this.#attempt === 1) this.#warn(`not connected: ${this.#problem}`);
  }

  #later(reason: string): void {
    this.#attempt++;
    this.#state = "waiting";
    this.#problem = cleanExternalLine(this.hide(reason));
    void this.#retry?.dispose();
    this.#retry = this.#deps.timers.setTimeout(() => this.start(), backoffDelayMs(this.#attempt, BACKOFF));
  }

  #wantsLogin(): void {
    void this.#retry?.dispose();
    this.#state = "login";
    this.#problem = `it wants a login: svc mcp login ${this.settings.name}`;
    this.#warn(this.#problem);
  }

  /** One call wants more rights than the others: the connection stays, and a person may widen the login. */
  async #wantsRights(wanted: WantedScope, what: string): Promise<Error> {
    const { name } = this.settings;
    const mayWiden = await this.#deps.want(wanted);
    const scope = cleanExternalLine(this.hide(wanted.scope), 200);
    const command = `svc mcp login ${name}`;
    if (mayWiden) this.#problem = `a call wanted more rights than the login has (${scope}): ${command}`;
    const advice = mayWiden
      ? `the operator may allow them with ${command}; go on without it`
      : "the login cannot be widened; go on without it";
    return mcpErrors.mcpRights({ server: name, tool: cleanExternalLine(what, 100), scope, advice });
  }

  #unavailable(reason: string): Error {
    return mcpErrors.mcpUnavailable({ server: this.settings.name, reason: cleanExternalLine(this.hide(reason)) });
  }

  #warn(text: string): void {
    this.#deps.logger.warn(`MCP server "${this.settings.name}": ${text}`);
  }
}
