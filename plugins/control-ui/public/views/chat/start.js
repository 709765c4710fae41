import { useRef } from "preact/hooks";
import { exampleQuestions } from "../../core/examples.js";
import { html } from "../../core/html.js";
import { styled } from "../../core/look.js";
import { firstNote, needsModel } from "../../core/parts.js";
import { defaultAgentId, memory, modelStatus } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";
import { Command } from "../../ui/button.js";
import { Later } from "../../ui/later.js";
import { fillComposer } from "./composer.js";

const firstRun = () => styled(import("../models/first-run.js"));

/** A conversation without a message: what can be asked, and what is still missing for an answer. */
export default function Start() {
  const hasNoNotes = memory.value?.files === 0 && !memory.value.syncing;
  return html`<${FirstModel} />
    <div class="empty">
      <h2>${texts.wouldYouLike}</h2>
      ${
        hasNoNotes
          ? html`<${NoNotes} />`
          : html`<p>${texts.answersComeYour}</p>
            <div class="chips">${exampleQuestions(memory.value?.fileList).map(
              (q) => html`<button key=${q} type="button" class="chip" onClick=${() => fillComposer(q)}>${q}</button>`,
            )}</div>`
      }
    </div>`;
}

function NoNotes() {
  const { workspace } = memory.value ?? {};
  return html`<p>${texts.thereNoNotes(workspace ? texts.folder : texts.folderMemoryWorkspace)}</p>
    ${workspace && html`<div class="folder"><${Command} command=${`${workspace}/memory`} /></div>`}
    <p><a href=${firstNote(defaultAgentId.value)}>${texts.writeFirstOne}</a></p>`;
}

/** Seldom needed, so fetched when it is; what was begun stays. */
function FirstModel() {
  const wasNeeded = useRef(false);
  wasNeeded.current ||= needsModel(modelStatus.value);
  return wasNeeded.current ? html`<${Later} load=${firstRun} />` : null;
}
