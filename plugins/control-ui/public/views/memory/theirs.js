import { useMemo } from "preact/hooks";
import { html } from "../../core/html.js";
import { differingLines, inField } from "../../core/note-facts.js";
import { texts } from "../../texts/memory.js";
import { Button } from "../../ui/button.js";
import { Notice } from "../../ui/states.js";

/** @typedef {import("../../core/note-facts.js").Note} Note */

/** Lines drawn of a note that somebody else has changed; the rest is counted. */
const MOST_LINES = 400;
/** Lines before the first one that differs. */
const LEAD = 3;

/**
 * The note as somebody else has written it meanwhile, beside what was typed here.
 * @param {{ note: Note, mine: string, isNew: boolean, onTake: () => void, onOverwrite: () => void }} props
 */
export function Theirs({ note, mine, isNew, onTake, onOverwrite }) {
  const text = inField(note.content ?? "");
  const { lines, from, to } = useMemo(() => differingLines(text, mine), [text, mine]);
  const first = Math.max(0, from - 1 - LEAD);
  const shown = lines.slice(first, first + MOST_LINES);
  const left = lines.length - first - shown.length;
  return html`<${Notice} level="warn">
      <p role="alert">${isNew ? texts.notSavedThere : note.missing ? texts.notSavedSomebody : texts.notSavedSomebodyChanged}</p>
      <div class="actions"><${Button} kind="slim" onClick=${onOverwrite}>${texts.saveMineOver}<//>
        <${Button} kind="slim danger" onClick=${onTake}>${texts.takeTheirsDrop}<//></div>
    <//>
    ${
      !note.missing &&
      html`<div class="theirs" tabindex="0" role="region" aria-label=${texts.theirText}>
        <p class="muted small">${texts.theirTextLines}</p>
        <ol class="lines">${shown.map((line, i) => {
          const number = first + i + 1;
          const isMarked = number >= from && number <= to;
          return html`<li key=${number} class=${isMarked ? "marked" : ""}><span class="number" aria-hidden="true">${number}</span>${
            isMarked ? html`<mark>${line || " "}</mark>` : html`<span>${line || " "}</span>`
          }</li>`;
        })}</ol>
        ${left > 0 && html`<p class="muted small">${texts.moreLines(left)}</p>`}
      </div>`
    }`;
}
