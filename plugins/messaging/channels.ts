import { join } from "node:path";
import {
  type Channel,
  type ContributionView,
  type Logger,
  limits,
  type MessageRoute,
  mainSessionKey,
  messageOf,
  NotDispatchedError,
  type OutboundMedia,
  type PluginContext,
  SendRefusedError,
  type SvcConfig,
} from "svc/sdk";
import type { Accounts } from "./accounts/accounts.ts";
import { removePreview, replacePreview } from "./live/replace-preview.ts";
import { type OpenedMedia, openMedia } from "./outbound/media.ts";
import type { Carrier, Readiness } from "./queue/kit.ts";

/** Folder of the state in which fetched files lie while they are sent. */
export const FETCHED = "media-out";

/** The main session itself: always there, without accounts and recipients. */
export const WEBCHAT = "webchat";

/** Channels there are: `webchat`, and those that plugins bring. */
export interface Channels {
  ids(): string[];
  /** A channel of a plugin. */
  get(id: string): Channel | undefined;
  /** Id of the channel of this name: an id, another name of it, or a plugin that brings one channel. */
  idOf(name: string): string | undefined;
  /** Loads a channel that is loaded on first use. */
  carrierOf(id: string): Promise<Carrier | undefined>;
  /** False while the account of a route is stopped, blocked or away. */
  canSend(route: MessageRoute): boolean;
}

export function createChannels(ctx: PluginContext, accounts: Pick<Accounts, "get" | "has">): Channels {
  const view: ContributionView<Channel> = ctx.contributions<Channel>("channel");
  const webchat = webchatCarrier(ctx);
  return {
    ids: () => [WEBCHAT, ...[...view].map(({ id }) => id)],
    get: (id) => view.get(id)?.value,
    idOf: (name) => (name === WEBCHAT || view.get(name) ? name : otherNameOf(view, name.toLowerCase())),
    async carrierOf(id) {
      if (id === WEBCHAT) return webchat;
      await view.ready(id);
      const channel = view.get(id)?.value;
      return channel && accountCarrier(channel, accounts, { logger: ctx.logger, open: (media, about) => openFiles(ctx, media, about) });
    },
    canSend({ channel: id, accountId }) {
      const channel = view.get(id)?.value;
      return channel === undefined || readinessOf(channel, accountId, accounts) !== "waiting";
    },
  };
}

function otherNameOf(view: ContributionView<Channel>, name: string): string | undefined {
  const all = [...view];
  const named = all.find(({ value }) => value.meta.aliases?.some((alias) => alias.toLowerCase() === name));
  const owned = all.filter(({ owner }) => owner.toLowerCase() === name);
  return named?.id ?? (owned.length === 1 ? owned[0]?.id : undefined);
}

/** Account that a message goes through when none is named. */
export function defaultAccount(channel: Channel, config: SvcConfig): string | undefined {
  try {
    return config.channels[channel.id]?.defaultAccount ?? channel.config.list(config)[0];
  } catch (error) {
    throw new SendRefusedError(`channel "${channel.id}" cannot list its accounts: ${messageOf(error)}`, {
      isPermanent: true,
      cause: error,
    });
  }
}

/** A message to the main session of an agent is a record of its transcript under the row's own id, so it is there once. */
function webchatCarrier(ctx: PluginContext): Carrier {
  return {
    isIdempotent: true,
    readiness: () => "ready",
    async send({ uid, agentId, sessionKey, text }) {
      // The run has stored its answer in this very session: it is delivered already.
      if (sessionKey === mainSessionKey(agentId)) return { messageId: uid };
      return ctx.service("agents@1").inject({ agentId, text, id: uid });
    },
  };
}

type OpenFiles = (media: OutboundMedia[], about: FilesOf) => Promise<OpenedMedia>;

interface FilesOf {
  uid: string;
  agentId: string;
  maxBytes: number;
  signal: AbortSignal;
}

/** Files of a message of an agent: those of its workspace, and of the web. */
async function openFiles(ctx: PluginContext, media: OutboundMedia[], { uid, agentId, maxBytes, signal }: FilesOf): Promise<OpenedMedia> {
  const agent = ctx
    .service("agents@1")
    .list()
    .find(({ id }) => id === agentId);
  if (!agent) throw new SendRefusedError(`there is no agent "${agentId}" whose files could be sent`, { isPermanent: true });
  return openMedia(media, uid, { folder: join(ctx.stateDir, FETCHED), workspace: agent.workspace, maxBytes, signal });
}

function maxBytesOf({ capabilities: { media } }: Channel): number {
  return Math.min(media?.maxBytes ?? 0, limits.attachmentMaxBytes);
}

/** A channel of a plugin: each message goes through the running account of its route. */
function accountCarrier(
  channel: Channel,
  accounts: Pick<Accounts, "get" | "has">,
  { logger, open }: { logger: Logger; open: OpenFiles },
): Carrier {
  return {
    isIdempotent: channel.capabilities.idempotentSend === true,
    readiness: ({ accountId }) => readinessOf(channel, accountId, accounts),
    async send({ uid, route: { to, accountId, threadId }, text, spans = [], replyToId, preview, media = [], agentId }, signal) {
      const account = accounts.get(channel.id, accountId ?? "");
      const run = account?.ready;
      if (!account || !run) throw new NotDispatchedError(`account "${accountId ?? ""}" is not connected`);
      if (to === undefined) throw new SendRefusedError("the message has no recipient", { isPermanent: true });
      signal.throwIfAborted();
      const rendered = channel.text.render({ text, spans });
      if (preview && media.length > 0) await removePreview({ to, messageId: preview.messageId }, channel, run, logger);
      else if (preview && (await replacePreview({ to, preview, text: rendered }, channel, run, logger))) {
        account.noteSent(preview.messageId);
        return { messageId: preview.messageId };
      }
      const opened = media.length === 0 ? undefined : await open(media, { uid, agentId, maxBytes: maxBytesOf(channel), signal });
      const message = {
        uid,
        to,
        ...(text === "" ? {} : { text: rendered }),
        ...(opened ? { media: opened.files } : {}),
        ...(threadId === undefined ? {} : { threadId }),
        ...(replyToId === undefined ? {} : { replyToId }),
      };
      try {
        // The try may have been given up meanwhile, and another one be under way.
        signal.throwIfAborted();
        const { messageId } = await channel.send(message, run);
        account.noteSent(messageId);
        return { messageId };
      } finally {
        await opened?.close();
      }
    },
  };
}

/** Readiness of a route: it waits for an account that is stopped, blocked or away; one that the config does not have can never be sent through. */
function readinessOf(channel: Channel, accountId: string | undefined, accounts: Pick<Accounts, "get" | "has">): Readiness {
  if (accountId === undefined) return { refused: `channel "${channel.id}" has no account; see svc channels status` };
  if (accounts.get(channel.id, accountId)?.ready) return "ready";
  try {
    if (accounts.has(channel, accountId)) return "waiting";
  } catch {
    // A channel that cannot read its section now may do so after the next change; the messages of others do not wait for that.
    return "waiting";
  }
  return { refused: `channel "${channel.id}" has no account "${accountId}"; see svc channels status` };
}
