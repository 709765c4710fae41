import type { ChannelPeer, PeerAction } from "svc/sdk/testing";
import { startFakeMatrix } from "./matrix.ts";
import type { FakeRoom } from "./matrix-rooms.ts";

const BOTS = {
  default: { id: "@svc:fake.test", token: "syt_default_f3a91c77d0", name: "svc" },
  second: { id: "@other:fake.test", password: "correct-horse-battery-55", name: "other" },
};
const WRONG = "syt_wrong_00000000";
const ADA = "@ada:fake.test";
const GROUP = "!kitchen:fake.test";
/** Time within which a client that has made its session asks for news. */
const BETWEEN_MS = 1_000;
const THREADS = ["$t1", "$t2"];

/** The other side of a Matrix account: a fake homeserver, a room with threads, and Ada. */
export async function startMatrixPeer(): Promise<ChannelPeer> {
  const seen: PeerAction[] = [];
  const direct = new Map<string, FakeRoom>();
  const nameOf = (roomId: string) => ([...direct.values()].some(({ id }) => id === roomId) ? ADA : roomId);
  const matrix = await startFakeMatrix({
    users: Object.values(BOTS),
    onCall({ path, body }, result) {
      const [, , , roomId = "", action, third = ""] = path.split("/");
      const to = nameOf(roomId);
      const relation = (body["m.relates_to"] ?? {}) as Record<string, unknown> & { "m.in_reply_to"?: { event_id: string } };
      const replied = relation.is_falling_back === true ? undefined : relation["m.in_reply_to"]?.event_id;
      if (action === "typing") seen.push({ kind: "typing", to, on: body.typing === true });
      if (action === "redact") seen.push({ kind: "unsend", messageId: third });
      if (action !== "send") return;
      const messageId = String(result.event_id);
      if (third === "m.reaction") seen.push({ kind: "reaction", messageId: String(relation.event_id), emoji: String(relation.key) });
      else if (relation.rel_type === "m.replace")
        seen.push({ kind: "edit", messageId: String(relation.event_id), text: (body["m.new_content"] as { body: string }).body });
      else
        seen.push({
          kind: "message",
          to,
          text: String(body.body),
          messageId,
          ...(relation.rel_type === "m.thread" ? { threadId: String(relation.event_id).slice(1) } : {}),
          ...(replied === undefined ? {} : { replyToId: replied }),
        });
    },
  });
  const { rooms } = matrix;
  const group = rooms.create(GROUP);
  rooms.member(group, ADA, ADA, "join", { displayname: "Ada" });
  rooms.add(group, { type: "m.room.name", sender: ADA, state_key: "", content: { name: "Kitchen" } });
  for (const bot of Object.values(BOTS)) rooms.member(group, bot.id, bot.id, "join", { displayname: bot.name });
  for (const event_id of THREADS)
    rooms.add(group, { type: "m.room.message", sender: ADA, event_id, content: { msgtype: "m.text", body: "a thread" } });
  for (const [accountId, bot] of Object.entries(BOTS)) {
    const room = rooms.create(`!direct-${accountId}:fake.test`);
    rooms.member(room, ADA, ADA, "join", { displayname: "Ada" });
    rooms.member(room, bot.id, bot.id, "join", { displayname: bot.name });
    rooms.addDirect(bot.id, ADA, room.id);
    direct.set(accountId, room);
  }
  const said = new Map<string, { bot: string; at: number }>();
  return {
    config({ accounts, credentials }) {
      const first = { userId: BOTS.default.id, accessToken: credentials === "good" ? BOTS.default.token : WRONG };
      if (accounts === 1) return { homeserver: matrix.url, ...first };
      const second = { userId: BOTS.second.id, password: BOTS.second.password };
      return { homeserver: matrix.url, accounts: { default: first, second } };
    },
    secrets: [BOTS.default.token, BOTS.second.password, WRONG, "syt_login_"],
    direct: ADA,
    group: GROUP,
    seen,
    async say({ accountId, chatType, text, threadId, replyToId }) {
      const room = chatType === "direct" ? (direct.get(accountId) as FakeRoom) : group;
      const relation = {
        ...(threadId === undefined ? {} : { rel_type: "m.thread", event_id: `$${threadId}`, is_falling_back: replyToId === undefined }),
        ...(replyToId === undefined ? {} : { "m.in_reply_to": { event_id: replyToId } }),
      };
      const content = {
        msgtype: "m.text",
        body: replyToId === undefined ? text : `> <${ADA}> earlier\n\n${text}`,
        ...(Object.keys(relation).length > 0 ? { "m.relates_to": relation } : {}),
      };
      const { event_id: id, at } = rooms.add(room, { type: "m.room.message", sender: ADA, content });
      said.set(id, { bot: BOTS[accountId as keyof typeof BOTS].id, at });
      return id;
    },
    acknowledged(id) {
      const message = said.get(id);
      return message !== undefined && matrix.confirmed(message.bot) >= message.at;
    },
    drop: () => matrix.cut(),
    // A client that has made its session is about to ask for news.
    connections: () => matrix.open() + (matrix.sinceLookMs() < BETWEEN_MS ? 1 : 0),
    async close() {
      await matrix.close();
      if (matrix.wrong.length > 0) throw new Error(`requests that were wrong: ${matrix.wrong.join("; ")}`);
    },
  };
}
