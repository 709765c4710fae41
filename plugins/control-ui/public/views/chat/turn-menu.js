import { send } from "../../core/delivery.js";
import { newId } from "../../core/env.js";
import { chatAddress, formatRoute } from "../../core/router.js";
import { readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";
import { announce } from "../../ui/announce.js";
import { Copy, Info, Pencil, Reset } from "../../ui/icons.js";
import { openMenu } from "../../ui/menu.js";
import { fillComposer } from "./composer.js";
import { followSent } from "./follow.js";
import { filesOf } from "./trouble.js";

/** Opens the menu of an answer: all that can be done with it but copying. @param {HTMLElement} button @param {{ turn: import("../../core/turns.js").Turn, chat: import("../../core/chat.js").Chat }} about */
export function openTurnMenu(button, { turn, chat }) {
  const question = turn.items.find((item) => item.kind === "user");
  const parts = question?.parts ?? [];
  const files = filesOf(parts);
  const isWhole = files.length === parts.length;
  const edit = () => {
    fillComposer(question?.text ?? "", files, placeOf(turn, chat));
    announce(isWhole ? texts.questionFieldYou : texts.questionFieldFiles);
  };
  const again = () => {
    send(chat.key, question?.text ?? "", files);
    followSent();
  };
  const lost = isWhole ? undefined : texts.filesTooLargeKept;
  openMenu(button, texts.moreAboutAnswer, [
    ...(turn.key.startsWith("m:")
      ? []
      : [{ word: texts.whyDidSay, icon: Info, href: formatRoute("explain", turn.key, { m: messageOf(turn) }) }]),
    ...(question
      ? [
          { word: texts.editAskAgain, icon: Pencil, run: edit },
          { word: texts.askAgain, icon: Reset, blocked: readOnlyReason.value ?? lost, run: again },
        ]
      : []),
    { word: texts.copyAddressAnswer, icon: Copy, run: () => copyAddress(chat.key, messageOf(turn)) },
  ]);
}

/** A question that is not stored yet has no place that a branch could begin at. @param {import("../../core/turns.js").Turn} turn @param {import("../../core/chat.js").Chat} chat */
function placeOf(turn, { sessionId }) {
  return messageOf(turn) === undefined || sessionId === undefined ? undefined : { seq: turn.seq, sessionId, id: newId() };
}

/** Number of the first message of a turn that is stored. @param {import("../../core/turns.js").Turn} turn */
function messageOf({ seq }) {
  return seq > 0 && seq < Number.MAX_SAFE_INTEGER ? String(seq) : undefined;
}

/** @param {string} key @param {string | undefined} message */
async function copyAddress(key, message) {
  const address = new URL(chatAddress(key, message), location.href).href;
  const isCopied = await navigator.clipboard?.writeText(address).then(
    () => true,
    () => false,
  );
  announce(isCopied ? texts.addressClipboard : address);
}
