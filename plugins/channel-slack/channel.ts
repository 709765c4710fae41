import { type Channel, type ChannelRun, messageOf, NotDispatchedError } from "svc/sdk";
import { CHANNEL_ID, inspectAccount, listAccounts, MAX_FILE_BYTES, resolveAccount, type SlackAccount } from "./accounts.ts";
import { createSlackApi, type Fetch } from "./api.ts";
import { Conversations } from "./conversations.ts";
import type { EventsEndpoint } from "./endpoint.ts";
import { normalizeTarget } from "./ids.ts";
import { audit, probe } from "./inspection.ts";
import type { SlackLibrary } from "./library.ts";
import { MAX_TEXT, renderText } from "./rendered-text.ts";
import { edit, react, type SendContext, send, unsend } from "./sending.ts";
import { Refusal, runAccount } from "./session.ts";
import { type SlackTiming, TIMING } from "./timing.ts";

interface ChannelOptions {
  /** Loads the client library. */
  load(): Promise<SlackLibrary>;
  fetch: Fetch;
  endpoint: EventsEndpoint;
  /** Times that differ from those of a release. */
  times?: Partial<SlackTiming>;
}

/** Creates the channel. */
export function createSlackChannel({ load, fetch, endpoint, times = {} }: ChannelOptions): Channel<SlackAccount> {
  const timing = { ...TIMING, ...times };
  const contexts = new WeakMap<ChannelRun<SlackAccount>, SendContext>();
  const apiOf = async (account: SlackAccount, signal: AbortSignal) =>
    createSlackApi(account, { library: await load(), fetch, timing, signal });
  const sending = (run: ChannelRun<SlackAccount>) => {
    const context = contexts.get(run);
    if (!context) throw new NotDispatchedError("the account does not run");
    return context;
  };
  return {
    id: CHANNEL_ID,
    meta: { label: "Slack", docs: "plugins/channel-slack/README.md", targetPrefixes: [CHANNEL_ID] },
    capabilities: {
      chatTypes: ["direct", "group"],
      threads: true,
      reactions: true,
      edit: true,
      unsend: true,
      media: { in: true, out: true, maxBytes: MAX_FILE_BYTES },
      multiAccount: true,
      caseSensitiveIds: true,
    },
    config: {
      list: listAccounts,
      resolve: resolveAccount,
      inspect: inspectAccount,
      identity: ({ botToken, apiRoot }) => `${apiRoot}/${botToken}`,
    },
    async start(run) {
      try {
        const library = await load();
        const api = createSlackApi(run.account, { library, fetch, timing, signal: run.signal });
        const now = () => run.clock.now();
        const conversations = new Conversations({ api, nameMs: timing.nameMs, now });
        const refusal = new Refusal();
        contexts.set(run, { api, conversations, uploadsMs: timing.uploadsMs, now, onFault: (error) => refusal.notice(error) });
        await runAccount(run, { api, library, conversations, timing, endpoint, refusal, random: Math.random });
      } catch (error) {
        run.state({ lifecycle: "blocked", connected: false, lastError: messageOf(error) });
      } finally {
        contexts.delete(run);
      }
    },
    send: async (message, run) => send(message, sending(run)),
    edit: async (target, run) => edit(target, sending(run)),
    unsend: async (target, run) => unsend(target, sending(run)),
    react: async (target, run) => react(target, sending(run)),
    probe: async (account, signal) => probe(await apiOf(account, signal)),
    audit: async (account, signal) => {
      // Gives an address to open a link at; none is opened.
      const openUrl = async () => {
        const api = await apiOf({ ...account, botToken: account.appToken ?? "" }, signal);
        await api.call("apps.connections.open");
      };
      return audit(account, await apiOf(account, signal), openUrl);
    },
    target: { normalize: normalizeTarget, format: (target) => `${CHANNEL_ID}:${target}` },
    text: { limit: MAX_TEXT, unit: "utf16", render: renderText },
  };
}
