import { AccountRefusedError, type ChannelRun, isRecord, keepConnected, messageOf, type PluginKv } from "svc/sdk";
import type { DiscordAccount } from "./accounts.ts";
import { ApiError } from "./api-error.ts";
import { Commands } from "./commands.ts";
import { gatewayAddress, isGatewayAddress } from "./gateway-address.ts";
import { GatewayLink } from "./gateway-link.ts";
import { isSnowflake } from "./ids.ts";
import type { SocketLibrary } from "./library.ts";
import { Places } from "./places.ts";
import { Progress } from "./progress.ts";
import { Receiving } from "./receiving.ts";
import type { RestApi } from "./rest.ts";
import type { DiscordTiming } from "./timing.ts";
import { INTENTS, type User } from "./wire.ts";

/** Connections in a row that did not stand, after which a session is sought at the address for new ones, and given up. */
const [ELSEWHERE_AFTER, GIVEN_UP_AFTER] = [2, 5];

interface BotOptions {
  api: RestApi;
  sockets: SocketLibrary;
  kv: Pick<PluginKv, "get" | "set">;
  timing: DiscordTiming;
  random(): number;
}

/** One running bot: what it needs to send, and its connections one after the other. */
export class Bot {
  readonly api: RestApi;
  readonly places = new Places();
  readonly commands: Commands;
  readonly #run: ChannelRun<DiscordAccount>;
  readonly #options: BotOptions;
  readonly #intents: number;
  readonly #progress: Progress;
  readonly #receiving: Receiving;
  #link: GatewayLink | undefined;
  #self: User | undefined;
  #hasCommands = false;
  #failures = 0;

  constructor(run: ChannelRun<DiscordAccount>, options: BotOptions) {
    const { api, timing, kv } = options;
    this.#run = run;
    this.#options = options;
    this.api = api;
    const { guilds, guildMessages, directMessages, messageContent } = INTENTS;
    this.#intents = guilds | guildMessages | directMessages | (run.account.messageContent ? messageContent : 0);
    const onError = (error: unknown) => run.logger.debug(`the place in the stream of events was not kept: ${messageOf(error)}`);
    this.#progress = new Progress({ kv, account: run.account, intents: this.#intents, waitMs: timing.progressMs, onError });
    this.commands = new Commands({ api, callMs: timing.callMs, signal: run.signal, logger: run.logger, now: () => run.clock.now() });
    this.#receiving = new Receiving({ run, api, places: this.places, progress: this.#progress, commands: this.commands, timing });
  }

  /** Runs until the account stops; a refused token or intent ends it. */
  async run(): Promise<void> {
    await this.#progress.load();
    try {
      await keepConnected(this.#run, {
        firstWaitMs: this.#options.timing.reconnectMs,
        random: this.#options.random,
        describe: ({ message }) => message.replaceAll(this.#run.account.token, "…"),
        connect: (onReady) => this.#connect(onReady).catch((error: unknown) => faultOfAccount(error)),
      });
    } finally {
      await this.#progress.close();
    }
  }

  /** A call was refused because of the token: the connection is of no use any more. */
  refuse(error: ApiError): void {
    this.#link?.fail(faultOfAccount(error));
  }

  async #connect(onReady: () => void): Promise<Error | undefined> {
    const { api, sockets, timing, random } = this.#options;
    const { signal, account } = this.#run;
    this.#self = await api.call<User>("GET", "/users/@me", { limitMs: timing.callMs, signal });
    if (!isSnowflake(this.#self?.id)) throw new Error("Discord does not say who the bot is");
    this.#run.state({ self: { id: this.#self.id, name: this.#self.username } });
    if (this.#failures >= GIVEN_UP_AFTER) this.#progress.lose();
    const { session } = this.#progress;
    const url = session && this.#failures < ELSEWHERE_AFTER ? session.url : await this.#gatewayUrl();
    this.#failures += 1;
    const link = new GatewayLink({
      sockets,
      url: gatewayAddress(url),
      token: account.token,
      intents: this.#intents,
      timing,
      signal,
      random,
      session: session && { id: session.id, seq: session.seq },
      storedSeq: () => this.#progress.session?.seq ?? null,
      onSessionLost: () => this.#progress.lose(),
      onAlive: () => this.#run.alive?.(),
      onDispatch: (kind, data, seq) => this.#onDispatch(kind, data, seq, onReady),
    });
    this.#link = link;
    this.#receiving.linked(link);
    try {
      return await link.closed;
    } finally {
      this.#receiving.linked(undefined);
      this.#link = undefined;
    }
  }

  /** @throws {Error} when Discord lets the bot begin no session now */
  async #gatewayUrl(): Promise<string> {
    const { api, timing } = this.#options;
    const { signal, account } = this.#run;
    const answer = await api.call<unknown>("GET", "/gateway/bot", { limitMs: timing.callMs, signal });
    const { url, session_start_limit: limit } = isRecord(answer) ? answer : {};
    if (typeof url !== "string" || !isGatewayAddress(url, account.apiRoot)) throw new Error("Discord names no gateway");
    if (isRecord(limit) && limit.remaining === 0) {
      const minutes = typeof limit.reset_after === "number" ? Math.ceil(limit.reset_after / 60_000) : 0;
      throw new Error(`the bot has begun all sessions that Discord allows in a day: the next one can begin in ${minutes} min`);
    }
    return url;
  }

  #onDispatch(kind: string, data: unknown, seq: number, onReady: () => void): void {
    const { account } = this.#run;
    if (kind === "READY") {
      const { session_id: id, resume_gateway_url: url } = isRecord(data) ? data : {};
      if (typeof id !== "string" || typeof url !== "string" || !isGatewayAddress(url, account.apiRoot))
        return this.#link?.fail(new Error("Discord begins a session that cannot be taken up again"));
      this.#progress.begin(id, url, seq);
      this.#registerCommands(data);
    }
    if (kind === "READY" || kind === "RESUMED") {
      this.#failures = 0;
      onReady();
    }
    // The last event of those that Discord sends again says that they are over; it has a place of its own.
    if (kind !== "READY") this.#receiving.push(kind, data, { seq, self: this.#self as User });
  }

  /** Once in a run: they stay until they are changed. */
  #registerCommands(ready: unknown): void {
    const application = isRecord(ready) ? ready.application : undefined;
    const id = isRecord(application) ? application.id : undefined;
    if (this.#hasCommands || !this.#run.account.slashCommands || !isSnowflake(id)) return;
    this.#hasCommands = true;
    void this.commands.register(id);
  }
}

function faultOfAccount(error: unknown): Error {
  if (error instanceof ApiError && error.status === 401)
    return new AccountRefusedError(
      "Discord refuses the token: reset it on the page Bot of the Developer Portal, and set the new one (401)",
    );
  return error instanceof Error ? error : new Error(messageOf(error));
}
