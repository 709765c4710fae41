import { useRef } from "preact/hooks";
import { tryNow } from "../core/conn.js";
import { needsCount } from "../core/facts.js";
import { html } from "../core/html.js";
import { chatHome, isNeedsOpen, isPaletteOpen } from "../core/keys.js";
import { isNarrow } from "../core/look.js";
import { isInMemory, route, viewNames } from "../core/router.js";
import { lastChatKey, titleOfKey, unreadCount } from "../core/sessions.js";
import { connection, gatewayName, hello, isRestarting, mainSessionKey, now, Panels } from "../core/store.js";
import { texts } from "../texts/frame.js";
import { Button } from "../ui/button.js";
import {
  Back,
  Bars,
  Chat,
  Chip,
  Home,
  Hook,
  Info,
  Lines,
  List,
  More,
  Note,
  People,
  Person,
  Phone,
  Plug,
  Search,
  Server,
  Shield,
  Sliders,
  Time,
  Warn,
} from "../ui/icons.js";

/** On every view: which gateway, whether it is there, what needs a person. */
export function Header() {
  const { view, rest } = route.value;
  const isChat = view === "chat" || (view === "memory" && !isInMemory(route.value));
  return html`<header class="top">
    ${isChat && isNarrow.value && hello.value ? html`<${BackLink} view=${view} />` : html`<${Mark} />`}
    <p class="where cut">
      ${
        isChat && hello.value
          ? html`<span class="wide muted">${gatewayName.value} / </span>${titleOfKey(view === "chat" ? rest : (lastChatKey() ?? mainSessionKey.value))}`
          : html`<span>${hello.value ? gatewayName.value : location.host}</span>`
      }
    </p>
    ${hello.value && html`<${NeedsYou} />`}
    ${
      hello.value &&
      html`<${Button} kind="quiet find" icon=${Search} label=${texts.searchCommands} onClick=${() => (isPaletteOpen.value = true)} />`
    }
    <${Connection} />
  </header>`;
}

function Mark() {
  return html`<a class="mark" href="#/overview" aria-label=${texts.svcOverview}>
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M9 16h5l3-6 2 12 2-6h2" />
    </svg>
    <span>svc</span>
  </a>`;
}

/** @param {{ view: string }} props */
function BackLink({ view }) {
  if (view !== "memory") return html`<a class="button quiet icon" href="#/sessions" aria-label=${texts.allSessions}><${Back} /></a>`;
  return html`<${Button} kind="quiet" icon=${Back} label=${texts.back} onClick=${() => history.back()} />`;
}

function NeedsYou() {
  const count = needsCount.value;
  // Announced when the number changes; the region has to be there before.
  return html`<span class="sr-only" aria-live="polite">${count > 0 ? texts.needsYouCount(count) : ""}</span>
    ${
      count > 0 &&
      html`<${Button} kind="slim needs" icon=${Warn} label=${texts.needsYouCount(count)} aria-haspopup="dialog" onClick=${() => (isNeedsOpen.value = true)}>
        <span class="wide">${texts.needsYou}</span> ${count}<//>`
    }`;
}

function Connection() {
  const state = connection.value;
  const { mark, word } = wordsOf(state);
  return html`<div class="connection">
    <span role="status" class="state"><i class=${`dot ${mark}`}></i><span>${word}</span></span>
    ${state.state === "waiting" && html`<${Button} kind="slim" onClick=${tryNow}>${texts.tryNow}<//>`}
  </div>`;
}

/** @param {import("../core/store.js").ClientState} state @returns {{ mark: string, word: any }} */
function wordsOf(state) {
  if (state.state === "connected") return { mark: "ok", word: texts.connected };
  if (state.state === "refused") return { mark: "warn", word: texts.signedOut };
  if (state.state === "waiting") {
    if (state.restarting || isRestarting.value) return { mark: "busy", word: texts.restarting };
    const seconds = Math.max(1, Math.ceil((state.retryAtMs - now.value) / 1000));
    // The seconds are for eyes: read out each second they would drown everything else.
    return {
      mark: "bad",
      word: html`<span class="wide">${texts.connectionLost} </span><span aria-hidden="true">${texts.nextTryS(seconds)}</span>`,
    };
  }
  if (state.state === "closed") return { mark: "", word: texts.notConnected };
  return { mark: "busy", word: hello.value ? texts.reconnecting : texts.connectingLabel };
}

/** The bar of a phone has five places: these, and one for all others. */
const daily = { overview: Home, chat: Chat, sessions: List, memory: Note };

/** Views in the order of the rail. @type {Array<{ word?: string, views: Record<string, any> }>} */
const groups = [
  { views: daily },
  { word: texts.connections, views: { channels: People, webhooks: Hook, plugins: Plug, devices: Phone } },
  {
    word: texts.operate,
    views: {
      agents: Person,
      models: Chip,
      schedule: Time,
      mcp: Server,
      config: Sliders,
      usage: Bars,
      logs: Lines,
      audit: Shield,
      about: Info,
    },
  },
];

export function Rail() {
  return html`<nav class="rail" aria-label=${texts.views}>${groups.map(
    ({ word, views }) => html`${word && html`<p class="group muted small">${word}</p>`}<${Items} views=${views} />`,
  )}</nav>`;
}

export function BottomBar() {
  const current = currentView();
  const menu = useRef(/** @type {HTMLElement | null} */ (null));
  const more = groups.slice(1).flatMap(({ views }) => Object.entries(views));
  const isBehind = more.some(([id]) => id === current);
  return html`<nav class="bottom" aria-label=${texts.views}>
    <${Items} views=${daily} />
    <button type="button" class=${isBehind ? "current" : ""} popovertarget="more-views" aria-haspopup="menu"><${More} /><span>${texts.more}</span></button>
    <div ref=${menu} id="more-views" popover class="menu" role="menu" aria-label=${texts.moreViews}>${more.map(
      ([id, Icon]) => html`<a key=${id} role="menuitem" href=${addressOf(id)} aria-current=${id === current ? "page" : undefined}
          onClick=${() => menu.current?.hidePopover()}><${Icon} />${viewNames[id]}</a>`,
    )}${Panels.value && html`<${Panels.value} at="menu" onDone=${() => menu.current?.hidePopover()} />`}</div>
  </nav>`;
}

function currentView() {
  const { view } = route.value;
  return view === "explain" || (view === "memory" && !isInMemory(route.value)) ? "chat" : view;
}

/** @param {string} id */
function addressOf(id) {
  return id === "chat" ? chatHome() : `#/${id}`;
}

/** @param {{ views: Record<string, any> }} props */
function Items({ views }) {
  const current = currentView();
  return Object.entries(views).map(
    ([id, Icon]) => html`${id === "about" && Panels.value && html`<${Panels.value} at="rail" />`}<a
      key=${id}
      href=${addressOf(id)}
      aria-current=${id === current ? "page" : undefined}
      class=${id === "about" ? "last" : ""}
      title=${viewNames[id]}
    >
      <${Icon} /><span>${viewNames[id]}</span>
      ${id === "sessions" && unreadCount.value > 0 && html`<span class="badge info">${unreadCount.value}<span class="sr-only"> ${texts.unread}</span></span>`}
    </a>`,
  );
}
