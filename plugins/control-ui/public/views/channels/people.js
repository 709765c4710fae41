import { useState } from "preact/hooks";
import { senderWords } from "../../core/channel-facts.js";
import { decide, revoke } from "../../core/channels.js";
import { age, span } from "../../core/format.js";
import { html } from "../../core/html.js";
import { noPairingReason, now } from "../../core/store.js";
import { texts } from "../../texts/channels.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Notice } from "../../ui/states.js";

/** @typedef {import("../../core/channel-facts.js").Request} Request */
/** @typedef {import("../../core/channel-facts.js").Paired} Paired */

/** People who wait to be let in, first of all, and those who were. @param {{ known: { requests: Request[], paired: Paired[] } | undefined, failure: unknown }} props */
export function People({ known, failure }) {
  if (failure) {
    const { message = "" } = /** @type {any} */ (failure);
    return /missing scope|FORBIDDEN/.test(message)
      ? html`<${Notice}>${texts.signNotAllowed}<//>`
      : html`<${Notice} level="warn">${texts.whoWaitsLet(message)}<//>`;
  }
  if (!known || known.requests.length + known.paired.length === 0) return null;
  const { requests, paired } = known;
  return html`<section class="panel" aria-labelledby="people">
    <header><h2 id="people">${texts.people}</h2><span class="muted small aside">${texts.theyMayWrite}</span></header>
    <ul class="rows">
      ${requests.map((one) => html`<${Waiting} key=${`${one.channel} ${one.accountId} ${one.code}`} one=${one} />`)}
      ${paired.map((one) => html`<${Admitted} key=${`${one.channel} ${one.accountId} ${one.senderId}`} one=${one} />`)}
    </ul>
  </section>`;
}

/** @param {{ one: Request }} props */
function Waiting({ one }) {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState("");
  const who = senderWords(one);
  /** @param {"approve" | "reject"} word */
  const answer = async (word) => {
    if (busy) return;
    setBusy(word);
    setError("");
    try {
      await decide(word, one);
      announce(word === "approve" ? texts.mayWriteNow(who) : texts.rejected(who));
    } catch (failure) {
      setError(/** @type {Error} */ (failure).message);
      setBusy("");
    }
  };
  return html`<li class="row-line person">
    <span class="grow">
      <span class="top-line"><span class="cut title" dir="auto">${who}</span><span class="badge warn"><i class="dot warn"></i>${texts.waits}</span></span>
      <span class="facts muted small"><span class="wrap">${one.channel}, ${one.accountId}</span><span>${texts.code} <code>${one.code}</code></span>
        <span>${age(one.requestedAt, now.value)}</span><span>${texts.expires(span(one.expiresAt - now.value))}</span></span>
      ${error && html`<span class="reason small wrap" role="alert">${error}</span>`}
    </span>
    <span class="actions">
      <${Button} kind="slim primary" label=${texts.approve(who)} blocked=${noPairingReason.value} onClick=${() => answer("approve")}>${busy === "approve" ? texts.approving : texts.approveLabel}<//>
      <${Button} kind="slim" label=${texts.reject(who)} blocked=${noPairingReason.value} onClick=${() => answer("reject")}>${busy === "reject" ? texts.rejecting : texts.rejectLabel}<//>
    </span>
  </li>`;
}

/** @param {{ one: Paired }} props */
function Admitted({ one }) {
  const who = senderWords(one);
  const take = () =>
    ask({
      title: texts.takeBackApproval(who),
      text: texts.theyStrangerAgain({ channel: one.channel, accountId: one.accountId }),
      action: texts.takeBack,
      isDanger: true,
      run: async () => {
        await revoke(one);
        announce(texts.mayNotWrite(who));
      },
    });
  return html`<li class="row-line person">
    <span class="grow">
      <span class="cut title" dir="auto">${who}</span>
      <span class="facts muted small"><span class="wrap">${one.channel}, ${one.accountId}</span><span>${texts.approved(age(one.approvedAt, now.value))}</span></span>
    </span>
    <span class="actions">
      <${Button} kind="slim quiet" label=${texts.takeBackApprovalOf(who)} blocked=${noPairingReason.value} onClick=${take}>${texts.takeBack}<//>
    </span>
  </li>`;
}
