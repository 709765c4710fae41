import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { attach, attachedTo, takeAttached } from "../../core/attached.js";
import { stop } from "../../core/chat-runs.js";
import { send } from "../../core/delivery.js";
import { readDraft, readEdit, writeDraft } from "../../core/drafts.js";
import { html } from "../../core/html.js";
import { isCoarse } from "../../core/look.js";
import { isOutboxFull } from "../../core/outbox.js";
import { recall } from "../../core/recall.js";
import { readOnlyReason } from "../../core/store.js";
import { takesAudio } from "../../core/who-answers.js";
import { texts } from "../../texts/chat.js";
import { Button } from "../../ui/button.js";
import { Plus, Send, Stop } from "../../ui/icons.js";
import { Later, withModule } from "../../ui/later.js";
import { followSent } from "./follow.js";

/** @typedef {import("../../core/chat.js").Chat} Chat */
/** @typedef {import("../../core/attached.js").Attached} Attached */
/** @typedef {import("../../core/drafts.js").Edit & { isSending?: boolean, error?: string }} Editing */

const handed = signal(/** @type {{ text: string, files: Attached[], edit?: Editing | undefined } | undefined} */ (undefined));
const editing = () => import("./editing.js");
const tray = () => import("./tray.js");
const completion = () => import("./completion.js");
const voice = () => import("./voice.js");

/** Puts a text into the composer for the person to send. @param {string} text @param {Attached[]} [files] @param {Editing} [edit] the earlier question that it is to be asked in the place of */
export function fillComposer(text, files = [], edit) {
  handed.value = { text, files, edit };
}

/** @param {{ chat: Chat }} props */
export function Composer({ chat }) {
  const { text, edit, setEdit, fill } = useDraft(chat);
  /** Files that were picked, pasted or dropped and are not looked at yet. */
  const [picked, setPicked] = useState(/** @type {File[] | undefined} */ (undefined));
  const field = useField(chat, text);
  const recalled = useRef(-1);
  /** The list of commands takes keys before the field does. */
  const keysOfList = useRef(/** @type {((event: KeyboardEvent) => boolean) | undefined} */ (undefined));
  const running = chat.live.value.filter((run) => run.state !== "ended");
  const blocked = readOnlyReason.value ?? (isOutboxFull.value ? texts.tooManyMessages : undefined);
  const files = attachedTo(chat.key);
  const isEmpty = text.trim() === "" && files.length === 0;

  /** @param {string} next */
  const change = (next) => fill(next, edit);
  const submit = () => {
    if (isEmpty || blocked) return;
    if (edit) return withModule(editing, ({ askInBranch }) => askInBranch(chat, edit, { text, setEdit }));
    send(chat.key, text.trim(), takeAttached(chat.key));
    recalled.current = -1;
    change("");
    setPicked(undefined);
    followSent();
    field.current?.focus();
  };
  /** @param {FileList | undefined} list @param {Event} event */
  const take = (list, event) => {
    if (!list || list.length === 0) return;
    event.preventDefault();
    setPicked([...list]);
  };

  useEffect(() => {
    if (!handed.value) return;
    fill(handed.value.text, handed.value.edit);
    if (handed.value.files.length > 0) attach(chat.key, handed.value.files);
    handed.value = undefined;
    field.current?.focus();
  }, [handed.value]);

  /** @param {number} step */
  const walk = (step) => {
    const found = recall(chat.messages.value, { text, at: recalled.current, step });
    if (!found) return false;
    recalled.current = found.at;
    change(found.text);
    return true;
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (event.isComposing) return;
    if (keysOfList.current?.(event)) event.stopPropagation();
    else if (event.key === "Enter" && !event.shiftKey && !isCoarse.value) submit();
    else if (event.key === "Escape" && running.length > 0) void stop(chat);
    else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && walk(event.key === "ArrowUp" ? 1 : -1)) event.stopPropagation();
    else return;
    event.preventDefault();
  };
  const isCommand = /^\/\S* ?$/.test(text);

  return html`<form class="composer" aria-label=${texts.write} onSubmit=${(/** @type {Event} */ e) => {
    e.preventDefault();
    submit();
  }} onDragOver=${(/** @type {DragEvent} */ e) => e.dataTransfer?.types.includes("Files") && e.preventDefault()}
    onDrop=${(/** @type {DragEvent} */ e) => take(e.dataTransfer?.files, e)}>
    ${edit && html`<${Later} load=${editing} edit=${edit} onEnd=${() => fill(text, undefined)} />`}
    ${isCommand && html`<${Later} load=${completion} text=${text} field=${field} keys=${keysOfList} onChoose=${change} />`}
    ${(picked || files.length > 0) && html`<${Later} load=${tray} chat=${chat} files=${files} picked=${picked} onTaken=${() => setPicked([])} />`}
    ${takesAudio(chat.key) && html`<${Later} load=${voice} part="state" chat=${chat} />`}
    <div class="box">
      <${AddButton} chat=${chat} onPick=${take} />
      <textarea dir="auto" ref=${field} rows="1" aria-label=${texts.message} placeholder=${texts.message} value=${text} readonly=${edit?.isSending} enterkeyhint=${isCoarse.value ? "enter" : "send"}
        onInput=${(/** @type {any} */ e) => change(e.currentTarget.value)} onKeyDown=${key}
        onPaste=${(/** @type {ClipboardEvent} */ e) => take(e.clipboardData?.files, e)}></textarea>
      <${Buttons} chat=${chat} running=${running} isEmpty=${isEmpty} blocked=${blocked} />
    </div>
    ${blocked && !isEmpty && html`<p class="muted small" role="status">${texts.youWriteKept(blocked)}</p>`}
  </form>`;
}

