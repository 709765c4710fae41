import { useState } from "preact/hooks";
import { html } from "../core/html.js";
import { texts } from "../texts/frame.js";
import { Check, Copy } from "./icons.js";

/**
 * A button that can say why it does nothing: with `blocked` it stays focusable and is announced as disabled, with the reason.
 * @param {{ onClick?: (event: Event) => void, kind?: string, icon?: any, label?: string | undefined, blocked?: string | undefined, children?: any,
 *   type?: string, [attribute: string]: unknown }} props
 */
export function Button({ onClick, kind = "", icon, label, blocked, children, type = "button", ...rest }) {
  const isIconOnly = icon && !children;
  /** @param {Event} event */
  const click = (event) => {
    if (blocked) event.preventDefault();
    else onClick?.(event);
  };
  return html`<button
    type=${type}
    class=${`button ${kind} ${isIconOnly ? "icon" : ""}`}
    aria-label=${label}
    title=${blocked ?? (isIconOnly ? label : undefined)}
    aria-disabled=${blocked ? "true" : undefined}
    onClick=${click}
    ...${rest}
  >
    ${icon?.()}${children}
  </button>`;
}

/**
 * Copies text; the outcome appears on the button itself.
 * @param {{ text: string, label?: string, kind?: string, hidesWord?: boolean }} props
 */
export function CopyButton({ text, label = texts.copy, kind = "quiet slim", hidesWord = false }) {
  const [state, setState] = useState("");
  const copy = async () => {
    setState((await copyText(text)) ? texts.copied : texts.selectCopyHand);
    setTimeout(() => setState(""), 2_000);
  };
  const icon = state === texts.copied ? Check : Copy;
  if (hidesWord && state === "") return html`<${Button} kind=${kind} icon=${icon} label=${label} onClick=${copy} />`;
  return html`<${Button} kind=${kind} icon=${icon} label=${state || label} onClick=${copy}><span role="status">${state || label}</span><//>`;
}

/** A command in a box with its copy button. @param {{ command: string }} props */
export function Command({ command }) {
  // The box scrolls sideways when the command is long, so the keyboard must reach it.
  return html`<div class="command"><code tabindex="0">${command}</code><${CopyButton} text=${command} label=${texts.copyCommand} hidesWord=${true} /></div>`;
}

/** Over plain http a page has no clipboard; an old way is left. @param {string} text */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
