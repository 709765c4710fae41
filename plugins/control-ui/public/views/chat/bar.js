import { contextOf } from "../../core/context-facts.js";
import { html } from "../../core/html.js";
import { sessionRow } from "../../core/sessions.js";
import { defaultAgentId, defaultModel } from "../../core/store.js";
import { Button } from "../../ui/button.js";
import { More } from "../../ui/icons.js";
import { withModule } from "../../ui/later.js";

const picker = () => import("./picker.js");
const menu = () => import("./chat-menu.js");

/** Names whoever answers here and says how full the context is; what can be done about it is fetched when somebody asks for it. @param {{ sessionKey: string, agentId: string }} props */
export function ChatBar({ sessionKey, agentId }) {
  const row = sessionRow(sessionKey);
  const standard = agentId === defaultAgentId.value && defaultModel.value;
  const model = row?.model ?? (standard ? `${standard.provider}/${standard.model}` : "its own model");
  const context = contextOf(row);
  const choose = () => withModule(picker, ({ openPicker }) => openPicker(sessionKey, agentId));
  /** @param {any} event */
  const more = ({ currentTarget }) => withModule(menu, ({ openChatMenu }) => openChatMenu(currentTarget, sessionKey));
  return html`<div class="chat-bar muted small">
    <${Button} kind="quiet slim chooser" label=${`${agentId}, ${model}: choose agent and model`} aria-haspopup="dialog" onClick=${choose}>
      <bdi class="cut">${agentId}, ${model}</bdi><span aria-hidden="true">▾</span><//>
    ${
      context &&
      html`<span class=${`context ${context.isFull ? "full" : ""}`} title=${context.words}>
        ${context.percent !== undefined && html`<progress max="100" value=${context.percent} aria-label="Context used"></progress>`}
        <span aria-hidden="true">${context.percent === undefined ? `${context.used} tokens` : `${context.percent} %`}</span><span class="sr-only">${context.words}</span></span>`
    }
    <${Button} kind="quiet slim" icon=${More} label="More about this conversation" aria-haspopup="menu" onClick=${more} />
  </div>`;
}
