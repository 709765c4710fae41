import { type ChannelPeer, type PeerAction, startPacketProxy } from "svc/sdk/testing";
import { type FakeBot, type FakeChannel, startFakeDiscord } from "./discord.ts";

const bot = (id: string, token: string, username: string): FakeBot => ({
  id,
  applicationId: `${id}9`,
  token,
  username,
  mayReadContent: true,
});
const BOTS = {
  default: bot("9001", "OTAwMQ.GaBcDe.default-secret-0a1b2c", "svc_bot"),
  second: bot("9002", "OTAwMg.GfGhIj.second-secret-3d4e5f", "svc_second_bot"),
} satisfies Record<string, FakeBot>;
const WRONG = "OTAwMQ.GaBcDe.wrong-secret-6a7b8c";
const ADA = { id: "4711", username: "ada", global_name: "Ada" };
const GUILD = { id: "7000", name: "House", permissions: "8" };
const GROUP = "7100";
const CHANNELS: FakeChannel[] = [
  { id: GROUP, type: 0, name: "kitchen", guild_id: GUILD.id },
  { id: "1", type: 11, name: "a thread", guild_id: GUILD.id, parent_id: GROUP },
  { id: "5001", type: 1, recipient: ADA.id, botId: BOTS.default.id },
  { id: "5002", type: 1, recipient: ADA.id, botId: BOTS.second.id },
];
/** Discord shows that somebody types for 10 s; here it is less, so that a test need not wait for the end. */
const TYPING_MS = 100;

/** The other side of a Discord account: a fake of the API and the gateway, a server with a channel and a thread, and Ada. */
export async function startDiscordPeer(): Promise<ChannelPeer & { wrong: readonly string[] }> {
  const seen: PeerAction[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const discord = await startFakeDiscord({
    bots: Object.values(BOTS),
    channels: CHANNELS,
    guilds: [GUILD],
    onCall({ method, route, ids, body = {}, result }) {
      const [channelId = "", messageId = ""] = ids;
      const channel = CHANNELS.find(({ id }) => id === channelId);
      const to = channel?.recipient ?? channel?.parent_id ?? channelId;
      const thread = channel?.parent_id === undefined ? {} : { threadId: `t${channelId}` };
      const id = `${channelId}:${messageId}`;
      const reference = body.message_reference as { message_id: string } | undefined;
      const action = `${method} ${route}`;
      if (action === "POST /channels/:id/messages")
        seen.push({
          kind: "message",
          to,
          text: shown(body.content),
          messageId: `${channelId}:${(result as { id: string }).id}`,
          ...thread,
          ...(reference ? { replyToId: `${channelId}:${reference.message_id}` } : {}),
        });
      if (action === "PATCH /channels/:id/messages/:id") seen.push({ kind: "edit", messageId: id, text: shown(body.content) });
      if (action === "DELETE /channels/:id/messages/:id") seen.push({ kind: "unsend", messageId: id });
      if (action === "PUT /channels/:id/messages/:id/reactions/:emoji/@me") seen.push({ kind: "reaction", messageId: id, emoji: "👍" });
      if (action === "POST /channels/:id/typing") {
        seen.push({ kind: "typing", to, on: true });
        timers.add(setTimeout(() => seen.push({ kind: "typing", to, on: false }), TYPING_MS));
      }
    },
  });
  const proxy = await startPacketProxy(discord.port);
  let said = 10_000;
  const taken = new Map<string, () => boolean>();
  return {
    config({ accounts, credentials }) {
      const own = { token: credentials === "good" ? BOTS.default.token : WRONG, apiRoot: `http://127.0.0.1:${proxy.port}/api` };
      return { ...own, ...(accounts === 2 ? { accounts: { second: { token: BOTS.second.token } } } : {}) };
    },
    secrets: [BOTS.default.token, BOTS.second.token, WRONG],
    direct: ADA.id,
    group: GROUP,
    seen,
    wrong: discord.wrong,
    async say({ accountId, chatType, text, threadId, replyToId }) {
      said += 1;
      const self = BOTS[accountId as keyof typeof BOTS];
      const direct = CHANNELS.find(({ botId }) => botId === self.id)?.id as string;
      const channelId = threadId === undefined ? (chatType === "direct" ? direct : GROUP) : threadId.slice(1);
      const answered = replyToId?.split(":")[1];
      const message = {
        id: String(said),
        channel_id: channelId,
        ...(chatType === "direct" ? {} : { guild_id: GUILD.id, member: { roles: ["77"] } }),
        type: answered === undefined ? 0 : 19,
        content: text,
        author: ADA,
        mentions: [],
        attachments: [],
        timestamp: "2026-01-02T03:04:05.000000+00:00",
        ...(answered === undefined
          ? {}
          : {
              message_reference: { type: 0, message_id: answered, channel_id: channelId },
              referenced_message: { id: answered, channel_id: channelId, content: "…", author: ADA },
            }),
      };
      const id = `${channelId}:${said}`;
      taken.set(id, discord.gateway.push(self, "MESSAGE_CREATE", message));
      return id;
    },
    acknowledged: (id) => taken.get(id)?.() === true,
    packets: (shape) => proxy.shape(shape),
    drop: () => discord.cut(),
    connections: () => discord.open(),
    async close() {
      for (const timer of timers) clearTimeout(timer);
      await proxy.close();
      await discord.close();
    },
  };
}

/** Text as people see it: escaped marks are characters. */
function shown(content: unknown): string {
  return String(content).replace(/\\([^\p{L}\p{N}\s])/gu, "$1");
}
