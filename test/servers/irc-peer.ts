import { type ChannelPeer, eventually, type PeerAction, startPacketProxy } from "svc/sdk/testing";
import { startIrcTap } from "./irc-tap.ts";
import { connectUser } from "./irc-user.ts";
import { startNgircd } from "./ngircd.ts";

const PASSWORDS = { good: "pw-6b1f0c9d4e", wrong: "pw-wrong-0000" };
const ROOM = "#kitchen";
/** Time after which a message that the account has not asked about is shown without an id. */
const LABEL_MS = 1_000;

/** The other side of an IRC account: ngircd with a password, a room, and Ada with a client of her own. */
export async function startIrcPeer(): Promise<ChannelPeer> {
  const server = await startNgircd({ password: PASSWORDS.good });
  const seen: PeerAction[] = [];
  const labels = new Map<string, string[]>();
  const unlabelled = new WeakMap<object, string[]>();
  // The server has no ids for messages. The id is the label of the question that the account asks behind a message, which the server answers.
  const tap = await startIrcTap({
    serverPort: server.port,
    onLine(line, link) {
      const waiting = unlabelled.get(link) ?? [];
      unlabelled.set(link, waiting);
      const [, target = "", text = ""] = /^PRIVMSG (\S+) :(.*)$/.exec(line) ?? [];
      if (target !== "") waiting.push(`${target} ${text}`);
      const label = /^PING :?(svc-[0-9a-f]+)$/.exec(line)?.[1];
      if (label !== undefined) for (const key of waiting.splice(0)) labels.set(key, [...(labels.get(key) ?? []), label]);
      return true;
    },
  });
  const proxy = await startPacketProxy(tap.port);

  let shown = Promise.resolve();
  const show = (to: string, target: string, text: string) => {
    const label = async () => eventually(() => labels.get(`${target} ${text}`)?.shift(), LABEL_MS).catch(() => "");
    shown = shown.then(async () => void seen.push({ kind: "message", to, text, messageId: await label() }));
  };
  const ada = await connectUser({
    port: server.port,
    nick: "ada",
    password: PASSWORDS.good,
    onLine(line) {
      const [, target = "", text = ""] = /^:\S+ PRIVMSG (\S+) :(.*)$/.exec(line) ?? [];
      if (target === "ada") show(ada.mask, target, text);
      else if (target === ROOM) show(ROOM, target, text);
    },
  });
  await ada.join(ROOM);
  let said = 0;

  return {
    config({ accounts, credentials }) {
      const own = { host: "127.0.0.1", port: proxy.port, tls: { enabled: false }, password: PASSWORDS[credentials] };
      const names = { nick: "svcbot", username: "default", rooms: [ROOM], burstLines: 100, lineIntervalMs: 0 };
      return { ...own, ...names, ...(accounts === 2 ? { accounts: { second: { nick: "svcbot2", username: "second" } } } : {}) };
    },
    secrets: Object.values(PASSWORDS),
    direct: ada.mask,
    group: ROOM,
    singleLine: true,
    seen,
    async say({ accountId, chatType, text }) {
      const link = [...tap.links].find(({ user }) => user === accountId);
      await ada.say(chatType === "direct" ? (link?.nick ?? "") : ROOM, text);
      said += 1;
      return `said-${said}`;
    },
    packets: (shape) => proxy.shape(shape),
    drop: () => tap.cut(),
    connections: () => tap.links.size,
    async close() {
      await proxy.close();
      await tap.close();
      await ada.close();
      await server.stop();
    },
  };
}
