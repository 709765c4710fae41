import { type Channel, messageOf } from "svc/sdk";
import type { SlackAccount } from "./accounts.ts";
import { ApiError, type SlackApi } from "./api.ts";
import type { Self } from "./payloads.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

/** Scopes of the bot token, and what does not work without each. */
const SCOPES: Readonly<Record<string, string>> = {
  "app_mentions:read": "mentions",
  "channels:history": "messages in public channels",
  "groups:history": "messages in private channels",
  "im:history": "direct messages",
  "im:write": "direct messages to people who have not written yet",
  "mpim:history": "direct messages of several people",
  "chat:write": "answers",
  "reactions:write": "reactions",
  "files:read": "files of people",
  "files:write": "files of agents",
  "users:read": "names of people",
  "channels:read": "names of public channels",
  "groups:read": "names of private channels",
};
/** Channels of the config that an audit looks at. */
const MAX_CHANNELS = 20;

/** Asks who the bot is. @throws as `SlackApi.call` */
export async function identify(api: SlackApi): Promise<Self> {
  const answer = await api.call<{
    user_id?: string;
    bot_id?: string;
    user?: string;
    team_id?: string;
    team?: string;
    response_metadata?: { scopes?: string[] };
  }>("auth.test");
  if (typeof answer.user_id !== "string") throw new Error("Slack does not say who the bot is");
  const { user_id: userId, bot_id: botId, user: name = userId, team_id: teamId, team: teamName, response_metadata: about } = answer;
  return { userId, botId, name, teamId, teamName, scopes: about?.scopes };
}

export async function probe(api: SlackApi): Promise<Probe> {
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  try {
    const { name, teamName } = await identify(api);
    return { ok: true, ms: ms(), identity: `@${name}${teamName === undefined ? "" : ` in ${teamName}`}` };
  } catch (error) {
    return { ok: false, ms: ms(), error: messageOf(error) };
  }
}

/** Says what at Slack, or in the config, will make trouble. */
export async function audit(account: SlackAccount, api: SlackApi, openUrl: () => Promise<void>): Promise<Finding[]> {
  try {
    const self = await identify(api);
    const findings = [{ id: "bot token", ok: true, message: "Slack accepts the token" }, scopes(self)];
    if (account.mode === "socket") findings.push(await appToken(openUrl));
    for (const channel of account.groups.slice(0, MAX_CHANNELS)) findings.push(await membership(channel, api));
    if (account.groups.length > MAX_CHANNELS)
      findings.push({ id: "channels", ok: true, message: `only the first ${MAX_CHANNELS} of ${account.groups.length} were looked at` });
    return findings;
  } catch (error) {
    return [{ id: "bot token", ok: false, message: messageOf(error) }];
  }
}

function scopes({ scopes: granted }: Self): Finding {
  const id = "scopes";
  if (granted === undefined) return { id, ok: true, message: "Slack does not say which there are" };
  const missing = Object.entries(SCOPES).filter(([scope]) => !granted.includes(scope));
  if (missing.length === 0) return { id, ok: true, message: "all that the channel uses are there" };
  const listed = missing.map(([scope, use]) => `${scope} (${use})`).join(", ");
  return { id, ok: false, message: `missing: ${listed}; add them below OAuth & Permissions and install the app again` };
}

/** A token that may open links gets an address, which nobody uses. */
async function appToken(openUrl: () => Promise<void>): Promise<Finding> {
  const id = "app token";
  try {
    await openUrl();
    return { id, ok: true, message: "Slack accepts the token, and socket mode is on" };
  } catch (error) {
    return { id, ok: false, message: messageOf(error) };
  }
}

async function membership(channel: string, api: SlackApi): Promise<Finding> {
  const id = `channel ${channel.slice(0, 40)}`;
  try {
    const { channel: found } = await api.call<{
      channel?: { name?: string; is_member?: boolean; is_archived?: boolean; is_mpim?: boolean };
    }>("conversations.info", { channel });
    if (found?.is_archived) return { id, ok: false, message: `#${found.name} is archived` };
    if (found?.is_member || found?.is_mpim) return { id, ok: true, message: `the bot is a member of #${found.name}` };
    return { id, ok: false, message: `the bot is no member of #${found?.name}: write /invite and its name there` };
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.code === "channel_not_found";
    return {
      id,
      ok: false,
      message: isUnknown ? "Slack knows no such channel, or the bot is not in it: groups takes ids such as C0123456789" : messageOf(error),
    };
  }
}
