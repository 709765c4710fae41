import agents from "../../plugins/agents/protocol.ts";
import approvals from "../../plugins/approvals/protocol.ts";
import audit from "../../plugins/audit/protocol.ts";
import cron from "../../plugins/cron/protocol.ts";
import devices from "../../plugins/devices/protocol.ts";
import mcp from "../../plugins/mcp-client/protocol.ts";
import mcpServer from "../../plugins/mcp-server/protocol.ts";
import memory from "../../plugins/memory-core/protocol.ts";
import messaging from "../../plugins/messaging/protocol.ts";
import operator from "../../plugins/operator/protocol.ts";
import pluginManager from "../../plugins/plugin-manager/protocol.ts";
import exec from "../../plugins/tools-exec/protocol.ts";
import usage from "../../plugins/usage/protocol.ts";
import webhooks from "../../plugins/webhooks/protocol.ts";
import { type EventSpec, type ProtocolEvent, protocolEvents } from "../../sdk/protocol/events.ts";
import { protocolMethods } from "../../sdk/protocol/methods.ts";
import { protocolResults } from "../../sdk/protocol/results.ts";

/** Methods of the protocol: the gateway's own and those of bundled plugins. */
export const allMethods = {
  ...protocolMethods,
  ...agents.methods,
  ...approvals.methods,
  ...audit.methods,
  ...cron.methods,
  ...devices.methods,
  ...mcp.methods,
  ...mcpServer.methods,
  ...memory.methods,
  ...messaging.methods,
  ...operator.methods,
  ...pluginManager.methods,
  ...exec.methods,
  ...usage.methods,
  ...webhooks.methods,
} as const;
/** Payloads of their answers. */
export const allResults = {
  ...protocolResults,
  ...agents.results,
  ...approvals.results,
  ...audit.results,
  ...cron.results,
  ...devices.results,
  ...mcp.results,
  ...mcpServer.results,
  ...memory.results,
  ...messaging.results,
  ...operator.results,
  ...pluginManager.results,
  ...exec.results,
  ...usage.results,
  ...webhooks.results,
} as const;
/** Events of the protocol: the gateway's own and those of bundled plugins. */
export const allEvents: Readonly<Record<ProtocolEvent, EventSpec>> = {
  ...protocolEvents,
  ...agents.events,
  ...approvals.events,
  ...cron.events,
  ...devices.events,
  ...memory.events,
  ...messaging.events,
  ...pluginManager.events,
};
