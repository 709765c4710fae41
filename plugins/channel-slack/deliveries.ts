import { isRecord } from "svc/sdk";
import type { CommandPayload, Delivery, EventPayload } from "./payloads.ts";

export type { Delivery } from "./payloads.ts";

/** An event, if the value has the form of one. */
export function readEvent(payload: unknown): Delivery | undefined {
  if (!isRecord(payload) || payload.type !== "event_callback" || !isRecord(payload.event)) return undefined;
  return typeof payload.event.type === "string" ? { kind: "event", payload: payload as unknown as EventPayload } : undefined;
}

/** A slash command, if the value has the form of one. */
export function readCommand(payload: unknown): Delivery | undefined {
  return isRecord(payload) && typeof payload.command === "string"
    ? { kind: "command", payload: payload as unknown as CommandPayload }
    : undefined;
}
