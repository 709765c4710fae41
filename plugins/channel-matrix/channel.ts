import { isDeepStrictEqual } from "node:util";
import { type Channel, type ChannelRun, messageOf, type PluginKv } from "svc/sdk";
import { accountDigest, CHANNEL_ID, inspectAccount, listAccounts, MAX_FILE_BYTES, type MatrixAccount, resolveAccount } from "./accounts.ts";
import type { Opening, SendContext } from "./direct-chats.ts";
import type { Fetch, Homeserver } from "./homeserver.ts";
import { normalizeTarget } from "./ids.ts";
import { audit, probe } from "./inspection.ts";
import type { MatrixLibrary } from "./library.ts";
import { MAX_TEXT_BYTES, renderText } from "./rendered-text.ts";
import { edit, react, send, typing, unsend } from "./sending.ts";
import { runAccount, type Session } from "./session.ts";
import { sessionOf } from "./targets.ts";
import { type MatrixTiming, TIMING } from "./timing.ts";

interface ChannelOptions {
  /** Loads the client library. */
  load(): Promise<MatrixLibrary>;
  fetch: Fetch;
  kv: Pick<PluginKv, "get" | "set">;
  /** Times that differ from those of a release. */
  times?: Partial<MatrixTiming>;
}

type Run = ChannelRun<MatrixAccount>;

/** Creates the channel. */
export function createMatrixChannel({ load, fetch, kv, times = {} }: ChannelOptions): Channel<MatrixAccount> {
  const timing = { ...TIMING, ...times };
  const sessions = new WeakMap<Run, Session>();
  /** Sessions by account, for probes. */
  const running = new Map<string, { account: MatrixAccount; server: Homeserver }>();
  const opening = new Map<string, Opening>();
  const connect = async () => ({ library: await load(), fetch, timing });
  const sending = (run: Run): SendContext => {
    const { signal, clock, account } = run;
    return { ...sessionOf(sessions, run), userId: account.userId, timing, signal, now: () => clock.now(), opening };
  };
  const inspecting = async (account: MatrixAccount, signal: AbortSignal) => {
    const run = running.get(account.accountId);
    const isSame =
      run && accountDigest(run.account) === accountDigest(account) && isDeepStrictEqual(run.account.credentials, account.credentials);
    return { connection: await connect(), signal, running: isSame ? run.server : undefined };
  };
  return {
    id: CHANNEL_ID,
    meta: { label: "Matrix", docs: "plugins/channel-matrix/README.md", targetPrefixes: [CHANNEL_ID] },
    capabilities: {
      chatTypes: ["direct", "group"],
      threads: true,
      reactions: true,
      edit: true,
      unsend: true,
      typing: true,
      replyTo: true,
      media: { in: true, out: true, maxBytes: MAX_FILE_BYTES },
      multiAccount: true,
      // The row's id is the id of the transaction.
      idempotentSend: true,
      caseSensitiveIds: true,
    },
    config: {
      list: listAccounts,
      resolve: resolveAccount,
      inspect: inspectAccount,
      // It names the account on every homeserver, by whatever address that is reached.
      identity: ({ userId }) => userId,
    },
    async start(run) {
      const { accountId } = run.account;
      try {
        const hold = (session: Session | undefined) => {
          if (session) {
            sessions.set(run, session);
            running.set(accountId, { account: run.account, server: session.server });
          } else {
            sessions.delete(run);
            running.delete(accountId);
          }
        };
        await runAccount(run, { ...(await connect()), kv, random: Math.random, hold });
      } catch (error) {
        run.state({ lifecycle: "blocked", connected: false, lastError: messageOf(error) });
      }
    },
    send: async (message, run) => send(message, sending(run)),
    edit: async (target, run) => edit(target, sending(run)),
    unsend: async (target, run) => unsend(target, sending(run)),
    react: async (target, run) => react(target, sending(run)),
    typing: async (to, isOn, run) => typing(to, isOn, sending(run)),
    probe: async (account, signal) => probe(account, await inspecting(account, signal)),
    audit: async (account, signal) => audit(account, await inspecting(account, signal)),
    target: { normalize: normalizeTarget, format: (target) => `${CHANNEL_ID}:${target}` },
    text: { limit: MAX_TEXT_BYTES, unit: "bytes", render: renderText },
  };
}
