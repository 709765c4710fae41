import { html } from "../../core/html.js";
import { pathOfName, titleOf } from "../../core/note-facts.js";
import { isOnline, noAdminReason } from "../../core/store.js";
import { Button } from "../../ui/button.js";
import { Close, Note as NoteIcon } from "../../ui/icons.js";
import { Failure, Notice, Waiting } from "../../ui/states.js";
import { Theirs } from "./theirs.js";
import { noteAddress, useNote } from "./use-note.js";

const MOST_CHARS = 1_048_576;
const EXAMPLE = "# Garden\n\nThe roses are cut in March.";

/** Editor of a note, or of a new one. @param {{ agentId: string, path: string | undefined, query: string, back: () => string }} props `path`: undefined for a new note */
export function NoteEditor({ agentId, path, query, back }) {
  const isNew = path === undefined;
  const note = useNote({ agentId, path, query });
  const { file, draft, theirs, failed, isBusy } = note;
  const isReadOnly = noAdminReason.value !== undefined && isOnline.value;
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void note.save();
  };
  return html`<section class="file note" aria-label=${isNew ? "New note" : `Edit ${path}`} onKeyDown=${onKey}>
    <header>
      <${NoteIcon} /><h2 class="cut" title=${path}>${titleOf(path)}</h2>
      ${note.isChanged && html`<${Button} kind="slim" onClick=${note.throwAway}>Discard changes<//>`}
      <${Button} kind="primary slim" blocked=${note.blocked} onClick=${() => note.save()}>${isBusy ? "Saving…" : "Save"}<//>
      <${CloseLink} address=${isNew ? back() : noteAddress(agentId, path, { query })} />
    </header>
    <div class="note-body">
      ${!file && note.error ? html`<${Failure} what="The note could not be read." error=${note.error} onRetry=${note.read} />` : null}
      ${!file && !note.error && !draft && html`<${Waiting} rows=${8} />`}
      ${file?.missing && !isNew && html`<${Notice}><p>There is no such note any more. Saving makes it again.</p><//>`}
      ${isNew && html`<${Name} value=${draft?.name ?? ""} onInput=${(/** @type {string} */ name) => note.type({ name })} />`}
      ${failed && !theirs && html`<${Notice} level="bad"><span role="alert">Not saved: ${failed}</span><//>`}
      ${theirs && html`<${Theirs} note=${theirs} mine=${note.content} isNew=${isNew} onTake=${note.takeTheirs} onOverwrite=${() => note.save(theirs.hash ?? null)} />`}
      ${
        (file || draft) &&
        html`<textarea ref=${isNew ? undefined : focusOnce} class="field mono source" aria-label=${path ?? "Text of the note"} spellcheck="false"
          maxlength=${MOST_CHARS} readonly=${isReadOnly} value=${note.content} placeholder=${isNew ? EXAMPLE : undefined}
          onInput=${(/** @type {any} */ e) => note.type({ content: e.currentTarget.value })}></textarea>`
      }
    </div>
  </section>`;
}

/** @param {{ value: string, onInput: (name: string) => void }} props */
function Name({ value, onInput }) {
  const { path, problem } = pathOfName(value);
  const hint = value.trim() === "" ? "The file stands below memory/ in the agent's folder." : (path ?? problem);
  return html`<div class="note-name"><label class="label" for="note-name">Name</label>
    <input ref=${focusOnce} id="note-name" class="field" maxlength="500" placeholder="garden" aria-describedby="note-path" value=${value}
      onInput=${(/** @type {any} */ e) => onInput(e.currentTarget.value)} />
    <p id="note-path" class="muted small">${hint}</p></div>`;
}

/** Called when a field comes and when it goes. @param {HTMLElement | null} field */
function focusOnce(field) {
  field?.focus();
}

/** @param {{ address: string }} props */
function CloseLink({ address }) {
  return html`<a class="button quiet icon" href=${address} aria-label="Close the editor" title="Close the editor"><${Close} /></a>`;
}
