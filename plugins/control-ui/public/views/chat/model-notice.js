import { html } from "../../core/html.js";
import { tryWords } from "../../core/parts.js";
import { now } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";
import { Warn } from "../../ui/icons.js";

/**
 * Says above the composer that the model of this conversation rests or cannot answer, why, for how long, and what answers meanwhile.
 * @param {{ trouble: NonNullable<ReturnType<typeof import("../../core/parts.js").modelTrouble>> }} props
 */
export default function ModelNotice({ trouble }) {
  const { name, word, reason, until, instead } = trouble;
  return html`<div class="notice warn small" role="status">
    <${Warn} /><p><strong>${name}</strong> ${word}${reason === undefined ? "." : `: ${reason.replace(/\.$/, "")}.`}
      ${instead === undefined ? null : html` ${texts.answersMeanwhile(instead)}`}
${" "}<span aria-hidden="true">${tryWords(until, now.value)}</span> <a href="#/models">${texts.models}</a></p>
  </div>`;
}
