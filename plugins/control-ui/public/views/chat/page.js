import { useEffect } from "preact/hooks";
import { openChat } from "../../core/chat.js";
import { html } from "../../core/html.js";
import { isWide } from "../../core/look.js";
import { modelTrouble } from "../../core/parts.js";
import { chatAddress, replace, route } from "../../core/router.js";
import { lastChatKey, sessionRow, titleOfKey } from "../../core/sessions.js";
import { defaultAgentId, mainSessionKey, modelStatus } from "../../core/store.js";
import { texts } from "../../texts/chat.js";
import { Later } from "../../ui/later.js";
import { ChatBar } from "./bar.js";
import { Composer } from "./composer.js";
import { SessionList } from "./list.js";
import { Transcript } from "./transcript.js";

const modelNotice = () => import("./model-notice.js");
const file = async () => ({ default: (await import("./file.js")).FilePane });

/**
 * One chat, beside it the list of sessions or the file a source leads to. On smaller screens the file is a page of its own.
 */
export default function ChatPage() {
  const { view, rest, params } = route.value;
  const isFile = view === "memory";
  useEffect(() => {
    if (view === "chat" && rest === "") replace(chatAddress(mainSessionKey.value));
  }, [view, rest]);
  const key = isFile ? lastChatKey() : rest || mainSessionKey.value;
  // A file opened from its address alone has no chat beside it.
  const showsChat = key !== undefined && (!isFile || isWide.value);
  return html`<div class=${`chat ${isFile ? "with-file" : ""}`}>
    <h1 class="sr-only">${key === undefined ? texts.memory : titleOfKey(key)}</h1>
    ${isWide.value && !isFile && html`<${SessionList} current=${key} />`}
    ${showsChat && html`<${Conversation} key=${key} sessionKey=${key} message=${isFile ? undefined : params.m} />`}
    ${isFile && html`<${Later} load=${file} />`}
  </div>`;
}

/** @param {{ sessionKey: string, message: string | undefined }} props */
function Conversation({ sessionKey, message }) {
  const chat = openChat(sessionKey);
  useEffect(() => {
    openChat(sessionKey);
  }, [sessionKey]);
  const agentId = /^agent:([^:]+):/.exec(sessionKey)?.[1];
  const trouble = modelTrouble(modelStatus.value, { agentId, chosen: sessionRow(sessionKey)?.model });
  return html`<section class="conversation" aria-label=${texts.conversation}>
    <${Transcript} chat=${chat} message=${message} />
    ${trouble && !trouble.isWithout && html`<${Later} load=${modelNotice} trouble=${trouble} />`}
    <${ChatBar} sessionKey=${sessionKey} agentId=${agentId ?? defaultAgentId.value} />
    <${Composer} chat=${chat} />
  </section>`;
}
