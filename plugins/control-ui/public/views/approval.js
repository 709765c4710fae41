import { useState } from "preact/hooks";
import { answerApproval, answerErrors, factsOf } from "../core/approvals.js";
import { html } from "../core/html.js";
import { approvals, noApprovalReason, now } from "../core/store.js";
import { texts } from "../texts/approval.js";
import { announce } from "../ui/announce.js";
import { Button } from "../ui/button.js";

/** Requests for approval, all of them or some. @param {{ list?: import("../core/approval-facts.js").Approval[], [attribute: string]: unknown }} props */
export default function Approvals({ list = approvals.value, ...rest }) {
  return html`<ul ...${rest}>${list.map((approval) => html`<${Card} key=${approval.id} approval=${approval} />`)}</ul>`;
}

/** Card of one request, answered in place. @param {{ approval: import("../core/approval-facts.js").Approval }} props */
function Card({ approval }) {
  const { title, command, description, details, expires, canAlways } = factsOf(approval, now.value);
  const [isSent, setSent] = useState(false);
  const error = answerErrors.value[approval.id];
  const blocked = noApprovalReason.value ?? (isSent ? texts.answerWay : undefined);
  /** @param {"allow-once" | "allow-always" | "deny"} decision */
  const answer = async (decision) => {
    setSent(true);
    const warning = await answerApproval(approval, decision);
    if (warning) announce(texts.warning(warning));
    setSent(false);
  };
  return html`<li class="part approval">
    <div class="line"><i class="dot warn"></i><strong class="what-asked">${title}</strong><span class="muted what">${expires}</span></div>
    ${command && html`<pre class="asked" tabindex="0">${command}</pre>`}
    ${description && html`<p class="reason">${description}</p>`}
    ${details && html`<p class="muted small reason">${details}</p>`}
    ${error && html`<p class="reason" role="alert">${texts.notAnswered(error)}</p>`}
    <div class="answers">
      <${Button} kind="primary" blocked=${blocked} onClick=${() => answer("allow-once")}>${texts.allowOnce}<//>
      ${canAlways && html`<${Button} blocked=${blocked} onClick=${() => answer("allow-always")}>${texts.alwaysAllow}<//>`}
      <${Button} kind="danger" blocked=${blocked} onClick=${() => answer("deny")}>${texts.deny}<//>
    </div>
  </li>`;
}
