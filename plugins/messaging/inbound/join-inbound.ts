import { MAX_TEXT_CHARS } from "./event.ts";
import { newestLines } from "./group-history.ts";
import type { Inbound } from "./stored.ts";

/** Attachments of one message in all. */
const MAX_ATTACHMENTS = 10;

/** Two messages of one sender as one, in their order; undefined when they are too long for one, or the second is a command. Pure. */
export function joinInbound(first: Inbound, second: Inbound): Inbound | undefined {
  if (second.command) return undefined;
  const text = [first.text, second.text].filter((part) => part !== "").join("\n");
  const attachments = [...first.attachments, ...second.attachments];
  if (text.length > MAX_TEXT_CHARS || attachments.length > MAX_ATTACHMENTS) return undefined;
  const replyTo = first.replyTo ?? second.replyTo;
  return {
    ...first,
    ...second,
    text,
    attachments,
    files: [...first.files, ...second.files],
    setsRoute: first.setsRoute || second.setsRoute,
    ...(second.room ? { isMentioned: first.isMentioned === true || second.isMentioned === true } : {}),
    history: newestLines([...first.history, ...second.history]),
    ...(replyTo ? { replyTo } : {}),
  };
}
