import { type DeliveryRow, type JsonObject, z } from "svc/sdk";
import type { Action, AgentAction } from "../action.ts";
import { deliveryErrors } from "./errors.ts";

/** Most bytes of JSON one row holds. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;

/** Payload in the row of an agent action. */
export type StoredAgentAction = { v: 1; action: Omit<AgentAction, "fingerprint"> };

export type StoredAction = StoredAgentAction["action"];

const optionalText = z.string().min(1).optional();
const stored = z.object({
  v: z.literal(1),
  action: z.object({
    kind: z.literal("agent"),
    path: z.string(),
    mapping: optionalText,
    agentId: z.string().min(1),
    isFallbackAgent: z.boolean(),
    message: z.string().min(1),
    name: z.string(),
    sessionKey: z.string().min(1),
    sessionMode: z.enum(["isolated", "persistent"]),
    wakeMode: z.enum(["now", "next-heartbeat"]),
    deliver: z.boolean(),
    channel: z.string().min(1),
    to: optionalText,
    model: optionalText,
    thinking: optionalText,
    timeoutMs: z.number().positive().optional(),
  }),
});

/** @throws {SvcError} `hook-action-too-large` */
export function encodeAction({ fingerprint: _, ...action }: AgentAction): JsonObject {
  const payload = { v: 1, action } satisfies StoredAgentAction;
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes > MAX_PAYLOAD_BYTES) throw deliveryErrors.hookActionTooLarge({ bytes, maxBytes: MAX_PAYLOAD_BYTES });
  return payload;
}

/** Undefined for a row that cannot be read: of another program, or damaged. */
export function decodeAction({ payload }: Pick<DeliveryRow, "payload">): StoredAction | undefined {
  return isStored(payload) ? payload.action : undefined;
}

function isStored(payload: unknown): payload is StoredAgentAction {
  return stored.safeParse(payload).success;
}

/** Facts about an action that remain when its payload is gone. */
export interface About {
  path: string;
  mapping?: string;
  name?: string;
  agentId: string;
}

export function aboutOf(action: Pick<Action, "path" | "mapping" | "agentId"> & { name?: string }): About {
  const { path, mapping, name, agentId } = action;
  return { path, ...(mapping === undefined ? {} : { mapping }), ...(name === undefined ? {} : { name }), agentId };
}

/** As it stands in a result; undefined for one that holds none. */
export function readAbout(result: JsonObject | undefined): About | undefined {
  const about = result?.about as Partial<About> | undefined;
  return typeof about?.path === "string" && typeof about.agentId === "string" ? (about as About) : undefined;
}
