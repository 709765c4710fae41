import { cutEnd, isRecord, type MessageRow, type MessageSender, oneLine, printableLine } from "svc/sdk";

const MAX_CHARS = 100;

/** Details in the row of a person's message: its author, and the line that models read before it. */
export function messageDetails(sender: MessageSender | undefined, context: string | undefined): Pick<MessageRow, "details"> {
  if (!sender && context === undefined) return {};
  return { details: { ...(sender ? { sender: shownSender(sender) } : {}), ...(context === undefined ? {} : { context }) } };
}

/** The author of a message as people see it. Names are a stranger's: on one line, and without characters that control a terminal or the direction of writing. */
function shownSender({ id, name, channel }: MessageSender): MessageSender {
  const shownName = name === undefined ? "" : shown(name);
  return {
    id: shown(id),
    ...(shownName === "" ? {} : { name: shownName }),
    ...(channel === undefined ? {} : { channel: shown(channel) }),
  };
}

/** The line that models read before a stored message. */
export function contextOf({ role, details }: Pick<MessageRow, "role" | "details">): string | undefined {
  const context = role === "user" && isRecord(details) ? details.context : undefined;
  return typeof context === "string" && context !== "" ? context : undefined;
}

/** The author of a stored message of a person; undefined for one of a client, and of an earlier version. */
export function senderOf({ role, details }: Pick<MessageRow, "role" | "details">): MessageSender | undefined {
  const sender = role === "user" && isRecord(details) ? details.sender : undefined;
  if (!isRecord(sender) || typeof sender.id !== "string") return undefined;
  const { id, name, channel } = sender;
  return { id, ...(typeof name === "string" ? { name } : {}), ...(typeof channel === "string" ? { channel } : {}) };
}

function shown(text: string): string {
  // Cut first: a name may have the size of a message.
  return oneLine(printableLine(oneLine(cutEnd(text, 4 * MAX_CHARS), 2 * MAX_CHARS)), MAX_CHARS);
}
