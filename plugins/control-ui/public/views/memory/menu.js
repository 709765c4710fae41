import { useRef } from "preact/hooks";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { indexMemory, memoryOf, resetMemory } from "../../core/memory.js";
import { noAdminReason } from "../../core/store.js";
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
    style.right = `${Math.max(8, innerWidth - box.right)}px`;
  };
  /** @param {any} Icon @param {string} word @param {() => unknown} act @param {boolean} [isDanger] */
  const entry = (Icon, word, act, isDanger = false) => html`<button type="button" role="menuitem" class=${isDanger ? "danger" : ""}
    aria-disabled=${blocked ? "true" : undefined} title=${blocked} onClick=${() => {
      if (blocked) return;
      menu.current?.hidePopover();
      act();
    }}><${Icon} />${word}</button>`;
  return html`
    <${Button} popovertarget="memory-menu" aria-haspopup="menu" onClick=${place}>Reindex<span aria-hidden="true">▾</span><//>
    <div ref=${menu} id="memory-menu" popover class="menu" role="menu" aria-label="Reindex">
      ${entry(Check, "Bring up to date", () => run(agentId, false))}
      ${entry(Reset, "Rebuild from all notes", () => run(agentId, true))}
      ${entry(Trash, "Reset the index", () => reset(agentId), true)}
    </div>
  `;
}

/** @param {string} agentId @param {boolean} force */
async function run(agentId, force) {
  announce(force ? "Rebuilding the index" : "Looking for changes");
  try {
    await indexMemory(agentId, { force });
    announce("The index is up to date");
  } catch (error) {
    announce(`Not indexed: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {string} agentId */
function reset(agentId) {
  const { files = 0, chunks = 0 } = memoryOf(agentId).status ?? {};
  ask({
    title: `Reset the memory index of “${agentId}”, ${plural(chunks, "passage")} of ${plural(files, "file")}?`,
    text: "The notes stay. Searches find nothing until the index is rebuilt, which may cost calls to the embedding provider.",
    action: "Reset",
    isDanger: true,
    field: { label: `Type ${agentId} to continue`, value: "", maxLength: 128 },
    run: async (value) => {
      if (value.trim() !== agentId) throw new Error(`That is not “${agentId}”. Nothing was reset.`);
      const removed = await resetMemory(agentId);
      announce(removed ? "The index was reset" : "There was no index");
    },
  });
}
