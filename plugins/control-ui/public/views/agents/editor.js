import { useEffect, useRef, useState } from "preact/hooks";
import { filePurposes } from "../../core/agent-facts.js";
import { forgetFile, isConflict, keepFile, keptFile, readFile, saveFile } from "../../core/agents.js";
import { html } from "../../core/html.js";
import { isOnline, noAdminReason } from "../../core/store.js";
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
  const read = () => readFile(agentId, name).then((found) => (setFile(found), setError(undefined)), setError);
  useEffect(() => void (file === undefined && isOnline.value && read()), [isOnline.value]);
  useKept(agentId, name, draft);
  const content = draft?.content ?? file?.content ?? "";
  const isChanged = draft !== undefined && draft.content !== (file?.content ?? "");
  const blocked = noAdminReason.value ?? (isChanged ? undefined : "Nothing was changed");
  /** @param {string | undefined} [hash] of the state that is written over */
  const save = async (hash = draft?.hash) => {
    if (isBusy || !draft) return;
    setBusy(true);
    setFailed("");
    try {
      setFile(await saveFile(agentId, name, { content: draft.content, hash }));
      throwAway();
      announce(`${name} was saved.`);
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
      <div class="stack tight-head"><a class="line" href="#/agents"><${Back} />Agents</a><h1>${name} of ${agentId}</h1>
        <p class="muted">${filePurposes[name]}${file?.missing ? ". It is not there yet: saving makes it." : "."}</p></div>
      <div class="actions">
        ${isChanged && html`<${Button} onClick=${throwAway}>Discard changes<//>`}
        <${Button} kind="primary" blocked=${blocked} onClick=${() => save()}>${isBusy ? "Saving…" : "Save"}<//>
      </div>
    </div>
    ${!file && error ? html`<${Failure} what="The file could not be read." error=${error} onRetry=${read} />` : null}
    ${!file && !error && html`<${Waiting} rows=${8} />`}
    ${theirs && html`<${Conflict} onTake=${() => takeTheirs(theirs)} onOverwrite=${() => save(theirs.hash)} />`}
    ${failed && !theirs && html`<${Notice} level="bad"><span role="alert">Not saved: ${failed}</span><//>`}
    ${
      file &&
      html`<textarea class="field mono source" aria-label=${name} spellcheck="false" maxlength=${MOST_CHARS} readonly=${noAdminReason.value !== undefined && isOnline.value} value=${content}
        onInput=${(/** @type {any} */ e) => setDraft({ content: e.currentTarget.value, hash: draft ? draft.hash : file.hash })}></textarea>`
    }
  </div>`;
}

/** @param {{ onTake: () => void, onOverwrite: () => void }} props */
function Conflict({ onTake, onOverwrite }) {
  return html`<${Notice} level="warn"><p role="alert">Not saved: somebody has changed the file since you opened it. Your text is still here.</p>
    <div class="actions"><${Button} kind="slim" onClick=${onOverwrite}>Save mine over theirs<//><${Button} kind="slim danger" onClick=${onTake}>Take theirs, drop mine<//></div><//>`;
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
