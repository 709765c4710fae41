import { plural } from "../core/format.js";
import { html } from "../core/html.js";
import { go, route } from "../core/router.js";
import { countMessages, deleteSession, patchSession, resetSession, titleOf } from "../core/sessions.js";
import { mainSessionKey, noAdminReason, readOnlyReason } from "../core/store.js";
import { texts } from "../texts/sessions.js";
import { announce } from "../ui/announce.js";
import { Button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { Archive, Pencil, Pin, Reset, Trash } from "../ui/icons.js";
import { openMenu } from "../ui/menu.js";

/** @typedef {import("../core/sessions.js").SessionRow} SessionRow */

/** Button with the menu of one session, which is made when somebody asks for it. @param {{ row: SessionRow, icon: any }} props */
export function SessionMenu({ row, icon }) {
  const label = texts.actions(titleOf(row));
  /** @param {any} event */
  const open = ({ currentTarget }) => openMenu(currentTarget, label, entriesOf(row));
  return html`<${Button} kind="quiet" icon=${icon} label=${label} aria-haspopup="menu" onClick=${open} />`;
}

/** @param {SessionRow} row @returns {import("../ui/menu.js").Entry[]} */
function entriesOf(row) {
  const write = { blocked: readOnlyReason.value };
  const admin = { blocked: noAdminReason.value, isDanger: true };
  return [
    { word: texts.rename, icon: Pencil, run: () => rename(row), ...write },
    { word: row.pinned ? texts.unpin : texts.pin, icon: Pin, run: () => change(row, { pinned: !row.pinned }), ...write },
    {
      word: row.archived ? texts.takeOutArchive : texts.archive,
      icon: Archive,
      run: () => change(row, { archived: !row.archived }),
      ...write,
    },
    { word: texts.reset, icon: Reset, run: () => reset(row), ...admin },
    ...(row.key === mainSessionKey.value ? [] : [{ word: texts.delete, icon: Trash, run: () => remove(row), ...admin }]),
  ];
}

/** @param {SessionRow} row */
function rename(row) {
  ask({
    title: texts.renameSession,
    action: texts.rename,
    field: { label: texts.nameEmptyFirst, value: row.label ?? titleOf(row), maxLength: 512 },
    run: (value) => patchSession(row, { label: value.trim() === "" ? null : value.trim() }),
  });
}

/** @param {SessionRow} row @param {Record<string, unknown>} patch */
async function change(row, patch) {
  try {
    await patchSession(row, patch);
    announce(patch.archived === undefined ? texts.saved : patch.archived ? texts.archived(titleOf(row)) : texts.backList(titleOf(row)));
  } catch (error) {
    announce(texts.notSaved(/** @type {Error} */ (error).message));
  }
}

/** @param {SessionRow} row */
async function reset(row) {
  ask({
    title: texts.resetQuestion({ title: titleOf(row), loss: await lossOf(row) }),
    text: texts.sessionContinuesUnder,
    action: texts.reset,
    isDanger: true,
    run: () => resetSession(row),
  });
}

/** @param {SessionRow} row */
async function remove(row) {
  ask({
    title: texts.deleteQuestion({ title: titleOf(row), loss: await lossOf(row) }),
    text: row.hasActiveRun ? texts.answeringNowWill : texts.cannotUndone,
    action: texts.delete,
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
  return messages === undefined ? undefined : plural(messages, texts.messages);
}
