import { useState } from "preact/hooks";
import { html } from "../core/html.js";
import { chatHome, isHelpOpen, isNeedsOpen, isPaletteOpen, startNewSession } from "../core/keys.js";
import { setTheme, theme } from "../core/look.js";
import { keyOf, panelAddress } from "../core/panel-facts.js";
import { tabs } from "../core/panels.js";
import { chatAddress, go, route } from "../core/router.js";
import { recent, stopSession, titleOf } from "../core/sessions.js";
import { defaultAgentId, noAdminReason, readOnlyReason } from "../core/store.js";
import { texts } from "../texts/palette.js";
// Soon after the page is there, as this is.
import "../views/panels/start.js";
import { iconOf } from "../views/panels/icon.js";
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
  return html`<${Dialog} label=${texts.searchCommands} kind="palette" onClose=${close}><div>
    <input role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${shown[current] ? `p-${shown[current].id}` : undefined}
      aria-label=${texts.goViewSession} placeholder=${texts.viewsSessionsCommands} autofocus autocomplete="off" value=${text}
      onInput=${(/** @type {any} */ e) => {
        setText(e.currentTarget.value);
        setAt(0);
      }} onKeyDown=${key} />
    <ul id="palette-list" role="listbox" aria-label=${texts.results}>${shown.map(
      (
        entry,
        i,
      ) => html`<li key=${entry.id} id=${`p-${entry.id}`} role="option" aria-selected=${i === current} onClick=${() => choose(entry)}
        onPointerMove=${() => i !== current && setAt(i)}>
        <${entry.icon} /><span class="cut">${entry.word}</span>${entry.note && html`<span class="muted small">${entry.note}</span>`}
      </li>`,
    )}${shown.length === 0 && html`<li role="option" aria-selected="false" aria-disabled="true" class="muted">${texts.nothingMatches}</li>`}</ul>
  </div><//>`;
}

/** @returns {Entry[]} */
function entries() {
  const inChat = route.value.view === "chat" ? route.value.rest : undefined;
  return [
    { id: "overview", word: texts.overview, note: "g o", icon: Home, run: () => go("#/overview") },
    { id: "chat", word: texts.chat, note: "g c", icon: Chat, run: () => go(chatHome()) },
    { id: "sessions", word: texts.sessions, note: "g s", icon: List, run: () => go("#/sessions") },
    { id: "memory", word: texts.memory, note: "g m", icon: Note, run: () => go("#/memory") },
    { id: "channels", word: texts.channels, note: "g n", icon: People, run: () => go("#/channels") },
    { id: "webhooks", word: texts.webhooks, note: "g w", icon: Hook, run: () => go("#/webhooks") },
    { id: "plugins", word: texts.plugins, note: "g p", icon: Plug, run: () => go("#/plugins") },
    { id: "devices", word: texts.devices, note: "g d", icon: Phone, run: () => go("#/devices") },
    { id: "agents", word: texts.agents, note: "g a", icon: Person, run: () => go("#/agents") },
    { id: "models", word: texts.models, note: "g e", icon: Chip, run: () => go("#/models") },
    { id: "schedule", word: texts.schedule, note: "g t", icon: Time, run: () => go("#/schedule") },
    { id: "mcp", word: texts.mcpServers, note: "g v", icon: Server, run: () => go("#/mcp") },
    { id: "config", word: texts.config, note: "g f", icon: Sliders, run: () => go("#/config") },
    { id: "logs", word: texts.logs, note: "g l", icon: Lines, run: () => go("#/logs") },
    { id: "usage", word: texts.usage, note: "g u", icon: Bars, run: () => go("#/usage") },
    { id: "audit", word: texts.audit, icon: Shield, run: () => go("#/audit") },
    { id: "about", word: texts.about, icon: Info, run: () => go("#/about") },
    ...tabs.value.map((panel) => ({ id: `t-${keyOf(panel)}`, word: panel.label, icon: iconOf(panel), run: () => go(panelAddress(panel)) })),
    ...(readOnlyReason.value ? [] : [{ id: "new", word: texts.newSession, note: "n", icon: Plus, run: startNewSession }]),
    ...(inChat && !readOnlyReason.value ? [{ id: "stop", word: texts.stopAnswer, icon: Stop, run: () => void stopSession(inChat) }] : []),
    ...(noAdminReason.value ? [] : [{ id: "add-model", word: texts.addProviderModels, icon: Plus, run: () => go("#/models?add=1") }]),
    { id: "theme", word: texts.appearance(nextTheme()), icon: Info, run: () => setTheme(nextTheme()) },
    { id: "needs", word: texts.needsYou, note: "y", icon: Warn, run: () => (isNeedsOpen.value = true) },
    { id: "keys", word: texts.keyboardKeys, note: "?", icon: Key, run: () => (isHelpOpen.value = true) },
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
