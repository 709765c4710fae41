import { texts } from "../texts/chat-more.js";
import { request } from "./conn.js";
import { asJson, asMarkdown, fileNameOf } from "./export-facts.js";
import { plural } from "./format.js";
import { titleOfKey } from "./sessions.js";
import { mergeMessages } from "./turns.js";

/** @typedef {import("./turns.js").Message} Message */

const PAGE = 500;
/** Messages of one export; of a longer conversation the newest. */
const MOST = 20_000;

/**
 * Reads a conversation from its end to its beginning and hands it over as a file, made in the page.
 * @param {string} key @param {"md" | "json"} kind @param {AbortSignal} signal
 * @returns {Promise<string>} what was exported, as a sentence
 */
export async function exportChat(key, kind, signal) {
  const { messages, sessionId, isWhole } = await readAll(key, signal);
  if (messages.length === 0) throw new Error(texts.thereNothingConversation);
  const about = { key, title: titleOfKey(key), sessionId, at: Date.now(), isWhole };
  const text = kind === "md" ? asMarkdown(about, messages) : asJson(about, messages);
  save(new Blob([text], { type: kind === "md" ? "text/markdown" : "application/json" }), fileNameOf(about, kind));
  return texts.exported({ messages: plural(messages.length, texts.messages), what: isWhole ? "" : texts.newestOnesConversation });
}

/** @param {string} key @param {AbortSignal} signal */
async function readAll(key, signal) {
  /** @type {Message[]} */
  let messages = [];
  /** @type {string | undefined} */
  let sessionId;
  for (let offset = 0; ; ) {
    const page = await request("chat.history", { sessionKey: key, limit: PAGE, offset, maxChars: 1_000_000 }, { signal });
    if (sessionId !== undefined && page.sessionId !== sessionId) throw new Error(texts.conversationResetWhile);
    sessionId = page.sessionId;
    // Messages that came meanwhile move the pages: what is read twice stands here once.
    messages = mergeMessages(page.messages, messages);
    const isWhole = !page.hasMore;
    if (isWhole || messages.length >= MOST || page.nextOffset === undefined || page.nextOffset <= offset)
      return { messages, sessionId, isWhole };
    offset = page.nextOffset;
  }
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
