import type { Element } from "@xmpp/client";
import { type ChannelPeer, type PeerAction, startPacketProxy } from "svc/sdk/testing";
import type { Prosody } from "./prosody.ts";
import { startXmppTap } from "./xmpp-tap.ts";
import { connectXmppUser } from "./xmpp-user.ts";

/** Passwords of every account of the peer: the right one, and another. */
export const PEER_PASSWORDS = { good: "pw-6b1f0c9d4e", wrong: "pw-wrong-0000" };

/**
 * The other side of an XMPP account: a prosody that several peers share, a room, and Ada with a client of her own.
 * @param bot account of the gateway; it, `second` and `ada` are registered
 */
export async function startXmppPeer(server: Prosody, bot: string): Promise<ChannelPeer> {
  const room = `kitchen-${bot}@rooms.localhost`;
  const seen: PeerAction[] = [];
  const tap = await startXmppTap({ serverPort: server.port });
  const proxy = await startPacketProxy(tap.port);
  const show = (stanza: Element) => {
    if (!stanza.is("message") || stanza.attrs.type === "error") return;
    const [from = "", nick] = (stanza.attrs.from ?? "").split("/");
    if (from === room && nick === "ada") return;
    const to = from === room ? room : ada.jid;
    const text = stanza.getChildText("body");
    const replaced = stanza.getChild("replace", "urn:xmpp:message-correct:0")?.attrs.id;
    const messageId = stanza.attrs.id ?? "";
    if (text !== null && replaced !== undefined) seen.push({ kind: "edit", messageId: replaced, text });
    else if (text !== null) seen.push({ kind: "message", to, text, messageId });
    else if (stanza.getChild("composing")) seen.push({ kind: "typing", to, on: true });
    else if (stanza.getChild("paused")) seen.push({ kind: "typing", to, on: false });
  };
  const ada = await connectXmppUser({ port: server.port, name: "ada", password: PEER_PASSWORDS.good, onStanza: (stanza) => show(stanza) });
  await ada.join(room);
  return {
    config({ accounts, credentials }) {
      const own = {
        jid: `${bot}@localhost`,
        password: PEER_PASSWORDS[credentials],
        host: "127.0.0.1",
        port: proxy.port,
        tls: { enabled: false },
      };
      const more = accounts === 2 ? { accounts: { second: { jid: "second@localhost", nick: "second" } } } : {};
      return { ...own, rooms: [room], ...more };
    },
    secrets: Object.values(PEER_PASSWORDS),
    direct: ada.jid,
    group: room,
    seen,
    async say({ accountId, chatType, text }) {
      if (chatType !== "direct") return ada.say(room, text, "groupchat");
      return ada.say(`${accountId === "default" ? bot : "second"}@localhost`, text);
    },
    acknowledged: (id) => tap.isAcknowledged(id),
    packets: (shape) => proxy.shape(shape),
    drop: () => tap.cut(),
    connections: () => tap.links.size,
    async close() {
      await proxy.close();
      await tap.close();
      await ada.close();
    },
  };
}
