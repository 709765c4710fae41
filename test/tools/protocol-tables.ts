import devices from "../../plugins/devices/protocol.ts";
import memory from "../../plugins/memory-core/protocol.ts";
import messaging from "../../plugins/messaging/protocol.ts";
import webhooks from "../../plugins/webhooks/protocol.ts";
import { protocolMethods } from "../../sdk/protocol/methods.ts";
import { protocolResults } from "../../sdk/protocol/results.ts";

/** Methods of the protocol: the SDK's and those of bundled plugins. */
export const allMethods = { ...protocolMethods, ...devices.methods, ...memory.methods, ...messaging.methods, ...webhooks.methods } as const;
/** Payloads of their answers. */
export const allResults = { ...protocolResults, ...devices.results, ...memory.results, ...messaging.results, ...webhooks.results } as const;
