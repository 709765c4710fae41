import { html } from "../core/html.js";
import { chatHome } from "../core/keys.js";
import { route } from "../core/router.js";
import { unreadCount } from "../core/sessions.js";
import { Chat, Home, Info, List } from "../ui/icons.js";

const items = [
  { id: "overview", word: "Overview", icon: Home, address: () => "#/overview" },
  { id: "chat", word: "Chat", icon: Chat, address: chatHome },
  { id: "sessions", word: "Sessions", icon: List, address: () => "#/sessions" },
  { id: "about", word: "About", icon: Info, address: () => "#/about" },
];

export function Rail() {
  return html`<nav class="rail" aria-label="Views"><${Items} /></nav>`;
}

export function BottomBar() {
  return html`<nav class="bottom" aria-label="Views"><${Items} /></nav>`;
}

function Items() {
  const current = route.value.view === "memory" ? "chat" : route.value.view;
  return items.map(
    ({ id, word, icon, address }) => html`<a
      key=${id}
      href=${address()}
      aria-current=${id === current ? "page" : undefined}
      class=${id === "about" ? "last" : ""}
      title=${word}
    >
      <${icon} /><span>${word}</span>
      ${id === "sessions" && unreadCount.value > 0 && html`<span class="badge info">${unreadCount.value}<span class="sr-only"> unread</span></span>`}
    </a>`,
  );
}
