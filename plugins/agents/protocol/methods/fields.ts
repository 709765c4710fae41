import { z } from "svc/sdk";
import { idExpectation, idPattern, idText } from "svc/sdk/internal";

/** No parameters. */
export const none = z.strictObject({});
/** A session key; a short one is resolved to `agent:<id>:<key>`. */
export const sessionKey = idText(512);
export const agentId = idText(64);
/** Known for at least 5 min after the end. */
export const idempotencyKey = idText(256);
/** Id of a run: the idempotency key of the request that asked for it. */
export const runId = idText(512);
/** Content is base64. */
export const attachments = z
  .array(z.strictObject({ type: z.string(), mimeType: z.string().min(1), fileName: z.string().max(255).optional(), content: z.string() }))
  .max(8)
  .describe(
    "in base64: pictures of 6 MiB, text files of 20 MiB, PDF documents and recordings of 20 MiB together, which have to begin as files of their `mimeType` do",
  );
/** A person's name for a session; unique per agent. */
export const label = z.string().trim().min(1).max(512).regex(idPattern, idExpectation);
/** Amount of reasoning a model may do. */
export const thinking = z.enum(["off", "minimal", "low", "medium", "high"]);
/** Queue mode of a message that meets a running turn. */
export const queueMode = z.enum(["steer", "followup", "collect", "interrupt"]);
/** Filters of a list of sessions. */
export const listFields = {
  limit: z.number().int().min(1).max(1000).optional(),
  offset: z.number().int().min(0).optional(),
  agentId: agentId.optional(),
  activeMinutes: z.number().int().min(1).max(525_600).optional(),
  includeGlobal: z.boolean().optional(),
  includeUnknown: z.boolean().optional(),
  includeDerivedTitles: z.boolean().optional(),
  includeLastMessage: z.boolean().optional(),
  label: z.string().max(512).optional(),
  spawnedBy: sessionKey.optional(),
  search: z.string().max(512).optional(),
  archived: z.boolean().optional(),
  sortBy: z.enum(["updatedAt", "lastInteractionAt"]).optional(),
};
