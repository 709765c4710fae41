import type { InboundEvent } from "svc/sdk";
import { formatSource, type Line } from "./line.ts";
import { type CaseMapping, senderId } from "./names.ts";
import { readText } from "./received-text.ts";

interface Context {
  /** Id for a message that its server gives none. */
  id: string;
  /** Services account of the sender. */
  account: string | undefined;
  mapping: CaseMapping;
  isRoom(name: string): boolean;
  /** Name of a room as it was joined, however a message writes it. */
  roomName(name: string): string;
  /** True for the nick of the account itself. */
  isSelf(name: string): boolean;
}

/**
 * A PRIVMSG as the host takes it. Undefined for what nobody said to the account: requests between clients, messages of servers, and those for a part of a
 * room (`@#room`), whose answer the others would read.
 */
export function toEvent(
  { tags, source, params }: Line,
  { id, account, mapping, isRoom, roomName, isSelf }: Context,
): InboundEvent | undefined {
  const [target = "", raw = ""] = params;
  const isGroup = isRoom(target);
  if (!source?.user || (!isGroup && !isSelf(target))) return undefined;
  const { text, kind } = readText(raw);
  if (kind === "ctcp" || text.trim() === "") return undefined;
  const sender = senderId(source, account, mapping);
  const at = Date.parse(tags.get("time") ?? "");
  return {
    id: tags.get("msgid") || id,
    chatType: isGroup ? "group" : "direct",
    // The sender as the server shows them: an account can be reached only on a link that knows its nick, and another may have its name as a nick.
    peer: isGroup ? { id: roomName(target), name: target } : { id: formatSource(source), name: source.nick },
    sender: { id: sender, name: source.nick, ...(tags.has("bot") ? { isBot: true } : {}) },
    text: kind === "action" ? `* ${source.nick} ${text}` : text,
    ...(Number.isNaN(at) ? {} : { providerAt: at }),
  };
}
