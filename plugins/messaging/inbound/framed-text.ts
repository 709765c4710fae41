import { frameExternal } from "svc/sdk";
import type { Inbound } from "./stored.ts";

type Person = { id: string; name?: string | undefined };

/**
 * The message as the agent reads it: in a frame that names who wrote it and where, after the lines of the group that came before it and the message that it answers,
 * each in a frame of its own. Names are as foreign as the text, so they stand inside a frame as well.
 */
export function framedText(inbound: Inbound): string {
  const { label, sender, room, text, attachments, history, replyTo } = inbound;
  const lines = [text, ...attachments.map((one) => `[attachment: ${one}]`)].filter((line) => line !== "");
  const message = frameExternal(lines.join("\n"), {
    source: label,
    from: shownPerson(sender),
    ...(room ? { subject: shownPerson(room) } : {}),
  });
  const before = [
    ...(history.length === 0 ? [] : [HISTORY, frameExternal(history.map(historyLine).join("\n"), { source: `${label}, earlier lines` })]),
    ...(replyTo?.text === undefined ? [] : [QUOTED, quotedFrame(label, replyTo)]),
  ];
  return before.length === 0 ? message : [...before, MESSAGE, message].join("\n");
}

/** Lines of our own between the frames. */
const HISTORY = "[Earlier in this chat, not addressed to you]";
const QUOTED = "[The message answers this one]";
const MESSAGE = "[The message]";

function quotedFrame(label: string, { text = "", sender, isBot }: NonNullable<Inbound["replyTo"]>): string {
  const from = isBot ? "you" : sender && shownPerson(sender);
  return frameExternal(text, { source: `${label}, quoted`, ...(from === undefined ? {} : { from }) });
}

/** A line begins with its speaker; what the speaker wrote on further lines is indented, so that it begins none. */
function historyLine({ sender, text }: Inbound["history"][number]): string {
  return `${shownPerson(sender)}: ${text.replace(/[\r\n\u0085\u2028\u2029\v\f]+/g, "\n    ")}`;
}

/** A name and the id that nobody else can take on. The brackets and the colon around the id are ours: a name has none. */
function shownPerson({ id, name }: Person): string {
  const shownId = id.replace(/[\s()]+/gu, "_");
  const shownName = name?.replace(/[():[\]]+/g, " ").trim() ?? "";
  return shownName === "" || shownName === id ? shownId : `${shownName} (${shownId})`;
}
