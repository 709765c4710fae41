import {
  type Channel,
  type ChannelAccount,
  messageOf,
  type PluginContext,
  type ResultOf,
  type Store,
  type SvcConfig,
  withLimit,
} from "svc/sdk";
import { type Accounts, configuredIds, type ListedAccount } from "./accounts.ts";
import { clean, secretsOf } from "./clean.ts";
import { policyOf } from "./policy.ts";
import { stoppedState } from "./state.ts";

const DEFAULT_PROBE_MS = 10_000;
/** Rows of the queue that are counted by account. */
const MAX_COUNTED = 1_000;

export type ChannelsStatus = ResultOf<"channels.status">;
export type AccountStatus = ChannelsStatus["channelAccounts"][string][number];

interface StatusDeps {
  ctx: Pick<PluginContext, "snapshot" | "clock" | "signal">;
  accounts: Accounts;
  store(): Store;
}

/** The accounts of all channels, or of one, for operators. A channel whose plugin does not run is listed with the reason. */
export async function channelsStatus(
  {
    probe = false,
    timeoutMs = DEFAULT_PROBE_MS,
    channel,
  }: { probe?: boolean | undefined; timeoutMs?: number | undefined; channel?: string | undefined },
  deps: StatusDeps,
): Promise<ChannelsStatus> {
  const { ctx, accounts } = deps;
  const config = ctx.snapshot();
  const present = accounts.channels().filter(({ id }) => channel === undefined || id === channel);
  const absent = configuredIds(config).filter(
    (id) => !accounts.channels().some((one) => one.id === id) && (channel === undefined || id === channel),
  );
  const depths = await queueDepths(deps.store());
  const rows = await Promise.all(
    present.map(async (one) => [one, await accountRows(one, { config, depths, probe, timeoutMs }, deps)] as const),
  );
  const status: ChannelsStatus = {
    ts: ctx.clock.now(),
    channelOrder: [...present.map(({ id }) => id), ...absent],
    channelLabels: Object.fromEntries([...present.map(({ id, meta }) => [id, meta.label]), ...absent.map((id) => [id, id])]),
    channelMeta: present.map(({ id, meta, login }) => ({ id, label: meta.label, detailLabel: meta.label, canLogin: login !== undefined })),
    channels: {},
    channelAccounts: {},
    channelDefaultAccountId: {},
  };
  for (const [{ id }, { accounts: listed, error }] of rows) {
    status.channels[id] = {
      configured: listed.some(({ configured }) => configured),
      running: listed.some(({ running }) => running),
      ...(error === undefined ? {} : { error }),
    };
    status.channelAccounts[id] = listed;
    if (listed[0]) status.channelDefaultAccountId[id] = listed[0].accountId;
  }
  for (const id of absent) {
    status.channels[id] = { configured: true, running: false, error: "its plugin is off or failed; see svc plugins list" };
    status.channelAccounts[id] = [];
  }
  return status;
}

interface RowOptions {
  config: SvcConfig;
  depths: ReadonlyMap<string, number>;
  probe: boolean;
  timeoutMs: number;
}

async function accountRows(
  channel: Channel,
  options: RowOptions,
  deps: StatusDeps,
): Promise<{ accounts: AccountStatus[]; error?: string }> {
  try {
    return { accounts: await Promise.all(deps.accounts.list(channel).map((one) => accountRow(one, options, deps))) };
  } catch (error) {
    return { accounts: [], error: clean(messageOf(error)) };
  }
}

async function accountRow(
  listed: ListedAccount,
  { config, depths, probe, timeoutMs }: RowOptions,
  { ctx }: StatusDeps,
): Promise<AccountStatus> {
  const { channel, accountId, enabled, configured, missing, account, isStoppedByHand } = listed;
  const { self, ...state } = account?.state ?? stoppedState;
  const resolved = resolve(channel, config, accountId);
  const row: AccountStatus = {
    accountId,
    ...(resolved.account?.name === undefined ? {} : { name: clean(resolved.account.name, secretsOf(resolved.account)) }),
    enabled,
    configured,
    ...(missing.length > 0 ? { missing } : {}),
    running: account !== undefined && state.lifecycle !== "stopped" && state.lifecycle !== "blocked",
    ...state,
    ...(isStoppedByHand ? { stoppedByHand: true } : {}),
    ...(self?.name === undefined ? {} : { identity: self.name }),
    queueDepth: depths.get(`${channel.id}:${accountId}:`) ?? 0,
    dmPolicy: policyOf(config, channel.id, accountId).dmPolicy,
    credential: resolved.account ? "available" : configured ? "unavailable" : "missing",
  };
  // The secrets of an account that is off are not resolved.
  if (!probe || !enabled) return row;
  return { ...row, lastProbeAt: ctx.clock.now(), ...(await probed(channel, resolved, { timeoutMs, signal: ctx.signal })) };
}

type Resolved = { account?: ChannelAccount; error?: string };

function resolve(channel: Channel, config: SvcConfig, accountId: string): Resolved {
  try {
    return { account: channel.config.resolve(config, accountId) };
  } catch (error) {
    return { error: clean(messageOf(error)) };
  }
}

/** Asks the platform; no message is sent. A channel that has no way to be asked answers nothing. */
async function probed(
  channel: Channel,
  { account, error }: Resolved,
  { timeoutMs, signal: outer }: { timeoutMs: number; signal: AbortSignal },
): Promise<Pick<AccountStatus, "probe" | "audit">> {
  if (!account) return { probe: { ok: false, ms: 0, error: error ?? "it has no credentials" } };
  const secrets = secretsOf(account);
  const shown = (text: string) => clean(text, secrets);
  const signal = AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)]);
  const late = () => {
    throw new Error(`no answer within ${timeoutMs} ms`);
  };
  const began = performance.now();
  const [probe, audit] = await Promise.all([
    channel.probe &&
      withLimit((async () => channel.probe?.(account, signal))(), timeoutMs, late).catch((fault: unknown) => faulty(fault, began)),
    channel.audit &&
      withLimit((async () => channel.audit?.(account, signal))(), timeoutMs, late).catch((fault: unknown) => [
        { id: "audit", ok: false, message: shown(messageOf(fault)) },
      ]),
  ]);
  return {
    ...(probe
      ? {
          probe: {
            ok: probe.ok === true,
            ms: Math.max(0, Math.round(probe.ms)),
            ...(probe.error === undefined ? {} : { error: shown(probe.error) }),
            ...(probe.identity === undefined ? {} : { identity: shown(probe.identity) }),
          },
        }
      : {}),
    ...(audit ? { audit: audit.map(({ id, ok, message }) => ({ id: shown(id), ok: ok === true, message: shown(message) })) } : {}),
  };
}

function faulty(fault: unknown, began: number): { ok: false; ms: number; error: string; identity?: string } {
  return { ok: false, ms: Math.round(performance.now() - began), error: messageOf(fault) };
}

/** Messages that wait, by the beginning of their lane: `channel:account:`. */
async function queueDepths(store: Store): Promise<Map<string, number>> {
  const depths = new Map<string, number>();
  const rows = await store.deliveries.list({ dirs: ["out"], states: ["accepted", "sending", "uncertain"], limit: MAX_COUNTED });
  for (const { lane } of rows) {
    const account = lane.slice(0, lane.indexOf(":", lane.indexOf(":") + 1) + 1);
    depths.set(account, (depths.get(account) ?? 0) + 1);
  }
  return depths;
}
