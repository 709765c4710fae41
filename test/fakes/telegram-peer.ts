import type { ChannelPeer, PeerAction } from "svc/sdk/testing";
import { type FakeBot, startFakeTelegram } from "./telegram.ts";

const BOTS = {
  default: { id: 9001, token: "9001:AAEg7xw2n4QbVh0-default", username: "svc_bot" },
  second: { id: 9002, token: "9002:AAFk3yz8m5RcWi1-second", username: "svc_second_bot" },
} satisfies Record<string, FakeBot>;
const WRONG = "9001:AAAAAAAAAAAAAAA-wrong";
const ADA = { id: 4711, is_bot: false, first_name: "Ada", username: "ada" };
const GROUP = { id: -1001234, type: "supergroup" as const, title: "Kitchen", topics: [1, 2] };
/** Telegram shows that somebody types for 5 s; here it is less, so that a test need not wait for the end. */
const TYPING_MS = 100;

/** The other side of a Telegram account: a fake of the Bot API, a forum, and Ada. */
export async function startTelegramPeer(): Promise<ChannelPeer & { wrong: readonly string[] }> {
  const seen: PeerAction[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const telegram = await startFakeTelegram({
    bots: Object.values(BOTS),
    chats: [{ id: ADA.id, type: "private", first_name: "Ada" }, GROUP],
    onCall({ method, params, result }) {
      const to = String(params.chat_id);
      const id = `${to}:${(result as { message_id?: number }).message_id ?? params.message_id}`;
      const text = String(params.text);
      const { message_id: replied } = (params.reply_parameters ?? {}) as { message_id?: number };
      if (method === "sendMessage")
        seen.push({
          kind: "message",
          to,
          text,
          messageId: id,
          ...(params.message_thread_id === undefined ? {} : { threadId: `t${params.message_thread_id}` }),
          ...(replied === undefined ? {} : { replyToId: `${to}:${replied}` }),
        });
      if (method === "editMessageText") seen.push({ kind: "edit", messageId: id, text });
      if (method === "deleteMessage") seen.push({ kind: "unsend", messageId: id });
      if (method === "setMessageReaction")
        seen.push({ kind: "reaction", messageId: id, emoji: (params.reaction as Array<{ emoji: string }>)[0]?.emoji ?? "" });
      if (method === "sendChatAction") {
        seen.push({ kind: "typing", to, on: true });
        timers.add(setTimeout(() => seen.push({ kind: "typing", to, on: false }), TYPING_MS));
      }
    },
  });
  let said = 10;
  const updates = new Map<string, { bot: FakeBot; id: number }>();
  return {
    config({ accounts, credentials }) {
      const own = { token: credentials === "good" ? BOTS.default.token : WRONG, apiRoot: telegram.url };
      return { ...own, ...(accounts === 2 ? { accounts: { second: { token: BOTS.second.token } } } : {}) };
    },
    secrets: [BOTS.default.token, BOTS.second.token, WRONG],
    direct: String(ADA.id),
    group: String(GROUP.id),
    seen,
    wrong: telegram.wrong,
    async say({ accountId, chatType, text, threadId, replyToId }) {
      said += 1;
      const bot = BOTS[accountId as keyof typeof BOTS];
      const { topics: _, ...group } = GROUP;
      const chat = chatType === "direct" ? { id: ADA.id, type: "private", first_name: "Ada" } : group;
      const message = {
        message_id: said,
        date: 1_700_000_000,
        chat,
        from: ADA,
        text,
        ...(threadId === undefined ? {} : { message_thread_id: Number(threadId.slice(1)), is_topic_message: true }),
        ...(replyToId === undefined
          ? {}
          : { reply_to_message: { message_id: Number(replyToId.split(":")[1]), date: 1_700_000_000, chat, from: ADA, text: "…" } }),
      };
      const id = `${chat.id}:${said}`;
      updates.set(id, { bot, id: telegram.push(bot, { message }) });
      return id;
    },
    acknowledged(id) {
      const update = updates.get(id);
      return update !== undefined && telegram.isConfirmed(update.bot, update.id);
    },
    drop: () => telegram.cut(),
    connections: () => telegram.open(),
    async close() {
      for (const timer of timers) clearTimeout(timer);
      await telegram.close();
    },
  };
}
