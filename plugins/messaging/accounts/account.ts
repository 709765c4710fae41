import {
  type Channel,
  type ChannelAccount,
  type ChannelRun,
  type Disposable,
  type InboundEvent,
  type Lease,
  type Logger,
  messageOf,
  type PluginContext,
  settledWithin,
  sleep,
} from "svc/sdk";
import { Guards } from "../inbound/guards.ts";
import type { admits, receive } from "../inbound/receive.ts";
import type { MediaInbox, MediaStore } from "../media/media-store.ts";
import { AccountHeldError, type AccountLock, lockAccount } from "./account-lock.ts";
import { clean, secretsOf } from "./clean.ts";
import type { Liveness } from "./monitor.ts";
import { type AccountState, patched, stoppedState } from "./state.ts";

/** Waits before an account whose channel ended by itself is started again; the last one goes on. */
const LADDER_MS = [5_000, 10_000, 30_000, 60_000, 120_000];
/** Starts by the ladder; after them as many in an hour as `gateway.channelMaxRestartsPerHour` says, and no more than by the last step. */
const LADDER_STARTS = 10;
const HOUR_MS = 3_600_000;
/** An account that was ready for so long begins at the foot of the ladder again. */
const STEADY_MS = 60_000;
/** Time for a channel to end after its signal; then it is left to itself. */
const STOP_MS = 5_000;
/** How often an account that another gateway runs is tried again. */
const HELD_MS = 15_000;
/** Longest name of a lease. */
const MAX_LEASE_CHARS = 200;

export interface AccountDeps {
  ctx: Pick<PluginContext, "clock" | "timers" | "logger" | "snapshot">;
  /** The role of being the one that runs this account. */
  acquire(name: string): Promise<Lease>;
  media: Pick<MediaStore, "inbox">;
  receive(...args: [Parameters<typeof receive>[0], Parameters<typeof receive>[1]]): ReturnType<typeof receive>;
  admits(...args: [Parameters<typeof admits>[0], Parameters<typeof admits>[1]]): ReturnType<typeof admits>;
  /** It is started again: its channel ended by itself, or a check found it stuck. */
  onRestart?(account: Account, cause: "ended" | "check"): void;
  onChange(account: Account): void;
}

/**
 * Supervises one account of a channel: starts it, watches what it says of itself, starts it again when it ends by itself, and stops it. A channel connects again by itself
 * when its link breaks; here only the end of `start` counts. Refused credentials end it until somebody acts.
 */
export class Account {
  readonly channel: Channel;
  readonly accountId: string;
  readonly guards: Guards;
  readonly #deps: AccountDeps;
  /** Writes below the name of the account, as its channel does: `svc channels logs` finds both by it. */
  readonly #logger: Logger;
  #state: AccountState = stoppedState;
  /** The run in force; callbacks of an earlier one do nothing. */
  #run: ChannelRun | undefined;
  #generation = 0;
  /** Last time that it became ready. */
  #readyAt = 0;
  #stopping: AbortController | undefined;
  /** Ends the present call of `start`, and another one follows. */
  #again: AbortController | undefined;
  #stateAt = 0;
  #aliveAt: number | undefined;
  #supervision: Promise<void> | undefined;

  constructor(channel: Channel, accountId: string, deps: AccountDeps) {
    this.channel = channel;
    this.accountId = accountId;
    this.#deps = deps;
    this.#logger = deps.ctx.logger.child(`${channel.id}/${accountId}`);
    this.guards = new Guards(deps.ctx.clock);
  }

  get state(): AccountState {
    return this.#state;
  }

  /** The run that messages go through; undefined while the account cannot send. */
  get ready(): ChannelRun | undefined {
    return this.#state.lifecycle === "ready" ? this.#run : undefined;
  }

  get isSupervised(): boolean {
    return this.#stopping !== undefined;
  }

