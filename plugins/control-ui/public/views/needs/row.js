import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { texts } from "../../texts/needs.js";
import { Button, Command } from "../../ui/button.js";

/** @typedef {import("./list.js").Need} Need */

/**
 * One thing that waits, with what can be done about it.
 * @param {{ need: Need, outcome: string | undefined, onBegin: (need: Need) => void, onSettled: (need: Need, text: string) => void,
 *   onFailed: (need: Need, reason: string) => void, onLeave: () => void }} props
 */
export function NeedRow({ need, outcome, onBegin, onSettled, onFailed, onLeave }) {
  const { id, title, code, lines, command, acts, link } = need;
  const [busy, setBusy] = useState("");
  const [failed, setFailed] = useState("");
  /** @param {import("./list.js").Act} act */
  const run = async (act) => {
    if (busy) return;
    setBusy(act.word);
    setFailed("");
    onBegin(need);
    try {
      onSettled(need, await act.run());
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      setFailed(message);
      onFailed(need, message);
    }
    setBusy("");
  };
  return html`<li class="need" data-need=${id}>
    <p class="line"><i class="dot warn"></i><strong class="wrap">${title}</strong></p>
    ${code && html`<pre class="asked" tabindex="0">${code}</pre>`}
    ${lines.map((line, i) => html`<p key=${i} class="muted small wrap">${line}</p>`)}
    ${command && html`<${Command} command=${command} />`}
    ${outcome && !failed && html`<p class="small wrap" role="status">${outcome}</p>`}
    ${failed && html`<p class="reason wrap" role="alert">${texts.nothingChanged(failed)}</p>`}
    <div class="actions">
      ${acts.map(
        (
          act,
        ) => html`<${Button} key=${act.word} kind=${`slim ${act.kind ?? ""}`} label=${`${act.word}: ${title}`} blocked=${act.blocked ?? (busy && busy !== act.word ? texts.answerWay : undefined)}
          onClick=${() => run(act)}>${busy === act.word ? texts.working : act.word}<//>`,
      )}
      ${link && html`<a class="button quiet slim" href=${link.to} onClick=${onLeave}>${link.word}</a>`}
    </div>
  </li>`;
}

/** Outcome of an answer, in the place of its question. @param {{ title: string, text: string }} props */
export function OutcomeRow({ title, text }) {
  const row = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // The button that was pressed is gone, and the focus with it.
    if (!document.activeElement?.closest(".needs-panel :is(li, a, button)")) row.current?.focus();
  }, []);
  return html`<li class="need settled" tabindex="-1" ref=${row}>
    <p class="line"><i class="dot ok"></i><span class="wrap muted">${title}</span></p>
    <p class="wrap" role="status">${text}</p>
  </li>`;
}
