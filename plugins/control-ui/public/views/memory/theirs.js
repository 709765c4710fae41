import { useMemo } from "preact/hooks";
import { html } from "../../core/html.js";
import { differingLines, inField } from "../../core/note-facts.js";
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
      <p role="alert">${
        isNew
          ? "Not saved: there is a note of this name already. Your text is still here; another name keeps both."
          : note.missing
            ? "Not saved: somebody has deleted the note since you opened it. Your text is still here."
            : "Not saved: somebody has changed the note since you opened it. Your text is still here."
      }</p>
      <div class="actions"><${Button} kind="slim" onClick=${onOverwrite}>Save mine over theirs<//>
        <${Button} kind="slim danger" onClick=${onTake}>Take theirs, drop mine<//></div>
    <//>
    ${
      !note.missing &&
      html`<div class="theirs" tabindex="0" role="region" aria-label="Their text">
        <p class="muted small">Their text; lines that differ from yours are marked.</p>
        <ol class="lines">${shown.map((line, i) => {
          const number = first + i + 1;
          const isMarked = number >= from && number <= to;
          return html`<li key=${number} class=${isMarked ? "marked" : ""}><span class="number" aria-hidden="true">${number}</span>${
            isMarked ? html`<mark>${line || " "}</mark>` : html`<span>${line || " "}</span>`
          }</li>`;
        })}</ol>
        ${left > 0 && html`<p class="muted small">${left} more lines.</p>`}
      </div>`
    }`;
}