  /** Starts it, unless that was done. */
  start(delayMs = 0): void {
    if (this.#stopping) return;
    const stopping = new AbortController();
    this.#stopping = stopping;
    this.#change({ ...stoppedState, ...kept(this.#state), lifecycle: "starting" });
    this.#supervision = this.#supervise(stopping.signal, delayMs).catch((error: unknown) => {
      this.#logger.error(`${this.#name} is not supervised any more`, { error: messageOf(error) });
    });
  }

  /** Facts by which it is known whether its channel is stuck. */
  get liveness(): Liveness {
    const { lifecycle } = this.#state;
    return { lifecycle, stateAt: this.#stateAt, aliveAt: this.#aliveAt, isRunning: this.#run !== undefined };
  }

  /** Ends the channel, or leaves it to itself after 5 s, and starts it again. Nothing happens between two starts. */
  restart(reason: string): void {
    if (!this.#again || this.#again.signal.aborted) return;
    this.#logger.warn(`${this.#name} is started again`, { reason });
    this.#again.abort(new Error(reason));
  }

  /** Stops it; resolves when the channel has ended, or was left to itself after 5 s. */
  async stop(): Promise<void> {
    const stopping = this.#stopping;
    if (!stopping) return;
    this.#stopping = undefined;
    stopping.abort(new Error("the account is stopped"));
    await this.#supervision;
    if (this.#stopping === undefined) this.#change({ ...this.#state, lifecycle: "stopped", connected: false, lastStopAt: this.#now });
  }

  /** The platform has taken a message. */
  noteSent(messageId: string): void {
    this.guards.noteSent(messageId);
    this.#state = { ...this.#state, lastOutboundAt: this.#now };
  }

  async #supervise(signal: AbortSignal, delayMs: number): Promise<void> {
    await pause(delayMs, signal, this.#deps.ctx.timers);
    for (let failures = 0; !signal.aborted; ) {
      const end = await this.#runOnce(signal);
      if (signal.aborted || (this.#state.lifecycle === "blocked" && !end.isRestart)) return;
      if (end.isRestart) {
        this.#deps.onRestart?.(this, "check");
        const restarts = this.#state.restarts + 1;
        const lastRestart = { at: this.#now, reason: end.reason };
        this.#change({ ...this.#state, lifecycle: "recovering", connected: false, lastError: end.reason, restarts, lastRestart });
        continue;
      }
      if (end.isHeld) {
        await this.#waitForHolder(end.reason, signal);
        continue;
      }
      this.#deps.onRestart?.(this, "ended");
      failures = end.readyMs >= STEADY_MS ? 1 : failures + 1;
      const waitMs = restartWaitMs(failures, this.#deps.ctx.snapshot().gateway.channelMaxRestartsPerHour);
      this.#change({
        ...this.#state,
        lifecycle: "recovering",
        connected: false,
        lastError: end.reason,
        restarts: this.#state.restarts + 1,
      });
      this.#logger.warn(`${this.#name} ended by itself; it is started again`, { reason: end.reason, waitMs, failures });
      await pause(waitMs, signal, this.#deps.ctx.timers);
    }
  }

  /** Another gateway answers meanwhile; that is no failure of the channel. */
  async #waitForHolder(reason: string, signal: AbortSignal): Promise<void> {
    if (this.#state.isHeldElsewhere !== true) this.#logger.error(`${this.#name} is not started`, { reason });
    this.#change({ ...this.#state, lifecycle: "recovering", connected: false, lastError: reason, isHeldElsewhere: true });
    await pause(HELD_MS, signal, this.#deps.ctx.timers);
  }

  /** Only one gateway of this machine runs an account, whatever their state directories are. Undefined where neither the channel nor the system can tell. */
  async #lock(account: ChannelAccount): Promise<AccountLock | undefined> {
    const { identity } = this.channel.config;
    if (!identity) return undefined;
    try {
      return await lockAccount(JSON.stringify([this.channel.id, identity(account)]));
    } catch (error) {
      if (error instanceof AccountHeldError) throw error;
      this.#logger.warn(`${this.#name} is not locked against other gateways of this machine`, { error: messageOf(error) });
      return undefined;
    }
  }

  /** One call of the channel's `start`. */
  async #runOnce(stop: AbortSignal): Promise<{ reason: string; readyMs: number; isRestart?: true; isHeld?: true }> {
    const generation = ++this.#generation;
    let lease: Lease | undefined;
    let media: MediaInbox | undefined;
    let lock: AccountLock | undefined;
    let account: ChannelAccount;
    try {
      account = this.channel.config.resolve(this.#deps.ctx.snapshot(), this.accountId);
    } catch (error) {
      // Nothing but a change of the config helps, and that starts it anew.
      this.#change({ ...this.#state, lifecycle: "blocked", connected: false, lastError: clean(messageOf(error)) });
      return { reason: "", readyMs: 0 };
    }
    try {
      lease = await this.#deps.acquire(`channel:${this.channel.id}:${this.accountId}`.slice(0, MAX_LEASE_CHARS));
      lock = await this.#lock(account);
      const again = new AbortController();
      this.#again = again;
      const signal = AbortSignal.any([stop, lease.lost, again.signal]);
      this.#stateAt = this.#deps.ctx.clock.monotonic();
      this.#aliveAt = undefined;
      media = this.#deps.media.inbox({ maxBytes: this.channel.capabilities.media?.maxBytes, signal });
      const run = this.#runFor(account, { generation, signal, media });
      this.#run = run;
      const { isHeldElsewhere: _, ...free } = this.#state;
      this.#change({ ...free, lifecycle: "starting", connected: false, lastStartAt: this.#now });
      await this.#started(run, signal);
      if (again.signal.aborted) return { reason: messageOf(again.signal.reason), readyMs: 0, isRestart: true };
      return {
        reason: lease.lost.aborted ? "its lease was lost" : "the channel ended without a reason",
        readyMs: this.#readyMs,
      };
    } catch (error) {
      const isHeld = error instanceof AccountHeldError ? { isHeld: true as const } : {};
      return { reason: clean(messageOf(error), secretsOf(account)), readyMs: this.#readyMs, ...isHeld };
    } finally {
      this.#generation += 1;
      this.#run = undefined;
      this.#again = undefined;
      await lock?.release();
      await media?.close();
      await lease
        ?.release()
        .catch((error: unknown) => this.#logger.debug(`${this.#name}: its lease was not given back`, { error: messageOf(error) }));
    }
  }

  /** Waits for the end of `start`; after its signal no longer than 5 s. */
  async #started(run: ChannelRun, signal: AbortSignal): Promise<void> {
    const work = (async () => this.channel.start(run))();
    let onAbort: () => void = () => undefined;
    const cut = new Promise<"cut">((resolve) => {
      onAbort = () => void settledWithin(work, STOP_MS).then(() => resolve("cut"));
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      let isOver = false;
      void work.then(
        () => (isOver = true),
        () => (isOver = true),
      );
      const first = await Promise.race([work, cut]);
      if (first === "cut" && !isOver) this.#logger.warn(`${this.#name} did not stop within ${STOP_MS / 1_000} s; it is left to itself`);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #runFor(
    account: ChannelAccount,
    { generation, signal, media }: { generation: number; signal: AbortSignal; media: MediaInbox },
  ): ChannelRun {
    const { clock } = this.#deps.ctx;
    const isInForce = () => generation === this.#generation && !signal.aborted;
    const checkInForce = () => {
      if (!isInForce()) throw new Error("this account was stopped; what it receives now belongs to its successor");
    };
    const secrets = secretsOf(account);
    return {
      account,
      signal,
      clock,
      logger: this.#logger,
      alive: () => {
        if (isInForce()) this.#aliveAt = clock.monotonic();
      },
      receive: async (event) => {
        checkInForce();
        const { channel, accountId, guards } = this;
        const kept = new Set<string>();
        const files = { find: (path: string) => media.find(path), keep: (path: string) => void kept.add(path) };
        const paths = pathsOf(event);
        const release = media.hold(paths);
        try {
          const ack = await this.#deps.receive(event, { channel, accountId, guards, self: this.#state.self, media: files });
          // The repeat of a message whose commit seemed to fail belongs to the row that is there.
          await media.settle(paths, ack.status === "accepted" ? kept : ack.status === "duplicate" ? media.doubtful(paths) : new Set());
          this.#state = { ...this.#state, lastInboundAt: this.#now };
          return ack;
        } catch (error) {
          media.doubt(kept);
          throw error;
        } finally {
          await release();
        }
      },
      admits: async (event) => {
        checkInForce();
        const { channel, accountId, guards } = this;
        return this.#deps.admits(event, { channel, accountId, guards, self: this.#state.self, media: nothingSaved });
      },
      saveMedia: async (content, about) => {
        checkInForce();
        return media.save(content, about);
      },
      state: (patch) => {
        // States of a channel that is ending are ignored.
        if (!isInForce()) return;
        this.#stateAt = clock.monotonic();
        this.#change(patched(this.#state, patch, { now: this.#now, clean: (text) => clean(text, secrets) }));
      },
    };
  }

  #change(next: AccountState): void {
    const before = this.#state;
    this.#state = next;
    if (before.lifecycle !== next.lifecycle) {
      if (next.lifecycle === "ready") this.#readyAt = this.#deps.ctx.clock.monotonic();
      const { lifecycle, lastError } = next;
      const fields = lifecycle === "blocked" || lifecycle === "recovering" ? { error: lastError } : {};
      const level = lifecycle === "blocked" ? "error" : lifecycle === "recovering" ? "warn" : "info";
      this.#logger[level](`${this.#name} is ${lifecycle}`, fields);
    }
    this.#deps.onChange(this);
  }

  /** Time for which it has been ready; the time that it took to connect does not count. */
  get #readyMs(): number {
    return this.#state.lifecycle === "ready" ? this.#deps.ctx.clock.monotonic() - this.#readyAt : 0;
  }

  get #now(): number {
    return this.#deps.ctx.clock.now();
  }

  get #name(): string {
    return `channel ${this.channel.id}, account ${this.accountId}`;
  }
}

/** @param failures ends by itself in a row, from 1 @param perHour 0 is one, too: an account that no check may start again is not given up */
function restartWaitMs(failures: number, perHour: number): number {
  const stepMs = LADDER_MS[Math.min(failures, LADDER_MS.length) - 1] ?? 0;
  return failures > LADDER_STARTS ? Math.max(stepMs, Math.ceil(HOUR_MS / Math.max(1, perHour))) : stepMs;
}

/** Files of a message that is only asked about. */
const nothingSaved = { find: () => undefined, keep: () => undefined };

/** Files that a message names, whether they are its own or not. */
function pathsOf({ media }: InboundEvent): string[] {
  return Array.isArray(media) ? media.flatMap((one) => (typeof one?.path === "string" ? [one.path] : [])) : [];
}

/** Facts that outlast a restart. */
function kept({
  lastConnectedAt,
  lastDisconnect,
  lastInboundAt,
  lastOutboundAt,
  lastStopAt,
  lastStartAt,
}: AccountState): Partial<AccountState> {
  const facts = { lastConnectedAt, lastDisconnect, lastInboundAt, lastOutboundAt, lastStopAt, lastStartAt };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Partial<AccountState>;
}

async function pause(ms: number, signal: AbortSignal, timers: { setTimeout(fn: () => void, ms: number): Disposable }): Promise<void> {
  if (ms > 0) await sleep(ms, signal, timers).catch(() => undefined);
}
