import { contextOf } from "../../core/context-facts.js";
import { html } from "../../core/html.js";
import { sessionRow } from "../../core/sessions.js";
import { modelOf } from "../../core/who-answers.js";
import { texts } from "../../texts/chat.js";
import { Button } from "../../ui/button.js";
import { More } from "../../ui/icons.js";
import { withModule } from "../../ui/later.js";

const picker = () => import("./picker.js");
const menu = () => import("./chat-menu.js");

/** Names whoever answers here, and says how full the context is. @param {{ sessionKey: string, agentId: string }} props */
export function ChatBar({ sessionKey, agentId }) {
  const row = sessionRow(sessionKey);
  const model = modelOf(sessionKey, agentId) ?? texts.ownModel;
  const context = contextOf(row);
  const choose = () => withModule(picker, ({ openPicker }) => openPicker(sessionKey, agentId));
  /** @param {any} event */
  const more = ({ currentTarget }) => withModule(menu, ({ openChatMenu }) => openChatMenu(currentTarget, sessionKey));
  return html`<div class="chat-bar muted small">
    <${Button} kind="quiet slim chooser" label=${texts.chooseAgentModel({ agentId, model })} aria-haspopup="dialog" onClick=${choose}>
      <bdi class="cut">${agentId}, ${model}</bdi><span aria-hidden="true">▾</span><//>
    ${
      context &&
      html`<span class=${`context ${context.isFull ? "full" : ""}`} title=${context.words}>
        ${context.percent !== undefined && html`<progress max="100" value=${context.percent} aria-label=${texts.contextUsed}></progress>`}
        <span aria-hidden="true">${context.percent === undefined ? texts.tokens(context.used) : `${context.percent} %`}</span><span class="sr-only">${context.words}</span></span>`
    }
    <${Button} kind="quiet slim" icon=${More} label=${texts.moreAboutConversation} aria-haspopup="menu" onClick=${more} />
  </div>`;
}
