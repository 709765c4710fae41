import { approvals } from "../../core/approvals.js";
import { html } from "../../core/html.js";
import { ApprovalCard } from "../overview.js";

/** Requests for approval of this conversation, behind all that was said. @param {{ sessionKey: string }} props */
export default function Asked({ sessionKey }) {
  const own = approvals.value.filter(({ request }) => request.sessionKey === sessionKey);
  return html`<ul class="panel parts asked-here" aria-label="Waiting for your approval">${own.map(
    (approval) => html`<${ApprovalCard} key=${approval.id} approval=${approval} />`,
  )}</ul>`;
}
