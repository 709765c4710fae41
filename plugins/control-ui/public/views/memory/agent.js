import { html } from "../../core/html.js";
import { go } from "../../core/router.js";
import { texts } from "../../texts/memory.js";

/**
 * Name of the agent whose memory it is; a choice only where there is one.
 * @param {{ agentId: string, agents: Array<{ id: string, name?: string }> | undefined, addressOf: (agentId: string) => string }} props
 */
export function AgentChoice({ agentId, agents, addressOf }) {
  const isKnown = agents?.some(({ id }) => id === agentId);
  const list = isKnown || !agents ? (agents ?? []) : [{ id: agentId }, ...agents];
  if (list.length < 2) return html`<span class="muted">${agentId}</span>`;
  return html`<select class="field choose" aria-label=${texts.agent} value=${agentId} onChange=${(/** @type {any} */ e) => go(addressOf(e.currentTarget.value))}>
    ${list.map(({ id, name }) => html`<option key=${id} value=${id} selected=${id === agentId}>${name && name !== id ? `${name} (${id})` : id}</option>`)}
  </select>`;
}
