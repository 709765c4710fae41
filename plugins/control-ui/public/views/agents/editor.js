import { useEffect, useRef, useState } from "preact/hooks";
import { filePurposes } from "../../core/agent-facts.js";
import { forgetFile, isConflict, keepFile, keptFile, readFile, saveFile } from "../../core/agents.js";
import { clock } from "../../core/format.js";
import { html } from "../../core/html.js";
import { isOnline, noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/agents.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Back } from "../../ui/icons.js";
import { Failure, Notice, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/agents.js").OpenFile} OpenFile */

const MOST_CHARS = 1_048_576;
const KEEP_AFTER_MS = 300;

/** Editor of one file that an agent's prompt is made of. What is typed is kept in the tab until it is saved or thrown away. @param {{ agentId: string, name: string }} props */
export function Editor({ agentId, name }) {
  const [file, setFile] = useState(/** @type {OpenFile | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {unknown} */ (undefined));
  const [draft, setDraft] = useState(() => keptFile(agentId, name));
  const [theirs, setTheirs] = useState(/** @type {OpenFile | undefined} */ (undefined));
  const [failed, setFailed] = useState("");
  const [isBusy, setBusy] = useState(false);
  const readAt = useRef(0);
  const read = () =>
    readFile(agentId, name).then((found) => {
      readAt.current = Date.now();
      setFile(found);
      setError(undefined);
    }, setError);
  // While the connection was away somebody else may have written; what is typed here stays.
  useEffect(() => void (isOnline.value && read()), [isOnline.value]);
  useKept(agentId, name, draft);
  const content = draft?.content ?? file?.content ?? "";
  const isChanged = draft !== undefined && draft.content !== (file?.content ?? "");
  const blocked = noAdminReason.value ?? (isChanged ? undefined : texts.nothingChanged);
  /** @param {string | undefined} [hash] of the state that is written over */
  const save = async (hash = draft?.hash) => {
    if (isBusy || !draft) return;
    setBusy(true);
    setFailed("");
    try {
      setFile(await saveFile(agentId, name, { content: draft.content, hash }));
      throwAway();
      announce(texts.saved(name));
    } catch (failure) {
      if (isConflict(failure)) setTheirs(await readFile(agentId, name).catch(() => undefined));
      setFailed(/** @type {Error} */ (failure).message);
    }
    setBusy(false);
  };
  const throwAway = () => {
    setDraft(undefined);
    setTheirs(undefined);
    setFailed("");
    forgetFile(agentId, name);
  };
  /** @param {OpenFile} other */
  const takeTheirs = (other) => {
    setFile(other);
    throwAway();
  };
  return html`<div class="page lists editor">
    <div class="head">
      <div class="stack tight-head"><a class="line" href="#/agents"><${Back} />${texts.agentsLabel}</a><h1>${texts.fileOfAgent({ name, agentId })}</h1>
        <p class="muted">${filePurposes[name]}${file?.missing ? texts.notThereYetSaving : "."}${file && !isOnline.value && ` ${texts.asOf(clock(readAt.current))}`}</p></div>
      <div class="actions">
        ${isChanged && html`<${Button} onClick=${throwAway}>${texts.discardChanges}<//>`}
        <${Button} kind="primary" blocked=${blocked} onClick=${() => save()}>${isBusy ? texts.saving : texts.save}<//>
      </div>
    </div>
    ${!file && error ? html`<${Failure} what=${texts.fileCouldNot} error=${error} onRetry=${read} />` : null}
    ${!file && !error && html`<${Waiting} rows=${8} />`}
    ${theirs && html`<${Conflict} onTake=${() => takeTheirs(theirs)} onOverwrite=${() => save(theirs.hash)} />`}
    ${failed && !theirs && html`<${Notice} level="bad"><span role="alert">${texts.notSaved(failed)}</span><//>`}
    ${
      file &&
      html`<textarea dir="auto" class="field mono source" aria-label=${name} spellcheck="false" maxlength=${MOST_CHARS} readonly=${noAdminReason.value !== undefined && isOnline.value} value=${content}
        onInput=${(/** @type {any} */ e) => setDraft({ content: e.currentTarget.value, hash: draft ? draft.hash : file.hash })}></textarea>`
    }
  </div>`;
}

/** @param {{ onTake: () => void, onOverwrite: () => void }} props */
function Conflict({ onTake, onOverwrite }) {
  return html`<${Notice} level="warn"><p role="alert">${texts.notSavedSomebody}</p>
    <div class="actions"><${Button} kind="slim" onClick=${onOverwrite}>${texts.saveMineOver}<//><${Button} kind="slim danger" onClick=${onTake}>${texts.takeTheirsDrop}<//></div><//>`;
}

/** Writes what was typed into the tab, a moment after the last key and when the editor is left. @param {string} agentId @param {string} name @param {import("../../core/agents.js").FileDraft | undefined} draft */
function useKept(agentId, name, draft) {
  const latest = useRef(draft);
  latest.current = draft;
  useEffect(() => {
    if (!draft) return;
    const timer = setTimeout(() => keepFile(agentId, name, draft), KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [draft]);
  useEffect(
    () => () => {
      if (latest.current) keepFile(agentId, name, latest.current);
    },
    [],
  );
}
