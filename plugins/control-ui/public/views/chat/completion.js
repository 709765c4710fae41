import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { completed, isTyped, matching, refusalOf } from "../../core/command-facts.js";
import { commands } from "../../core/commands.js";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { hello } from "../../core/store.js";
import { texts } from "../../texts/chat-more.js";

/**
 * Commands that begin as what was typed. The focus stays in the field: arrows move, Tab or Enter take one, Escape closes the list until more is typed.
 * @param {{ text: string, field: { current: HTMLTextAreaElement | null }, keys: { current: ((event: KeyboardEvent) => boolean) | undefined },
 *   onChoose: (text: string) => void }} props `keys`: asked first for each key that is pressed in the field
 */
export default function Completion({ text, field, keys, onChoose }) {
  const [at, setAt] = useState(0);
  const [closedAt, setClosedAt] = useState(/** @type {string | undefined} */ (undefined));
  useEffect(() => void commands.read(), []);
  useEffect(() => setAt(0), [text]);
  const shown = closedAt === text ? [] : matching(commands.answer.value ?? [], text);
  const current = Math.min(at, Math.max(0, shown.length - 1));
  /** @param {import("../../core/command-facts.js").Command} command */
  const choose = (command) => {
    onChoose(completed(command));
    field.current?.focus();
  };

  useLayoutEffect(() => {
    const input = field.current;
    if (shown.length === 0 || !input) return undefined;
    keys.current = (event) => {
      const command = /** @type {import("../../core/command-facts.js").Command} */ (shown[current]);
      if (event.key === "Escape") setClosedAt(text);
      else if (event.key === "ArrowDown") setAt((current + 1) % shown.length);
      else if (event.key === "ArrowUp") setAt((current + shown.length - 1) % shown.length);
      else if ((event.key === "Tab" || event.key === "Enter") && !event.shiftKey && !isTyped(command, text)) choose(command);
      else return false;
      return true;
    };
    const attributes = { "aria-autocomplete": "list", "aria-controls": "commands", "aria-activedescendant": `command-${current}` };
    for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
    return () => {
      keys.current = undefined;
      for (const name of Object.keys(attributes)) input.removeAttribute(name);
    };
  });

  if (shown.length === 0) return null;
  const scopes = hello.value?.auth.scopes ?? [];
  return html`<div class="completion">
    <ul id="commands" role="listbox" tabindex="0" aria-label=${texts.commandsLabel}>${shown.map((command, i) => {
      const refusal = refusalOf(command, scopes);
      return html`<li key=${command.name} id=${`command-${i}`} role="option" aria-selected=${i === current} onPointerMove=${() => i !== current && setAt(i)}
        onPointerDown=${(/** @type {Event} */ e) => e.preventDefault()} onClick=${() => choose(command)}>
        <span class="command-line"><code>${command.name}</code>${command.arguments && html` <span class="muted small">${command.arguments}</span>`}</span>
        <span class="muted small">${command.about}${refusal && html` <span class="badge warn">${refusal}</span>`}</span>
      </li>`;
    })}</ul>
    <p class="sr-only" role="status">${plural(shown.length, texts.commands)}</p>
  </div>`;
}
