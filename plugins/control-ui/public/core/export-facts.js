import { texts } from "../texts/chat-more.js";
import { isFromPerson, textOf } from "./turns.js";

/**
 * A conversation as a file. Pure.
 *
 * @typedef {import("./turns.js").Message} Message
 * @typedef {import("./turns.js").Block} Block
 * @typedef {{ key: string, title: string, sessionId: string | undefined, at: number, isWhole: boolean }} About
 */

/** @param {Pick<About, "title" | "at">} about @param {string} ending */
export function fileNameOf({ title, at }, ending) {
  const name = title
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, 60)
    .replace(/^-|-$/g, "");
  return `${name || "conversation"} ${new Date(at).toISOString().slice(0, 10)}.${ending}`;
}

/** Messages as the gateway has them. @param {About} about @param {readonly Message[]} messages */
export function asJson({ key, title, sessionId, at, isWhole }, messages) {
  const session = { key, title, ...(sessionId === undefined ? {} : { sessionId }) };
  return `${JSON.stringify({ kind: "svc-conversation", version: 1, session, exportedAt: new Date(at).toISOString(), isWhole, messages }, null, 2)}\n`;
}

/** Text for people: a heading for each message, calls of tools with their results. @param {About} about @param {readonly Message[]} messages */
export function asMarkdown({ key, title, at, isWhole }, messages) {
  const head = [
    `# ${oneLine(title)}`,
    texts.sessionMessagesExported({
      key,
      messages: messages.length,
      toISOString: new Date(at).toISOString(),
      what: isWhole ? "" : texts.olderMessagesLeft,
    }),
  ];
  return `${[...head, ...messages.flatMap(sectionsOf)].join("\n\n")}\n`;
}

/** @param {Message} message @returns {string[]} */
function sectionsOf(message) {
  const when = new Date(message.timestamp).toISOString();
  if (message.role === "toolResult") {
    return [
      texts.result({ toolName: oneLine(message.toolName ?? texts.tool), more: message.isError ? texts.error : "", when }),
      fenced(textOf(message.content)),
    ];
  }
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  return [`## ${authorOf(message)}, ${when}`, ...blocks.flatMap(partOf), ...(message.aborted ? [texts.stopped] : [])];
}

/** @param {Message} message */
function authorOf(message) {
  const { sender, model, provider, __svc } = message;
  if (message.role === "user" && !isFromPerson(message)) return __svc?.kind === "heartbeat" ? texts.heartbeat : texts.event;
  if (message.role === "user")
    return oneLine(sender ? `${sender.name ?? sender.id}${sender.channel ? texts.onChannel(sender.channel) : ""}` : texts.question);
  return model ? texts.answer(oneLine(provider && provider !== model ? `${provider}/${model}` : model)) : texts.note;
}

/** @param {Block} block @returns {string[]} */
function partOf({ type, text = "", name, arguments: args, mimeType, fileName, redacted }) {
  if (type === "text") return text === "" ? [] : [text];
  if (type === "reasoning") return [quoted(text || (redacted ? texts.sealedVendor : ""))];
  if (type === "toolCall") return [texts.callHeading(oneLine(name ?? texts.tool)), fenced(JSON.stringify(args ?? {}, null, 2), "json")];
  return [`*(${type === "image" ? texts.pictureName : texts.fileName} ${oneLine(fileName ?? mimeType ?? "")})*`];
}

/** @param {string} text */
function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

/** @param {string} text */
function quoted(text) {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/** A fence is longer than any within. @param {string} text @param {string} [language] */
function fenced(text, language = "") {
  let longest = 2;
  for (const [ticks] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, ticks.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
