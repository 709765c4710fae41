import { type Channel, messageOf } from "svc/sdk";
import type { DiscordAccount } from "./accounts.ts";
import { ApiError } from "./api-error.ts";
import type { RestApi } from "./rest.ts";
import type { DiscordTiming } from "./timing.ts";
import type { User } from "./wire.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

interface Inspection {
  api: RestApi;
  timing: DiscordTiming;
  signal: AbortSignal;
}

/** Servers that are looked at, and channels that are. */
const [MAX_GUILDS, MAX_CHANNELS] = [200, 20];
/** Servers and rights that one finding names. */
const MAX_NAMED = 5;
/** Flags of an application: its bot may read messages, in any number of servers or in fewer than 100. */
const MESSAGE_CONTENT_FLAGS = (1 << 18) | (1 << 19);
const ADMINISTRATOR = 1n << 3n;
/** Rights that the channel uses (discord.com/developers/docs/topics/permissions). */
const RIGHTS: ReadonlyArray<readonly [bigint, string]> = [
  [1n << 10n, "View Channels"],
  [1n << 11n, "Send Messages"],
  [1n << 38n, "Send Messages in Threads"],
  [1n << 16n, "Read Message History"],
  [1n << 15n, "Attach Files"],
  [1n << 6n, "Add Reactions"],
];

/** Asks who the bot is. */
export async function probe({ api, timing, signal }: Inspection): Promise<Probe> {
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  try {
    const { username } = await api.call<User>("GET", "/users/@me", { limitMs: timing.callMs, signal });
    return { ok: true, ms: ms(), identity: username };
  } catch (error) {
    return { ok: false, ms: ms(), error: messageOf(error) };
  }
}

/** Says what at Discord, or in the config, will make trouble. */
export async function audit(account: DiscordAccount, { api, timing, signal }: Inspection): Promise<Finding[]> {
  const options = { limitMs: timing.callMs, signal };
  try {
    const { flags = 0 } = await api.call<{ flags?: number }>("GET", "/applications/@me", options);
    const guilds = await api.call<Guild[]>("GET", `/users/@me/guilds?limit=${MAX_GUILDS}`, options);
    const channels: Finding[] = [];
    for (const id of account.groupIds.slice(0, MAX_CHANNELS)) channels.push(...(await channelFinding(id, api, options)));
    return [{ id: "token", ok: true, message: "Discord accepts the token" }, intents(account, flags), rights(guilds), ...channels];
  } catch (error) {
    return [{ id: "token", ok: false, message: messageOf(error) }];
  }
}

function intents({ messageContent }: DiscordAccount, flags: number): Finding {
  const id = "message content";
  if (!messageContent)
    return { id, ok: true, message: "not asked for: in servers the bot reads only messages that name it, answers to it and commands" };
  if ((flags & MESSAGE_CONTENT_FLAGS) !== 0) return { id, ok: true, message: "on: in servers the bot reads every message" };
  return {
    id,
    ok: false,
    message: "off: turn on Message Content Intent on the page Bot of the Developer Portal, or set messageContent to false",
  };
}

interface Guild {
  name?: string;
  permissions?: string;
}

/** Rights of the bot in its servers; those of single channels may differ. */
function rights(guilds: readonly Guild[]): Finding {
  const id = "permissions";
  if (guilds.length === 0)
    return { id, ok: true, message: "the bot is in no server: it takes direct messages of users who share one with it" };
  const faults = guilds.flatMap(({ name = "?", permissions = "0" }) => {
    const own = /^\d{1,30}$/.test(permissions) ? BigInt(permissions) : 0n;
    const missing = (own & ADMINISTRATOR) !== 0n ? [] : RIGHTS.filter(([bit]) => (own & bit) === 0n).map(([, right]) => right);
    return missing.length > 0 ? [`"${name.slice(0, 60)}" lacks ${missing.join(", ")}`] : [];
  });
  if (faults.length === 0) return { id, ok: true, message: `all that are needed, in ${guilds.length} servers` };
  const more = faults.length > MAX_NAMED ? ` and ${faults.length - MAX_NAMED} more` : "";
  return { id, ok: false, message: `${faults.slice(0, MAX_NAMED).join("; ")}${more}` };
}

/** A channel below `groups` that the bot does not see. */
async function channelFinding(id: string, api: RestApi, options: { limitMs: number; signal: AbortSignal }): Promise<Finding[]> {
  try {
    await api.call("GET", `/channels/${id}`, options);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 403 && error.status !== 404)) throw error;
    return [{ id: `channel ${id}`, ok: false, message: `the bot does not see it: ${error.message}` }];
  }
}
