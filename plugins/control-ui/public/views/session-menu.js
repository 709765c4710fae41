import { useRef, useState } from "preact/hooks";
import { plural } from "../core/format.js";
import { html } from "../core/html.js";
import { go, route } from "../core/router.js";
import { countMessages, deleteSession, patchSession, resetSession, titleOf } from "../core/sessions.js";
import { mainSessionKey, noAdminReason, readOnlyReason } from "../core/store.js";
import { announce } from "../ui/announce.js";
import { Button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { Archive, Pencil, Pin, Reset, Trash } from "../ui/icons.js";

/** @typedef {import("../core/sessions.js").SessionRow} SessionRow */

/**
 * Menu of one session.
 * @param {{ row: SessionRow, id: string, icon: any }} props
 */
export function SessionMenu({ row, id, icon }) {
  const menu = useRef(/** @type {HTMLElement | null} */ (null));
  // Most rows are never asked for what they can do.
  const [isUsed, setUsed] = useState(false);
  /** @param {Event} event */
  const place = (event) => {
    setUsed(true);
    putBeside(/** @type {HTMLElement} */ (menu.current), /** @type {HTMLElement} */ (event.currentTarget));
  };
  /** @param {any} IconView @param {string} word @param {() => unknown} act @param {{ blocked?: string | undefined, isDanger?: boolean }} [options] */
  const entry = (
    IconView,
    word,
    act,
    { blocked, isDanger } = {},
  ) => html`<button type="button" role="menuitem" class=${isDanger ? "danger" : ""}
    aria-disabled=${blocked ? "true" : undefined} title=${blocked} onClick=${() => {
      if (blocked) return;
      menu.current?.hidePopover();
      act();
    }}><${IconView} />${word}</button>`;
  const write = { blocked: readOnlyReason.value };
  const admin = { blocked: noAdminReason.value, isDanger: true };
  const isMain = row.key === mainSessionKey.value;
  const entries = () => html`
    ${entry(Pencil, "Rename", () => rename(row), write)}
    ${entry(Pin, row.pinned ? "Unpin" : "Pin", () => change(row, { pinned: !row.pinned }), write)}
    ${entry(Archive, row.archived ? "Take out of the archive" : "Archive", () => change(row, { archived: !row.archived }), write)}
    ${entry(Reset, "Reset", () => reset(row), admin)}
    ${isMain ? null : entry(Trash, "Delete", () => remove(row), admin)}
  `;
  return html`
    <${Button} kind="quiet" icon=${icon} label=${`Actions for ${titleOf(row)}`} popovertarget=${id} aria-haspopup="menu" onClick=${place} />
    <div ref=${menu} id=${id} popover class="menu" role="menu" aria-label=${`Actions for ${titleOf(row)}`}>
      ${isUsed && entries()}
    </div>
  `;
}

/** Below the button, inside the window. @param {HTMLElement} menu @param {HTMLElement} button */
function putBeside(menu, button) {
  const box = button.getBoundingClientRect();
  const height = 5 * 44 + 8;
  menu.style.top = `${box.bottom + height > innerHeight ? Math.max(8, box.top - height) : box.bottom + 4}px`;
  menu.style.right = `${Math.max(8, innerWidth - box.right)}px`;
}

/** @param {SessionRow} row */
function rename(row) {
  ask({
    title: "Rename session",
    action: "Rename",
    field: { label: "Name, empty for the first question", value: row.label ?? titleOf(row), maxLength: 512 },
    run: (value) => patchSession(row, { label: value.trim() === "" ? null : value.trim() }),
  });
}

/** @param {SessionRow} row @param {Record<string, unknown>} patch */
async function change(row, patch) {
  try {
    await patchSession(row, patch);
    announce(
      patch.archived === undefined ? "Saved" : patch.archived ? `Archived “${titleOf(row)}”` : `“${titleOf(row)}” is back in the list`,
    );
  } catch (error) {
    announce(`Not saved: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {SessionRow} row */
async function reset(row) {
  ask({
    title: `Reset “${titleOf(row)}”${await lossOf(row)}`,
    text: "The session continues under the same name with an empty history. This cannot be undone here.",
    action: "Reset",
    isDanger: true,
    run: () => resetSession(row),
  });
}

/** @param {SessionRow} row */
async function remove(row) {
  ask({
    title: `Delete “${titleOf(row)}”${await lossOf(row)}`,
    text: row.hasActiveRun ? "It is answering now; that will be stopped. This cannot be undone." : "This cannot be undone.",
    action: "Delete",
    isDanger: true,
    run: async () => {
      await deleteSession(row);
      if (route.value.view === "chat" && route.value.rest === row.key) go("#/sessions");
    },
  });
}

/** @param {SessionRow} row */
async function lossOf(row) {
  const messages = await countMessages(row);
  return messages === undefined ? "?" : `, ${plural(messages, "message")}?`;
}
