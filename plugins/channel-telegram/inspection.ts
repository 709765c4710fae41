import { type Channel, messageOf } from "svc/sdk";
import type { TelegramAccount } from "./accounts.ts";
import type { BotApi } from "./api.ts";
import type { TelegramTiming } from "./timing.ts";
import type { User } from "./updates.ts";
import type { WebhookRoute } from "./webhook.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

interface Inspection {
  api: BotApi;
  timing: TelegramTiming;
  signal: AbortSignal;
}

/** Asks who the bot is. */
export async function probe({ api, timing, signal }: Inspection): Promise<Probe> {
  const started = performance.now();
  try {
    const { username, first_name: name } = await api.call<User>("getMe", {}, { limitMs: timing.callMs, signal });
    return { ok: true, ms: Math.round(performance.now() - started), identity: username === undefined ? name : `@${username}` };
  } catch (error) {
    return { ok: false, ms: Math.round(performance.now() - started), error: messageOf(error) };
  }
}

interface WebhookInfo {
  url: string;
  pending_update_count: number;
  last_error_date?: number;
  last_error_message?: string;
}

/** Says what at Telegram, or in the config, will make trouble. */
export async function audit(account: TelegramAccount, { api, timing, signal }: Inspection, webhooks: WebhookRoute): Promise<Finding[]> {
  const options = { limitMs: timing.callMs, signal };
  try {
    const self = await api.call<User>("getMe", {}, options);
    const info = await api.call<WebhookInfo>("getWebhookInfo", {}, options);
    return [{ id: "token", ok: true, message: "Telegram accepts the token" }, privacy(self), webhook(account, info, webhooks)];
  } catch (error) {
    return [{ id: "token", ok: false, message: messageOf(error) }];
  }
}

function privacy({ can_read_all_group_messages: readsAll }: User): Finding {
  const id = "privacy mode";
  if (readsAll) return { id, ok: true, message: "off: in groups the bot sees every message" };
  return { id, ok: true, message: "on: in groups the bot sees commands, mentions and answers to it; BotFather's /setprivacy changes that" };
}

function webhook({ webhook: own, accountId }: TelegramAccount, info: WebhookInfo, webhooks: WebhookRoute): Finding {
  const id = "webhook";
  const isOurs = info.url.endsWith(webhooks.pathOf(accountId));
  if (!own && info.url === "") return { id, ok: true, message: "none is set, as long polling needs it" };
  if (!own || !isOurs)
    return { id, ok: false, message: info.url === "" ? "none is set" : "it leads to another program: messages do not come here" };
  if (info.last_error_message !== undefined)
    return {
      id,
      ok: false,
      message: `Telegram could not deliver: ${info.last_error_message.slice(0, 200)}; ${info.pending_update_count} messages wait`,
    };
  return { id, ok: true, message: "it leads here" };
}
