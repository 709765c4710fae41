import { useEffect, useRef } from "preact/hooks";
import { html } from "../../core/html.js";
import { chatAddress, go } from "../../core/router.js";
import { texts } from "../../texts/chat-more.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Back, Open } from "../../ui/icons.js";

/** The branch that somebody has just gone to, and by which button: the focus goes on there. @type {{ key: string, step: number } | undefined} */
let gone;

/** Shows which branch of a question this is, and leads to the others. @param {{ point: import("../../core/branch-facts.js").BranchPoint }} props */
export default function Branching({ point: { current, branches } }) {
  const group = useRef(/** @type {HTMLElement | null} */ (null));
  const place = { at: current + 1, of: branches.length };
  useEffect(() => {
    if (gone === undefined || gone.key !== branches[current]?.key) return;
    const { step } = gone;
    gone = undefined;
    announce(texts.branchOf(place));
    // The field takes the focus when a conversation is opened; whoever goes from branch to branch stays at the buttons.
    setTimeout(() => group.current?.querySelectorAll("button")[step < 0 ? 0 : 1]?.focus());
  }, [branches, current]);
  /** @param {number} step */
  const to = (step) => {
    const next = branches[current + step];
    if (!next) return;
    gone = { key: next.key, step };
    go(chatAddress(next.key, String(next.seq)));
  };
  return html`<div ref=${group} class="branching muted small" role="group" aria-label=${texts.branchOf(place)}>
    <${Button} kind="quiet slim" icon=${Back} label=${texts.previousBranch} blocked=${current === 0 ? texts.firstBranch : undefined} onClick=${() => to(-1)} />
    <span aria-hidden="true">${place.at} / ${place.of}</span>
    <${Button} kind="quiet slim" icon=${Open} label=${texts.nextBranch} blocked=${place.at === place.of ? texts.lastBranch : undefined} onClick=${() => to(1)} />
  </div>`;
}
