import { useEffect } from "preact/hooks";
import { edits, rawDraft } from "../../core/config.js";
import "../../core/config-draft.js";
import { plural } from "../../core/format.js";
import { guardLeaving } from "../../core/router.js";
import { texts } from "../../texts/config-more.js";
import { ask } from "../../ui/dialog.js";

/** Asks before the view or the page is left with something that was not saved. */
export default function Guard() {
  useEffect(() => {
    const hold = (/** @type {Event} */ event) => event.preventDefault();
    addEventListener("beforeunload", hold);
    const release = guardLeaving(({ view }, go) => {
      if (view === "config") return true;
      ask({
        title: texts.leaveUnsavedChanges,
        text: texts.configNotSaved(plural(edits.value.size + (rawDraft.value === undefined ? 0 : 1), texts.changes)),
        action: texts.leave,
        run: go,
      });
      return false;
    });
    return () => {
      removeEventListener("beforeunload", hold);
      release();
    };
  }, []);
  return null;
}