/** Draft of a chat, and the earlier question that it is to be asked in the place of. @param {Chat} chat */
function useDraft({ key }) {
  const [text, setText] = useState(() => readDraft(key));
  const [edit, setEdit] = useState(() => /** @type {Editing | undefined} */ (readEdit(key)));
  /** @param {string} next @param {Editing | undefined} of */
  const fill = (next, of) => {
    setText(next);
    setEdit(of);
    writeDraft(key, next, of);
  };
  return { text, edit, setEdit, fill };
}

/** @param {{ chat: Chat, running: Chat["live"]["value"], isEmpty: boolean, blocked: string | undefined }} props */
function Buttons({ chat, running, isEmpty, blocked }) {
  const isAtWork = running.length > 0;
  const word = isAtWork && running.every((run) => run.state === "stopping") ? texts.stopping : texts.stop;
  return html`
    ${isAtWork && html`<${Button} kind="slim stop" icon=${Stop} blocked=${word === texts.stop ? readOnlyReason.value : word} onClick=${() => stop(chat)}>${word}<//>`}
    ${(!isAtWork || !isEmpty) && html`<${Button} type="submit" kind="primary" icon=${Send} label=${texts.send} blocked=${blocked ?? (isEmpty ? texts.nothingSend : undefined)} />`}`;
}

/** Opens the file chooser of the browser. @param {{ chat: Chat, onPick: (list: FileList, event: Event) => void }} props */
function AddButton({ chat, onPick }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [accept, setAccept] = useState("");
  /** Known before the chooser opens where somebody points or tabs to the button first. */
  const prepare = () =>
    tray().then(
      ({ acceptFor }) => setAccept(acceptFor(chat.key)),
      () => undefined,
    );
  /** @param {any} event */
  const changed = (event) => {
    onPick(event.currentTarget.files, event);
    event.currentTarget.value = "";
  };
  return html`<${Button} kind="quiet" icon=${Plus} label=${texts.attachFiles} blocked=${readOnlyReason.value} onPointerEnter=${prepare} onFocus=${prepare}
      onClick=${() => input.current?.click()} />
    ${takesAudio(chat.key) && html`<${Later} load=${voice} part="button" chat=${chat} />`}
    <input ref=${input} type="file" multiple hidden aria-label=${texts.filesAttach} accept=${accept} onChange=${changed} />`;
}

/** The field has the focus where keys are near, and is as high as its text, up to the limit in the style sheet. @param {Chat} chat @param {string} text */
function useField(chat, text) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => {
    if (!isCoarse.value) field.current?.focus();
  }, [chat]);
  useLayoutEffect(() => {
    if (!field.current) return;
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [text]);
  return field;
}
