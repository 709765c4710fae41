import { html } from "../../core/html.js";
import { pathOfName, titleOf } from "../../core/note-facts.js";
import { isOnline, noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { Button } from "../../ui/button.js";
import { Close, Note as NoteIcon } from "../../ui/icons.js";
import { Failure, Notice, Waiting } from "../../ui/states.js";
import { Theirs } from "./theirs.js";
import { noteAddress, useNote } from "./use-note.js";

const MOST_CHARS = 1_048_576;
const EXAMPLE = texts.gardenRosesCut;

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
  return html`<section class="file note" aria-label=${isNew ? texts.newNote : texts.editFile(path)} onKeyDown=${onKey}>
    <header>
      <${NoteIcon} /><h2 class="cut" title=${path}>${titleOf(path)}</h2>
      ${note.isChanged && html`<${Button} kind="slim" onClick=${note.throwAway}>${texts.discardChanges}<//>`}
      <${Button} kind="primary slim" blocked=${note.blocked} onClick=${() => note.save()}>${isBusy ? texts.saving : texts.save}<//>
      <${CloseLink} address=${isNew ? back() : noteAddress(agentId, path, { query })} />
    </header>
    <div class="note-body">
      ${!file && note.error ? html`<${Failure} what=${texts.noteCouldNot} error=${note.error} onRetry=${note.read} />` : null}
      ${!file && !note.error && !draft && html`<${Waiting} rows=${8} />`}
      ${file?.missing && !isNew && html`<${Notice}><p>${texts.thereNoSuch}</p><//>`}
      ${isNew && html`<${Name} value=${draft?.name ?? ""} onInput=${(/** @type {string} */ name) => note.type({ name })} />`}
      ${failed && !theirs && html`<${Notice} level="bad"><span role="alert">${texts.notSaved(failed)}</span><//>`}
      ${theirs && html`<${Theirs} note=${theirs} mine=${note.content} isNew=${isNew} onTake=${note.takeTheirs} onOverwrite=${() => note.save(theirs.hash ?? null)} />`}
      ${
        (file || draft) &&
        html`<textarea dir="auto" ref=${isNew ? undefined : focusOnce} class="field mono source" aria-label=${path ?? texts.textNote} spellcheck="false"
          maxlength=${MOST_CHARS} readonly=${isReadOnly} value=${note.content} placeholder=${isNew ? EXAMPLE : undefined}
          onInput=${(/** @type {any} */ e) => note.type({ content: e.currentTarget.value })}></textarea>`
      }
    </div>
  </section>`;
}

/** @param {{ value: string, onInput: (name: string) => void }} props */
function Name({ value, onInput }) {
  const { path, problem } = pathOfName(value);
  const hint = value.trim() === "" ? texts.fileStandsBelow : (path ?? problem);
  return html`<div class="note-name"><label class="label" for="note-name">${texts.name}</label>
    <input ref=${focusOnce} id="note-name" class="field" maxlength="500" placeholder=${texts.garden} aria-describedby="note-path" value=${value}
      onInput=${(/** @type {any} */ e) => onInput(e.currentTarget.value)} />
    <p id="note-path" class="muted small">${hint}</p></div>`;
}

/** Called when a field comes and when it goes. @param {HTMLElement | null} field */
function focusOnce(field) {
  field?.focus();
}

/** @param {{ address: string }} props */
function CloseLink({ address }) {
  return html`<a class="button quiet icon" href=${address} aria-label=${texts.closeEditor} title=${texts.closeEditor}><${Close} /></a>`;
}
