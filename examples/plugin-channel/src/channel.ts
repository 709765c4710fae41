import { type Channel, type ChannelRun, keepConnected, messageOf, NotDispatchedError } from "svc/sdk";
import { CHANNEL_ID, inspectAccount, type LinesAccount, listAccounts, resolveAccount } from "./accounts.ts";
import { type Link, openLink } from "./link.ts";
import type { Line } from "./protocol.ts";
import { renderText } from "./rendered-text.ts";

type Run = ChannelRun<LinesAccount>;

/** The channel: one TCP link per account, one JSON object per line. */
export function createLinesChannel(): Channel<LinesAccount> {
  const links = new WeakMap<Run, Link>();
  const linkOf = (run: Run): Link => {
    const link = links.get(run);
    if (!link) throw new NotDispatchedError("there is no link to the server");
    return link;
  };
  return {
    id: CHANNEL_ID,
    meta: { label: "Lines", targetPrefixes: [CHANNEL_ID] },
    capabilities: {
      chatTypes: ["direct", "group"],
      threads: true,
      replyTo: true,
      edit: true,
      typing: true,
      multiAccount: true,
      idempotentSend: true,
      caseSensitiveIds: true,
    },
    config: { list: listAccounts, resolve: resolveAccount, inspect: inspectAccount },
    start: (run) =>
      keepConnected(run, {
        firstWaitMs: run.account.reconnectMs,
        random: Math.random,
        connect: (onReady) =>
          linkOnce(run, (link) => {
            links.set(run, link);
            onReady();
          }).finally(() => links.delete(run)),
      }),
    async send({ uid, to, threadId, replyToId, text }, run) {
      const more = { ...(threadId ? { thread: threadId } : {}), ...(replyToId ? { reply: replyToId } : {}) };
      const messageId = await linkOf(run).request({ type: "say", uid, to, text: text?.text ?? "", ...more });
      return { messageId, at: run.clock.now() };
    },
    async edit({ messageId, text }, run) {
      await linkOf(run).request({ type: "edit", uid: `edit-${messageId}-${run.clock.now()}`, id: messageId, text: text.text });
    },
    async typing(to, on, run) {
      linkOf(run).send({ type: "typing", to, on });
    },
    probe: (account, signal) => probe(account, signal),
    target: {
      normalize: (raw) => /^([#@][\w-]{1,64})$/.exec(raw.trim().replace(`${CHANNEL_ID}:`, ""))?.[1] ?? null,
      format: (target) => `${CHANNEL_ID}:${target}`,
    },
    text: { limit: 4_000, unit: "utf16", render: renderText },
  };
}

/** One link from its first packet to its last. @returns the reason why it is gone, unless it was closed from here */
async function linkOnce(run: Run, onLink: (link: Link) => void): Promise<Error | undefined> {
  const onSaid = (said: Extract<Line, { type: "said" }>, from: Link) => void deliver(said, run, from);
  const link = await openLink({ ...dial(run.account), signal: run.signal, onOpen: onLink, onSaid });
  return link.ended;
}

/** The host first, then the server: what was not acknowledged comes again with the next link. */
async function deliver(said: Extract<Line, { type: "said" }>, run: Run, link: Link): Promise<void> {
  try {
    await run.receive({
      id: said.id,
      chatType: said.group ? "group" : "direct",
      peer: { id: said.room },
      sender: { id: said.from },
      text: said.text,
      ...(said.thread ? { threadId: said.thread } : {}),
      ...(said.reply ? { replyTo: { id: said.reply } } : {}),
    });
    link.send({ type: "ack", id: said.id });
  } catch (error) {
    run.logger.warn(`a message was not taken: ${messageOf(error)}`, { id: said.id });
  }
}

async function probe(account: LinesAccount, signal: AbortSignal): Promise<{ ok: boolean; ms: number; error?: string }> {
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  try {
    const link = await openLink({ ...dial(account), signal });
    link.close();
    await link.ended;
    return { ok: true, ms: ms() };
  } catch (error) {
    return { ok: false, ms: ms(), error: messageOf(error) };
  }
}

function dial({ host, port, accountId, token }: LinesAccount) {
  return { host, port, account: accountId, token };
}
