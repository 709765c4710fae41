import { html } from "../../core/html.js";
import { texts } from "../../texts/chat.js";
import Approvals from "../approval.js";

/** Requests for approval: at the call that each is about, or behind all that was said. @param {{ list: import("../../core/approval-facts.js").Approval[] }} props */
export default function Asked({ list }) {
  return html`<${Approvals} list=${list} class="panel parts asked-here" aria-label=${texts.waitingYourApproval} />`;
}
