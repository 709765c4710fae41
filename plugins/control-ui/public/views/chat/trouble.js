import { retry, send } from "../../core/delivery.js";
import { html } from "../../core/html.js";
import { dropOutgoing, heldFiles } from "../../core/outbox.js";
import { outcomeWords, queueWords } from "../../core/outcome-facts.js";
import { outcomeOf } from "../../core/outcomes.js";
import { formatRoute } from "../../core/router.js";
import { sessionRow } from "../../core/sessions.js";
import { isOnline, readOnlyReason } from "../../core/store.js";
import { lacksReason } from "../../core/turns.js";
import { texts } from "../../texts/chat-more.js";
import { Button } from "../../ui/button.js";
import { fillComposer } from "./composer.js";
import { followSent } from "./follow.js";

/** @typedef {import("../../core/chat.js").Chat} Chat */
/** @typedef {import("../../core/turns.js").UserItem} UserItem */

/** Shows what went wrong, by its part of a turn. @param {{ part: "unsent" | "ending" | "note", [prop: string]: any }} props */
export default function Trouble({ part, ...props }) {
  const View = { unsent: Unsent, ending: Ending, note: Note }[part];
  return html`<${View} ...${props} />`;
}

/** @param {{ item: UserItem }} props */
function Unsent({ item }) {
  const files = heldFiles(item.id);
  const areLost = item.parts !== undefined && !files;
  const edit = () => {
    dropOutgoing(item.id);
    fillComposer(item.text, files);
  };
  return html`<div class="unsent" role="alert">
    <p class="small">${texts.notSent(item.error ?? "")}</p>
    <div class="actions">
      <${Button} kind="slim" blocked=${readOnlyReason.value ?? (areLost ? texts.filesNotHere : undefined)} onClick=${() => retry(item.id)}>${texts.retry}<//>
      <${Button} kind="slim" onClick=${edit}>${texts.edit}<//>
    </div>
  </div>`;
}

/** Says of a stored question without an answer that it waits, or why there is none. @param {{ turn: import("../../core/turns.js").Turn, chat: Chat, isBare: boolean }} props `isBare`: nothing came of it */
function Ending({ turn, chat, isBare }) {
  const row = sessionRow(chat.key);
  const question = turn.items.find((item) => item.kind === "user");
  const place = row?.activeRunIds?.indexOf(turn.key) ?? -1;
  if (isBare && (question?.state === "sent" || place >= 0)) {
    return html`<p class="working muted small"><i class="dot busy"></i>${queueWords(place)}</p>`;
  }
  return place < 0 && lacksReason(turn) ? html`<${Reason} turn=${turn} chat=${chat} isBare=${isBare} />` : null;
}

/** @param {{ turn: import("../../core/turns.js").Turn, chat: Chat, isBare: boolean }} props */
function Reason({ turn, chat, isBare }) {
  const outcome = isOnline.value ? outcomeOf(turn.key).value : undefined;
  const words = outcome && outcomeWords(outcome);
  const question = turn.items.find((item) => item.kind === "user");
  // Runs that ended well and showed something need no word.
  if (!words || !question || (!isBare && words.level === "info")) return null;
  return html`<div class=${`note ${words.level}`}>
    <p>${words.text}</p>
    ${
      words.level === "bad" &&
      html`<${AskAgain} question=${question.text} parts=${question.parts} chat=${chat} />
      <a class="small" href=${formatRoute("explain", turn.key)}>${texts.didUntilThen}</a>`
    }
  </div>`;
}

/** @param {{ item: import("../../core/turns.js").NoteItem, turn: import("../../core/turns.js").Turn, chat: Chat }} props */
function Note({ item, turn, chat }) {
  const question = turn.items.find(({ kind }) => kind === "user");
  const { text = item.retry, parts: files } = question?.kind === "user" ? question : {};
  return html`<div class=${`note ${item.level}`} role=${item.level === "bad" ? "alert" : undefined}>
    <p>${item.text}</p>
    ${item.retry && html`<${AskAgain} question=${text ?? ""} parts=${files} chat=${chat} />`}
  </div>`;
}

/** A new run, so a new key: the old one would only repeat its outcome. @param {{ question: string, parts?: UserItem["parts"], chat: Chat }} props */
function AskAgain({ question, parts = [], chat }) {
  const files = filesOf(parts);
  const again = () => {
    send(chat.key, question, files);
    followSent();
  };
  const isWhole = files.length === parts.length;
  return html`<div class="actions">
    <${Button} kind="slim" blocked=${readOnlyReason.value ?? (isWhole ? undefined : texts.filesTooLarge)} onClick=${again}>${texts.askAgain}<//>
    <${Button} kind="slim" onClick=${() => fillComposer(question, files)}>${texts.edit}<//>
  </div>`;
}

/** Files of a stored question, as far as their bytes are here. @param {NonNullable<UserItem["parts"]>} parts */
export function filesOf(parts) {
  return parts.flatMap((part) => (part.content ? [{ ...part, size: sizeOf(part) }] : []));
}

/** @param {import("../../core/turns.js").Part} part */
function sizeOf({ kind, content = "" }) {
  return kind === "text" ? new Blob([content]).size : Math.floor((content.length * 3) / 4);
}
