import {
  type Channel,
  type ContributionView,
  type Disposable,
  messageOf,
  type PluginContext,
  type PreparedReload,
  type SvcConfig,
} from "svc/sdk";
import { parseConfigPath } from "svc/sdk/internal";
import { messagingErrors } from "../errors.ts";
import { Account, type AccountDeps } from "./account.ts";

/** Between the starts of two accounts, so that a hundred do not dial at once. */
const STAGGER_MS = 100;
const MAX_STAGGERED = 50;
/** Keys of a section that are read with each message: a change of them touches no link. */
const readLive = new Set([
  ...["dmPolicy", "allowFrom", "groupPolicy", "groups", "groupAllowFrom", "implicitMentions", "dangerouslyAllowNameMatching"],
  ...["historyLimit", "textChunkLimit", "chunkMode", "markdown", "replyToMode", "healthMonitor", "heartbeat", "defaultAccount"],
]);
const STOPPED_KEY = "stopped-accounts";

/** An account that the config names, whether it runs or not. */
export interface ListedAccount {
  channel: Channel;
  accountId: string;
  enabled: boolean;
  configured: boolean;
  missing: string[];
  account: Account | undefined;
  isStoppedByHand: boolean;
}

/** Keeps the accounts of all channels as the config has them. */
export class Accounts {
  readonly #ctx: PluginContext;
  readonly #deps: AccountDeps;
  readonly #view: ContributionView<Channel>;
  readonly #running = new Map<string, Account>();
  /** Accounts that an operator has stopped: they stay so across reloads, until the gateway ends. */
  readonly #byHand = new Set<string>();
  #watch: Disposable | undefined;
  #isOpen = false;
  /** The environment says that no account is started in this gateway, whatever is reloaded. */
  readonly #isSkipped: boolean;
  /** Changes are made one after the other. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(ctx: PluginContext, deps: AccountDeps) {
    this.#ctx = ctx;
    this.#deps = deps;
    this.#isSkipped = ctx.env.SVC_SKIP_CHANNELS === "1";
    this.#view = ctx.contributions<Channel>("channel");
  }

  /** Starts what the config wants: once the gateway is ready, and not in safe mode. */
  async open(): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    if (this.#isSkipped) {
      this.#ctx.logger.warn("no account of a channel is started: SVC_SKIP_CHANNELS is 1");
      return;
    }
    await this.#restoreByHand();
    this.#watch = this.#view.watch(() => void this.#change(() => this.#settle(new Set())));
    await this.#change(() => this.#settle(new Set()));
  }

  /** Loads the channels that the config names. */
  async load(): Promise<void> {
    await Promise.all(configuredIds(this.#ctx.snapshot()).map((id) => this.#view.ready(id)));
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    void this.#watch?.dispose();
    await this.#work.catch(() => undefined);
    await Promise.all([...this.#running.values()].map((account) => account.stop()));
  }

  /** The running account of a channel; undefined while it does not run. */
  get(channel: string, accountId: string): Account | undefined {
    return this.#running.get(keyOf(channel, accountId));
  }

  all(): Account[] {
    return [...this.#running.values()];
  }

  /** Loads a channel, whether the config names it or not. */
  async find(id: string): Promise<Channel | undefined> {
    await this.#view.ready(id);
    return this.#view.get(id)?.value;
  }

  channels(): Channel[] {
    return [...this.#view].map(({ value }) => value);
  }

  /** Accounts of a channel as its section lists them. @throws what the channel throws */
  list(channel: Channel): ListedAccount[] {
    const config = this.#ctx.snapshot();
    return idsOf(channel, config).map((accountId) => ({
      channel,
      accountId,
      ...channel.config.inspect(config, accountId),
      account: this.get(channel.id, accountId),
      isStoppedByHand: this.#byHand.has(keyOf(channel.id, accountId)),
    }));
  }

  /** True for an account that the config names. @throws what the channel throws */
  has(channel: Channel, accountId: string): boolean {
    return channel.config.list(this.#ctx.snapshot()).includes(accountId);
  }

  /**
   * Starts an account that was stopped, or is blocked. @param options.again one that runs as well
   * @throws {SvcError} `unknown-account`, `account-disabled`, `channels-off`
   */
  async start(channel: Channel, accountId: string, { again = false }: { again?: boolean } = {}): Promise<void> {
    const listed = this.#find(channel, accountId);
    if (!listed.enabled) throw messagingErrors.accountDisabled({ channel: channel.id, account: accountId });
    if (this.#isSkipped) throw messagingErrors.channelsOff({ reason: "SVC_SKIP_CHANNELS is 1" });
    this.#byHand.delete(keyOf(channel.id, accountId));
    const isAnew = again || listed.account?.state.lifecycle === "blocked";
    await this.#change(() => this.#settle(isAnew ? new Set([keyOf(channel.id, accountId)]) : new Set()));
    await this.#storeByHand();
  }

  /** Stops an account until it is started again; what waits for it stays in the queue. @throws {SvcError} `unknown-account` */
  async stop(channel: Channel, accountId: string): Promise<void> {
    this.#find(channel, accountId);
    this.#byHand.add(keyOf(channel.id, accountId));
    await this.#change(() => this.#settle(new Set()));
    await this.#storeByHand();
  }

  /** Links every account anew, one after the other: what their platforms hold of them is as old as the time in which the machine stood still. */
  refresh(reason: string): void {
    for (const [i, account] of [...this.#running.values()].entries()) {
      this.#ctx.timers.setTimeout(() => account.restart(reason), Math.min(i, MAX_STAGGERED) * STAGGER_MS);
    }
  }

  /** Touches only accounts below the changed paths, and those that came or went. */
  prepareReload(paths: readonly string[]): PreparedReload {
    return {
      apply: () => this.#change(() => this.#settle(new Set([...this.#running.keys()].filter((key) => isTouched(key, paths))))),
      discard: () => undefined,
    };
  }

  #find(channel: Channel, accountId: string): ListedAccount {
    const listed = this.list(channel).find((one) => one.accountId === accountId);
    if (!listed) throw messagingErrors.unknownAccount({ channel: channel.id, account: accountId });
    return listed;
  }

  #change(work: () => Promise<void>): Promise<void> {
    const next = this.#work.then(work);
    this.#work = next.catch((error: unknown) =>
      this.#ctx.logger.error("accounts of channels could not be changed", { error: messageOf(error) }),
    );
    return next;
  }

  /** Brings what runs in line with config and plugins. @param again accounts that are started anew */
  async #settle(again: ReadonlySet<string>): Promise<void> {
    if (!this.#isOpen || this.#isSkipped) return;
    const config = this.#ctx.snapshot();
    await this.load();
    const wanted = new Map(
      this.channels().flatMap((channel) => this.#wanted(channel, config).map((id) => [keyOf(channel.id, id), { channel, accountId: id }])),
    );
    const ending = [...this.#running].filter(([key, account]) => wanted.get(key)?.channel !== account.channel || again.has(key));
    for (const [key] of ending) this.#running.delete(key);
    await Promise.all(ending.map(([, account]) => account.stop()));
    // A stop came while they ended.
    if (!this.#isOpen) return;
    let count = 0;
    for (const [key, { channel, accountId }] of wanted) {
      if (this.#running.has(key)) continue;
      const account = new Account(channel, accountId, this.#deps);
      this.#running.set(key, account);
      account.start(Math.min(count++, MAX_STAGGERED) * STAGGER_MS);
    }
  }

  /** Accounts that are to run: enabled, complete, and not stopped by hand. */
  #wanted(channel: Channel, config: SvcConfig): string[] {
    try {
      return idsOf(channel, config).filter((id) => {
        const { enabled, configured } = channel.config.inspect(config, id);
        return enabled && configured && !this.#byHand.has(keyOf(channel.id, id));
      });
    } catch (error) {
      this.#ctx.logger.error(`channel ${channel.id}: its accounts cannot be listed`, { error: messageOf(error) });
      return [];
    }
  }

  async #restoreByHand(): Promise<void> {
    const { bootId } = this.#ctx.service("gateway@1").info();
    const stored = await this.#ctx.kv.get<{ bootId?: string; accounts?: unknown }>(STOPPED_KEY).catch(() => undefined);
    // A stop by hand lasts as long as the gateway; `enabled: false` lasts longer.
    if (stored?.bootId !== bootId || !Array.isArray(stored.accounts)) return;
    for (const key of stored.accounts) this.#byHand.add(String(key));
  }

  /** Remembers it for another instance of this plugin. An account can be stopped, and started, while the storage is away. */
  async #storeByHand(): Promise<void> {
    try {
      const { bootId } = this.#ctx.service("gateway@1").info();
      await this.#ctx.kv.set(STOPPED_KEY, { bootId, accounts: [...this.#byHand] });
    } catch (error) {
      this.#ctx.logger.warn("accounts that are stopped by hand could not be stored; a reload of the plugin may start them", {
        error: messageOf(error),
      });
    }
  }
}

/** Sections that a channel's plugin has to be loaded for. */
export function configuredIds({ channels }: SvcConfig): string[] {
  return Object.entries(channels).flatMap(([id, section]) =>
    id !== "defaults" && (section as { enabled?: boolean }).enabled !== false ? [id] : [],
  );
}

function idsOf(channel: Channel, config: SvcConfig): string[] {
  const { defaultAccount } = config.channels[channel.id] ?? {};
  const ids = channel.config.list(config);
  // The default account first: it is the one that is meant where none is named.
  return [...new Set([...ids.filter((id) => id === defaultAccount), ...ids])];
}

function keyOf(channel: string, accountId: string): string {
  return JSON.stringify([channel, accountId]);
}

function isTouched(key: string, paths: readonly string[]): boolean {
  const [channel, accountId] = JSON.parse(key) as [string, string];
  return paths.some((path) => {
    const [first, second, third, fourth, fifth] = parseConfigPath(path).map(String);
    if (first !== "channels" || second !== channel) return false;
    if (third !== "accounts") return third === undefined || !readLive.has(third);
    if (fourth !== undefined && fourth !== accountId) return false;
    return fifth === undefined || !readLive.has(fifth);
  });
}
