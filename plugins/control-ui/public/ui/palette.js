import { useState } from "preact/hooks";
import { html } from "../core/html.js";
import { chatHome, isHelpOpen, isNeedsOpen, isPaletteOpen, startNewSession } from "../core/keys.js";
import { setTheme, theme } from "../core/look.js";
import { chatAddress, go, route } from "../core/router.js";
import { recent, stopSession, titleOf } from "../core/sessions.js";
import { defaultAgentId, noAdminReason, readOnlyReason } from "../core/store.js";
import { Dialog } from "./dialog.js";
import {
  Bars,
  Chat,
  Chip,
  Home,
  Hook,
  Info,
  Key,
  Lines,
  List,
  Note,
  People,
  Person,
  Phone,
  Plug,
  Plus,
  Server,
  Shield,
  Sliders,
  Stop,
  Time,
  Warn,
} from "./icons.js";

/** @typedef {{ id: string, word: string, note?: string, icon: any, run: () => void }} Entry */

const MAX_SHOWN = 30;
const close = () => (isPaletteOpen.value = false);

/** Views, sessions and commands behind one field. */
export default function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const shown = matching(entries(), text).slice(0, MAX_SHOWN);
  const current = Math.min(at, Math.max(0, shown.length - 1));
  /** @param {Entry | undefined} entry */
  const choose = (entry) => {
    if (!entry) return;
    close();
    entry.run();
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") choose(shown[current]);
    else if (event.key === "ArrowDown") setAt(Math.min(current + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(current - 1, 0));
    else return;
    event.preventDefault();
  };
  return html`<${Dialog} label="Search and commands" kind="palette" onClose=${close}><div>
    <input role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${shown[current] ? `p-${shown[current].id}` : undefined}
      aria-label="Go to a view or a session, or run a command" placeholder="Views, sessions, commands" autofocus autocomplete="off" value=${text}
      onInput=${(/** @type {any} */ e) => {
        setText(e.currentTarget.value);
        setAt(0);
      }} onKeyDown=${key} />
    <ul id="palette-list" role="listbox" aria-label="Results">${shown.map(
      (
        entry,
        i,
      ) => html`<li key=${entry.id} id=${`p-${entry.id}`} role="option" aria-selected=${i === current} onClick=${() => choose(entry)}
        onPointerMove=${() => i !== current && setAt(i)}>
        <${entry.icon} /><span class="cut">${entry.word}</span>${entry.note && html`<span class="muted small">${entry.note}</span>`}
      </li>`,
    )}${shown.length === 0 && html`<li role="option" aria-selected="false" aria-disabled="true" class="muted">Nothing matches</li>`}</ul>
  </div><//>`;
}

/** @returns {Entry[]} */
function entries() {
  const inChat = route.value.view === "chat" ? route.value.rest : undefined;
  return [
    { id: "overview", word: "Overview", note: "g o", icon: Home, run: () => go("#/overview") },
    { id: "chat", word: "Chat", note: "g c", icon: Chat, run: () => go(chatHome()) },
    { id: "sessions", word: "Sessions", note: "g s", icon: List, run: () => go("#/sessions") },
    { id: "memory", word: "Memory", note: "g m", icon: Note, run: () => go("#/memory") },
    { id: "channels", word: "Channels", note: "g n", icon: People, run: () => go("#/channels") },
    { id: "webhooks", word: "Webhooks", note: "g w", icon: Hook, run: () => go("#/webhooks") },
    { id: "plugins", word: "Plugins", note: "g p", icon: Plug, run: () => go("#/plugins") },
    { id: "devices", word: "Devices", note: "g d", icon: Phone, run: () => go("#/devices") },
    { id: "agents", word: "Agents", note: "g a", icon: Person, run: () => go("#/agents") },
    { id: "models", word: "Models", note: "g e", icon: Chip, run: () => go("#/models") },
    { id: "schedule", word: "Schedule", note: "g t", icon: Time, run: () => go("#/schedule") },
    { id: "mcp", word: "MCP servers", note: "g v", icon: Server, run: () => go("#/mcp") },
    { id: "config", word: "Config", note: "g f", icon: Sliders, run: () => go("#/config") },
    { id: "logs", word: "Logs", note: "g l", icon: Lines, run: () => go("#/logs") },
    { id: "usage", word: "Usage", note: "g u", icon: Bars, run: () => go("#/usage") },
    { id: "audit", word: "Audit", icon: Shield, run: () => go("#/audit") },
    { id: "about", word: "About", icon: Info, run: () => go("#/about") },
    ...(readOnlyReason.value ? [] : [{ id: "new", word: "New session", note: "n", icon: Plus, run: startNewSession }]),
    ...(inChat && !readOnlyReason.value ? [{ id: "stop", word: "Stop the answer", icon: Stop, run: () => void stopSession(inChat) }] : []),
    ...(noAdminReason.value ? [] : [{ id: "add-model", word: "Add a provider of models", icon: Plus, run: () => go("#/models?add=1") }]),
    { id: "theme", word: `Appearance: ${nextTheme()}`, icon: Info, run: () => setTheme(nextTheme()) },
    { id: "needs", word: "Needs you", note: "y", icon: Warn, run: () => (isNeedsOpen.value = true) },
    { id: "keys", word: "Keyboard keys", note: "?", icon: Key, run: () => (isHelpOpen.value = true) },
    ...(recent.value ?? []).map((row) => ({
      id: `s-${row.key}`,
      word: titleOf(row),
      ...(row.agentId === defaultAgentId.value ? {} : { note: row.agentId }),
      icon: Chat,
      run: () => go(chatAddress(row.key)),
    })),
  ];
}

function nextTheme() {
  return theme.value === "system" ? "dark" : theme.value === "dark" ? "light" : "system";
}

/** Every word typed must occur. @param {Entry[]} all @param {string} text */
function matching(all, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((entry) => words.every((word) => entry.word.toLowerCase().includes(word)));
}
