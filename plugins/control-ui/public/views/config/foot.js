import { useState } from "preact/hooks";
import { edits, issues } from "../../core/config.js";
import { dropAll } from "../../core/config-draft.js";
import { formatPath } from "../../core/config-paths.js";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config-more.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { IssueList } from "./issue-list.js";

/** Bar with the number of changes, and what to do with them. */
export default function Foot() {
  const [Dialog, setDialog] = useState(/** @type {any} */ (undefined));
  const bad = [...edits.value.values()].find(({ problem }) => problem !== undefined);
  const blocked = noAdminReason.value ?? (bad ? `${formatPath(bad.path)}: ${bad.problem}` : undefined);
  const review = async () => {
    const module = await import("./review.js").catch(() => undefined);
    if (module) setDialog(() => module.Review);
    else announce(texts.reviewCouldNot);
  };
  const discard = () =>
    ask({
      title: texts.discardOf(plural(edits.value.size, texts.changes)),
      text: [...edits.value.keys()].join(", "),
      action: texts.discard,
      isDanger: true,
      run: dropAll,
    });
  return html`<div class="config-foot">
    ${issues.value.length > 0 && html`<div class="notice bad" role="alert"><${IssueList} list=${issues.value} /></div>`}
    ${
      edits.value.size > 0 &&
      html`<div class="foot"><span>${texts.notSaved(plural(edits.value.size, texts.changes))}</span><span class="actions">
        <${Button} onClick=${discard}>${texts.discard}<//><${Button} kind="primary" blocked=${blocked} onClick=${review}>${texts.reviewChanges}<//></span></div>`
    }
    ${Dialog && html`<${Dialog} onClose=${() => setDialog(undefined)} />`}
  </div>`;
}
