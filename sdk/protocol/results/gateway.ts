import { z } from "zod";
import { agentId, count } from "./fields.ts";
import { health, heartbeatPlan, sessionFigures, standing } from "./health.ts";
import { presenceEntry } from "./presence.ts";

const scheduled = z.object({ ok: z.literal(true), status: z.literal("scheduled") });

const status = z.looseObject({
  ...standing,
  runtimeVersion: z.string(),
  heartbeat: z
    .object({ defaultAgentId: agentId, agents: z.array(z.looseObject({ agentId, ...heartbeatPlan.shape })) })
    .exactOptional()
    .describe("plugin `agents`"),
  channelSummary: z.array(z.unknown()),
  queuedSystemEvents: z.array(z.string()).describe("events for the next prompt of the default agent"),
  sessions: z.object({
    ...sessionFigures.shape,
    defaults: z
      .object({ modelProvider: z.string().nullable(), model: z.string().nullable(), contextTokens: count.nullable() })
      .exactOptional()
      .describe("plugin `agents`"),
    byAgent: z.array(z.object({ agentId, ...sessionFigures.shape })),
  }),
  pid: count.exactOptional().describe("only with `operator.admin`"),
  processMemory: z.object({ rssBytes: count, heapUsedBytes: count }).exactOptional().describe("only with `operator.admin`"),
});

const finding = z.object({
  id: z.string(),
  severity: z.enum(["info", "warning", "error"]),
  message: z.string(),
  path: z.string().exactOptional().describe("config path or file it is about"),
  fix: z.string().exactOptional(),
  fixable: z.boolean().exactOptional(),
});

/** Answers about the gateway itself. */
export const gatewayResults = {
  health,
  status,
  "system-presence": z.array(presenceEntry),
  "gateway.doctor": z.object({ findings: z.array(finding) }),
  "gateway.identity.get": z.object({ deviceId: z.string(), publicKey: z.string() }),
  "gateway.restart.request": scheduled,
  "gateway.restart": scheduled,
  "gateway.exitSafeMode": z.object({ ok: z.literal(true), left: z.boolean().describe("false: the gateway was not in safe mode") }),
};
