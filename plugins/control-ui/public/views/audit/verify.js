import { useState } from "preact/hooks";
import { verify } from "../../core/audit.js";
import { verdictWords } from "../../core/audit-facts.js";
import { html } from "../../core/html.js";
import { isOnline } from "../../core/store.js";
import { texts } from "../../texts/audit.js";
import { Button, CopyButton } from "../../ui/button.js";

/** Checks the chain of hashes, and offers its newest place for safe keeping elsewhere. */
export function Verify() {
  const [state, setState] = useState(
    /** @type {{ isBusy?: boolean, error?: string, verdict?: import("../../core/audit-facts.js").Verdict }} */ ({}),
  );
  const { isBusy, error, verdict } = state;
  const check = async () => {
    if (isBusy) return;
    setState({ isBusy: true });
    try {
      setState({ verdict: await verify() });
    } catch (failure) {
      setState({ error: /** @type {Error} */ (failure).message });
    }
  };
  return html`<div class="verify">
    <${Button} blocked=${isOnline.value ? undefined : texts.notConnectedGateway} onClick=${check}>${isBusy ? texts.checking : texts.checkChain}<//>
    <p class=${`small ${verdict?.ok === false || error ? "reason bad" : "muted"}`} role="status">${error ?? (verdict ? verdictWords(verdict) : "")}</p>
    ${verdict?.ok && html`<${CopyButton} text=${`${verdict.head.seq}:${verdict.head.hash}`} label=${texts.copyNewestPlace} />`}
  </div>`;
}
