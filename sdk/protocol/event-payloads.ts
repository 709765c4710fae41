import type { z } from "zod";
import { gatewayPayloads } from "./event-payloads/gateway.ts";
import type { CoreEvent, ProtocolEvent } from "./events.ts";
import type { PluginEvents } from "./plugin-methods.ts";

/**
 * Payload of every event that the gateway itself sends. Objects may gain fields.
 * For documents, types and tests: the running gateway never loads these schemas (`import type` only).
 */
export const protocolEventPayloads = {
  ...gatewayPayloads,
} as const satisfies Record<CoreEvent, z.ZodType>;

/** Payload of an event. */
export type EventPayloadOf<E extends ProtocolEvent> = E extends CoreEvent
  ? z.output<(typeof protocolEventPayloads)[E]>
  : E extends keyof PluginEvents
    ? PluginEvents[E]
    : never;
