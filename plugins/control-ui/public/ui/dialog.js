import { signal } from "@preact/signals";
import { render } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../core/html.js";
import { connection } from "../core/store.js";
import { texts } from "../texts/parts.js";
import { Button } from "./button.js";

/**
 * The one open dialog; `<dialog>` keeps the focus inside and gives it back.
 *
 * @typedef {{ title: string, text?: any, action: string, isDanger?: boolean, field?: { label: string, value: string, maxLength?: number },
 *   run: (value: string) => unknown }} Ask
 */
const open = signal(/** @type {Ask | undefined} */ (undefined));

mount();

/** Beside the page, when first needed. */
function mount() {
  const host = document.createElement("div");
  document.body.append(host);
  render(html`<${DialogHost} />`, host);
}

/** Asks before doing something; the question stays open, with the reason, when doing it fails. @param {Ask} question */
export function ask(question) {
  open.value = question;
}

function closeDialog() {
  open.value = undefined;
}

function DialogHost() {
  const shown = open.value;
  if (!shown) return null;
  return html`<${AskDialog} key=${shown} ask=${shown} />`;
}

function isSignedOut() {
  return connection.value.state === "refused";
}

/** @param {{ label: string, children?: any, kind?: string, onClose?: () => void }} props */
export function Dialog({ label, children, kind = "dialog", onClose = closeDialog }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  // Nobody could reach the sign-in behind it; it opens again, with all that was typed, afterwards.
  const isAway = isSignedOut();
  useLayoutEffect(() => {
    if (isAway) return undefined;
    const element = ref.current;
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    element?.showModal();
    return () => {
      element?.close();
      if (before?.isConnected) before.focus();
    };
  }, [isAway]);
  /** @param {MouseEvent} event */
  const clickOutside = (event) => event.target === ref.current && onClose();
  return html`<dialog ref=${ref} class=${kind} aria-label=${label} onClose=${() => isSignedOut() || onClose()} onClick=${clickOutside}>${children}</dialog>`;
}

/** @param {{ ask: Ask }} props */
function AskDialog({ ask: question }) {
  const { title, text, action, isDanger, field } = question;
  const [value, setValue] = useState(field?.value ?? "");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      await question.run(value);
      closeDialog();
    } catch (failure) {
      setError(/** @type {Error} */ (failure).message);
      setBusy(false);
    }
  };
  return html`<${Dialog} label=${title}>
    <form onSubmit=${submit}>
      <h2>${title}</h2>
      ${text && html`<p class="muted">${text}</p>`}
      ${
        field &&
        html`<label>
          <span class="label">${field.label}</span>
          <input class="field" autofocus maxlength=${field.maxLength} value=${value}
            onInput=${(/** @type {any} */ e) => setValue(e.currentTarget.value)} onFocus=${(/** @type {any} */ e) => e.currentTarget.select()} />
        </label>`
      }
      ${error && html`<p class="notice bad" role="alert">${error}</p>`}
      <div class="actions">
        <${Button} onClick=${closeDialog} autofocus=${!field}>${texts.cancel}<//>
        <${Button} type="submit" kind=${isDanger ? "danger" : "primary"}>${isBusy ? texts.working : action}<//>
      </div>
    </form>
  <//>`;
}
