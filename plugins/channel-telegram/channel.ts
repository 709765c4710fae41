import { type Channel, type ChannelRun, messageOf, NotDispatchedError } from "svc/sdk";
import { CHANNEL_ID, inspectAccount, listAccounts, MAX_FILE_BYTES, resolveAccount, type TelegramAccount } from "./accounts.ts";
import { type BotApi, createBotApi, type Fetch, type TelegramLibrary } from "./api.ts";
import { normalizeTarget } from "./ids.ts";
import { audit, probe } from "./inspection.ts";
import { MAX_TEXT, renderText } from "./rendered-text.ts";
import { edit, react, send, typing, unsend } from "./sending.ts";
import { runBot } from "./session.ts";
import { type TelegramTiming, TIMING } from "./timing.ts";
import type { WebhookRoute } from "./webhook.ts";

interface ChannelOptions {
  /** Loads the client library. */
  load(): Promise<TelegramLibrary>;
  fetch: Fetch;
  webhooks: WebhookRoute;
  /** Times that differ from those of a release. */
  times?: Partial<TelegramTiming>;
}

/** Creates the channel. */
export function createTelegramChannel({ load, fetch, webhooks, times = {} }: ChannelOptions): Channel<TelegramAccount> {
  const timing = { ...TIMING, ...times };
  const apis = new WeakMap<ChannelRun<TelegramAccount>, BotApi>();
  const apiOf = async (account: TelegramAccount) => createBotApi(await load(), fetch, account);
  const contextOf = ({ signal, clock }: ChannelRun<TelegramAccount>, api: BotApi) => ({ api, timing, signal, now: () => clock.now() });
  const sending = (run: ChannelRun<TelegramAccount>) => {
    const api = apis.get(run);
    if (!api) throw new NotDispatchedError("the bot does not run");
    return contextOf(run, api);
  };
  return {
    id: CHANNEL_ID,
    meta: { label: "Telegram", docs: "plugins/channel-telegram/README.md", targetPrefixes: [CHANNEL_ID] },
    capabilities: {
      chatTypes: ["direct", "group", "channel"],
      threads: true,
      reactions: true,
      edit: true,
      unsend: true,
      typing: true,
      replyTo: true,
      media: { in: true, out: true, maxBytes: MAX_FILE_BYTES },
      multiAccount: true,
      caseSensitiveIds: true,
    },
    config: {
      list: listAccounts,
      resolve: resolveAccount,
      inspect: inspectAccount,
      identity: ({ token, apiRoot }) => `${apiRoot}/${token}`,
    },
    async start(run) {
      try {
        const api = await apiOf(run.account);
        apis.set(run, api);
        await runBot(run, { api, timing, webhooks, random: Math.random });
      } catch (error) {
        run.state({ lifecycle: "blocked", connected: false, lastError: messageOf(error) });
      } finally {
        apis.delete(run);
      }
    },
    send: async (message, run) => send(message, sending(run)),
    edit: async (target, run) => edit(target, sending(run)),
    unsend: async (target, run) => unsend(target, sending(run)),
    react: async (target, run) => react(target, sending(run)),
    typing: async (to, isOn, run) => typing(to, isOn, sending(run)),
    probe: async (account, signal) => probe({ api: await apiOf(account), timing, signal }),
    audit: async (account, signal) => audit(account, { api: await apiOf(account), timing, signal }, webhooks),
    target: { normalize: normalizeTarget, format: (target) => `${CHANNEL_ID}:${target}` },
    text: { limit: MAX_TEXT, unit: "utf16", render: renderText },
  };
}
