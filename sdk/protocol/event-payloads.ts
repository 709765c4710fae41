import type { z } from "zod";
import { approvalsPayloads } from "./event-payloads/approvals.ts";
import { devicesPayloads } from "./event-payloads/devices.ts";
import { gatewayPayloads } from "./event-payloads/gateway.ts";
import { memoryPayloads } from "./event-payloads/memory.ts";
import { sessionsPayloads } from "./event-payloads/sessions.ts";
import type { ProtocolEvent } from "./events.ts";

/**
 * Payload of every event. Objects may gain fields.
 * For documents, types and tests: the running gateway never loads these schemas (`import type` only).
 */
export const protocolEventPayloads = {
  ...gatewayPayloads,
  ...approvalsPayloads,
  ...devicesPayloads,
  ...sessionsPayloads,
  ...memoryPayloads,
} as const satisfies Record<ProtocolEvent, z.ZodType>;

/** Payload of an event. */
export type EventPayloadOf<E extends ProtocolEvent> = z.output<(typeof protocolEventPayloads)[E]>;
