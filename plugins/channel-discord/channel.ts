import { type Channel, type ChannelRun, messageOf, NotDispatchedError, type PluginKv } from "svc/sdk";
import { CHANNEL_ID, type DiscordAccount, identityOf, inspectAccount, listAccounts, MAX_FILE_BYTES, resolveAccount } from "./accounts.ts";
import { normalizeTarget } from "./ids.ts";
import { audit, probe } from "./inspection.ts";
import { type Libraries, loadLibraries } from "./library.ts";
import { MAX_TEXT, renderText } from "./rendered-text.ts";
import { createRestApi, type Fetch, type RestApi } from "./rest.ts";
import { edit, react, send, typing, unsend } from "./sending.ts";
import { Bot } from "./session.ts";
import { type DiscordTiming, TIMING } from "./timing.ts";

interface ChannelOptions {
  /** Loads the client library. */
  load(): Promise<Libraries>;
  fetch: Fetch;
  kv: Pick<PluginKv, "get" | "set">;
  /** Times that differ from those of a release. */
  times?: Partial<DiscordTiming>;
}

/** Creates the channel. */
export function createDiscordChannel({ load, fetch, kv, times = {} }: ChannelOptions): Channel<DiscordAccount> {
  const timing = { ...TIMING, ...times };
  const bots = new WeakMap<ChannelRun<DiscordAccount>, Bot>();
  const sending = (run: ChannelRun<DiscordAccount>) => {
    const bot = bots.get(run);
    if (!bot) throw new NotDispatchedError("the bot does not run");
    return { bot, timing, signal: run.signal, allowedMentions: run.account.allowedMentions, now: () => run.clock.now() };
  };
  const inspecting = async <T>(account: DiscordAccount, inspect: (api: RestApi) => Promise<T>): Promise<T> => {
    const api = createRestApi((await loadLibraries(load)).discord, fetch, account);
    return inspect(api).finally(() => api.close());
  };
  return {
    id: CHANNEL_ID,
    meta: { label: "Discord", docs: "plugins/channel-discord/README.md", targetPrefixes: [CHANNEL_ID] },
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
      idempotentSend: true,
      caseSensitiveIds: true,
    },
    config: { list: listAccounts, resolve: resolveAccount, inspect: inspectAccount, identity: identityOf },
    async start(run) {
      let api: RestApi | undefined;
      try {
        const { discord, sockets } = await loadLibraries(load);
        api = createRestApi(discord, fetch, run.account);
        const bot = new Bot(run, { api, sockets, kv, timing, random: Math.random });
        bots.set(run, bot);
        await bot.run();
      } catch (error) {
        run.state({ lifecycle: "blocked", connected: false, lastError: messageOf(error) });
      } finally {
        bots.delete(run);
        api?.close();
      }
    },
    send: async (message, run) => send(message, sending(run)),
    edit: async (target, run) => edit(target, sending(run)),
    unsend: async (target, run) => unsend(target, sending(run)),
    react: async (target, run) => react(target, sending(run)),
    typing: async (to, isOn, run) => typing(to, isOn, sending(run)),
    probe: (account, signal) => inspecting(account, (api) => probe({ api, timing, signal })),
    audit: (account, signal) => inspecting(account, (api) => audit(account, { api, timing, signal })),
    target: { normalize: normalizeTarget, format: (target) => `${CHANNEL_ID}:${target}` },
    text: { limit: MAX_TEXT, unit: "chars", render: renderText },
  };
}
