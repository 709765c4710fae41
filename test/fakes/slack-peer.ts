import { type ChannelPeer, type PeerAction, startPacketProxy } from "svc/sdk/testing";
import { type FakeApp, newTs, startFakeSlack } from "./slack.ts";

const APPS = {
  default: appOf("DEFAULT"),
  second: appOf("SECOND"),
} satisfies Record<string, FakeApp>;
const WRONG = "xoxb-1111-2222-wrongwrongwrong";
const ADA = "U0ADA";
const KITCHEN = "C0KITCHEN";
/** Emoji by the names that the bot gives Slack. */
const EMOJI: Readonly<Record<string, string>> = { thumbsup: "👍" };

function appOf(name: string): FakeApp {
  return {
    appId: `A0${name}`,
    teamId: "T0KITCHEN",
    userId: `U0${name}`,
    botId: `B0${name}`,
    name: `svc_${name.toLowerCase()}`,
    botToken: `xoxb-1111-2222-${name.toLowerCase()}abcdef`,
    appToken: `xapp-1-A0${name}-3333-${name.toLowerCase()}abcdef`,
    signingSecret: `8f742231b10e8888abcd99yyyzzz85a5-${name}`,
  };
}

/** The other side of a Slack account: a fake of Slack, a channel, and Ada. */
export async function startSlackPeer(): Promise<ChannelPeer & { wrong: readonly string[] }> {
  const seen: PeerAction[] = [];
  const direct = `D0ADA`;
  const people = (channel: string) => (channel === direct ? ADA : channel);
  const slack = await startFakeSlack({
    apps: Object.values(APPS),
    channels: [
      { id: direct, user: ADA },
      { id: KITCHEN, name: "kitchen" },
    ],
    users: [{ id: ADA, name: "Ada" }],
    onCall({ method, params, result }) {
      const { channel = "", thread_ts: thread } = params;
      const text = plain(params.text ?? "");
      const id = `${channel}:${String(result.ts ?? params.ts ?? params.timestamp)}`;
      if (method === "chat.postMessage")
        seen.push({ kind: "message", to: people(channel), text, messageId: id, ...(thread === undefined ? {} : { threadId: thread }) });
      if (method === "chat.update") seen.push({ kind: "edit", messageId: id, text });
      if (method === "chat.delete") seen.push({ kind: "unsend", messageId: id });
      if (method === "reactions.add")
        seen.push({ kind: "reaction", messageId: `${channel}:${params.timestamp}`, emoji: EMOJI[params.name ?? ""] ?? "" });
    },
  });
  const proxy = await startPacketProxy(slack.linkPort);
  slack.linkPort = proxy.port;
  const envelopes = new Map<string, string>();
  const account = ({ botToken, appToken }: FakeApp) => ({ botToken, appToken });
  return {
    config({ accounts, credentials }) {
      const own = { ...account(APPS.default), ...(credentials === "good" ? {} : { botToken: WRONG }), apiRoot: slack.apiRoot };
      return { ...own, ...(accounts === 2 ? { accounts: { second: account(APPS.second) } } : {}) };
    },
    secrets: [WRONG, ...Object.values(APPS).flatMap(({ botToken, appToken }) => [botToken, appToken])],
    direct: ADA,
    group: KITCHEN,
    thread: "1700000000.000100",
    seen,
    wrong: slack.wrong,
    async say({ accountId, chatType, text, threadId }) {
      const app = APPS[accountId as keyof typeof APPS];
      const ts = newTs();
      const isDirect = chatType === "direct";
      const channel = isDirect ? direct : KITCHEN;
      const event = {
        type: "message",
        channel,
        channel_type: isDirect ? "im" : "channel",
        user: ADA,
        ts,
        text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
        ...(threadId === undefined ? {} : { thread_ts: threadId, parent_user_id: ADA }),
      };
      const id = `${channel}:${ts}`;
      envelopes.set(
        id,
        slack.push(app, { type: "event_callback", team_id: app.teamId, api_app_id: app.appId, event_id: `Ev${ts}`, event }),
      );
      return id;
    },
    acknowledged: (id) => slack.isAcknowledged(envelopes.get(id) ?? ""),
    packets: (shape) => proxy.shape(shape),
    drop: () => slack.cut(),
    connections: () => slack.links(),
    async close() {
      await proxy.close();
      await slack.close();
    },
  };
}

/** Text as people read it: escapes undone. */
function plain(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
