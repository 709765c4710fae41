import { age, plain } from "../../core/format.js";
import { html } from "../../core/html.js";
import { startNewSession } from "../../core/keys.js";
import { chatAddress } from "../../core/router.js";
import { recent, recentError, titleOf } from "../../core/sessions.js";
import { now, readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/chat.js";
import { Button } from "../../ui/button.js";
import { Plus } from "../../ui/icons.js";
import { Failure, Waiting } from "../../ui/states.js";

/** The latest sessions beside the chat. @param {{ current: string | undefined }} props */
export function SessionList({ current }) {
  const list = recent.value;
  return html`<nav class="session-list" aria-label=${texts.sessions}>
    <div class="list-head"><${Button} icon=${Plus} blocked=${readOnlyReason.value} onClick=${startNewSession}>${texts.newSession}<//></div>
    ${recentError.value ? html`<${Failure} what=${texts.sessionsCouldNot} error=${recentError.value} />` : null}
    ${!list && !recentError.value ? html`<${Waiting} rows=${5} />` : null}
    <ul>${(list ?? []).map(
      (row) => html`<li key=${row.key}>
        <a href=${chatAddress(row.key)} aria-current=${row.key === current ? "page" : undefined}>
          <span class="top-line"><span class="cut title" dir="auto">${titleOf(row)}</span>
            ${row.hasActiveRun ? html`<i class="dot busy"></i><span class="sr-only">${texts.answering}</span>` : null}
            ${row.unread && row.key !== current ? html`<i class="dot info"></i><span class="sr-only">${texts.unread}</span>` : null}
          </span>
          <span class="muted small cut">${plain(row.lastMessagePreview) || age(row.updatedAt, now.value)}</span>
        </a>
      </li>`,
    )}</ul>
  </nav>`;
}
