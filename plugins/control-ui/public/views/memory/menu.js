import { useRef } from "preact/hooks";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { spaceAtEnd } from "../../core/look.js";
import { indexMemory, memoryOf, resetMemory } from "../../core/memory.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Check, Reset, Trash } from "../../ui/icons.js";

/** Menu of an index; the notes themselves are never changed. @param {{ agentId: string }} props */
export function IndexMenu({ agentId }) {
  const menu = useRef(/** @type {HTMLElement | null} */ (null));
  const blocked = noAdminReason.value;
  /** @param {Event} event */
  const place = (event) => {
    const box = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    const { style } = /** @type {HTMLElement} */ (menu.current);
    style.top = `${box.bottom + 4}px`;
    style.insetInlineEnd = `${Math.max(8, spaceAtEnd(box))}px`;
  };
  /** @param {any} Icon @param {string} word @param {() => unknown} act @param {boolean} [isDanger] */
  const entry = (Icon, word, act, isDanger = false) => html`<button type="button" role="menuitem" class=${isDanger ? "danger" : ""}
    aria-disabled=${blocked ? "true" : undefined} title=${blocked} onClick=${() => {
      if (blocked) return;
      menu.current?.hidePopover();
      act();
    }}><${Icon} />${word}</button>`;
  return html`
    <${Button} popovertarget="memory-menu" aria-haspopup="menu" onClick=${place}>${texts.reindex}<span aria-hidden="true">▾</span><//>
    <div ref=${menu} id="memory-menu" popover class="menu" role="menu" aria-label=${texts.reindex}>
      ${entry(Check, texts.bringUpDate, () => run(agentId, false))}
      ${entry(Reset, texts.rebuildAllNotes, () => run(agentId, true))}
      ${entry(Trash, texts.resetIndex, () => reset(agentId), true)}
    </div>
  `;
}

/** @param {string} agentId @param {boolean} force */
async function run(agentId, force) {
  announce(force ? texts.rebuildingIndex : texts.lookingChanges);
  try {
    await indexMemory(agentId, { force });
    announce(texts.indexUpDate);
  } catch (error) {
    announce(texts.notIndexed(/** @type {Error} */ (error).message));
  }
}

/** @param {string} agentId */
function reset(agentId) {
  const { files = 0, chunks = 0 } = memoryOf(agentId).status ?? {};
  ask({
    title: texts.resetMemoryIndex({ agentId, chunks: plural(chunks, texts.passages), files: plural(files, texts.files) }),
    text: texts.notesStaySearches,
    action: texts.reset,
    isDanger: true,
    field: { label: texts.typeContinue(agentId), value: "", maxLength: 128 },
    run: async (value) => {
      if (value.trim() !== agentId) throw new Error(texts.notNothingReset(agentId));
      const removed = await resetMemory(agentId);
      announce(removed ? texts.indexReset : texts.thereNoIndex);
    },
  });
}
