import { z } from "zod";
import { agentId, configIssue, count, durationMs, epochMs, sessionKey } from "./fields.ts";

/** Hook actions by state. */
const hookFigures = { accepted: count, running: count, failed: count, expired: count };

/** Number of sessions, and the ones used last. */
export const sessionFigures = z
  .object({
    path: z.string().exactOptional().describe("of the state database; only with `operator.admin`"),
    count,
    recent: z.array(z.object({ key: sessionKey, updatedAt: epochMs, age: durationMs.describe("ms since `updatedAt`") })),
  })
  .meta({ id: "SessionFigures" });

/** When an agent looks around by itself. */
export const heartbeatPlan = z.object({ enabled: z.boolean(), every: z.string(), everyMs: durationMs, target: z.string() });

const memoryFigures = z.object({ files: count, chunks: count, dirty: z.boolean(), provider: z.string() });

const agentHealth = z.object({
  agentId,
  isDefault: z.boolean(),
  heartbeat: heartbeatPlan,
  sessions: sessionFigures,
  memory: memoryFigures.exactOptional().describe("plugin `memory-core`"),
});

const modelState = z.object({
  agentId,
  provider: z.string().describe("empty when the model's name does not include one"),
  model: z.string(),
  state: z
    .enum(["ready", "embedded", "unknown", "unavailable", "key-rejected", "unreachable", "cooldown", "none"])
    .describe("`embedded`: no language model, notes are quoted; `unavailable`: what the provider needs is missing, such as a key"),
  reason: z.string().exactOptional().describe("why it is not ready"),
  until: epochMs.exactOptional().describe("when a paused provider is retried"),
});

const tap = z.object({
  id: z.string().describe("plugin"),
  hook: z.string(),
  tap: z.string().exactOptional(),
  state: z.enum(["closed", "open", "half-open"]),
  failures: count,
  until: epochMs.exactOptional(),
  lastError: z.string().exactOptional(),
});

const configReload = z.object({
  status: z.enum(["active", "off", "invalid", "rejected"]),
  pendingRestart: z.array(z.string()).describe("paths whose old value stays in force until a restart"),
  issues: z.array(configIssue),
  since: epochMs,
  restart: z.array(z.string()).describe("reasons of a restart that waits"),
});

const pluginFigures = z.object({
  loaded: z.array(z.string()),
  errors: z.array(z.object({ id: z.string(), error: z.string() })),
  quarantined: z.array(tap).describe("hook taps that are not called for some time"),
});

/** Fields common to `health` and `status`. */
export const standing = {
  ok: z.boolean().describe("no critical part fails"),
  uptimeMs: durationMs,
  phase: z.enum(["starting", "plugins", "ready", "draining", "stopped", "safe-mode"]),
  plugins: pluginFigures,
  agents: z.array(agentHealth).exactOptional().describe("plugin `agents`"),
  secrets: z
    .object({ stale: z.array(z.string()), unavailable: z.array(z.string()) })
    .describe("owners that run with an old value or with none"),
  configReload,
  queues: z.object({ lanes: count, queued: count, active: count }).exactOptional().describe("plugin `agents`"),
  models: z.array(modelState).exactOptional().describe("the model in force of each agent; plugin `agents`"),
  memoryIndex: z.record(agentId, memoryFigures).exactOptional().describe("by agent; plugin `memory-core`"),
  hooks: z
    .object({ enabled: z.boolean(), path: z.string().exactOptional(), mappings: count.exactOptional(), ...hookFigures })
    .exactOptional()
    .describe("plugin `webhooks`"),
  cron: z
    .object({ enabled: z.boolean(), jobs: count, running: count, nextRunAt: z.number().int().min(0).exactOptional() })
    .exactOptional()
    .describe("plugin `cron`"),
  problems: z.record(z.string(), z.string()).exactOptional().describe("part → why it fails"),
};

/** State of the gateway. Plugins add parts of their own under other names. Parts marked with a plugin are missing while it is off. */
export const health = z
  .looseObject({
    ...standing,
    ts: epochMs.describe("when it was collected"),
    durationMs,
    version: z.string(),
    channels: z.record(z.string(), z.object({ accounts: z.array(z.looseObject({ accountId: z.string() })) })),
    channelOrder: z.array(z.string()),
    channelLabels: z.record(z.string(), z.string()),
    heartbeatSeconds: z.number().min(0).exactOptional().describe("of the default agent; plugin `agents`"),
    defaultAgentId: agentId.exactOptional().describe("plugin `agents`"),
    sessions: sessionFigures.exactOptional().describe("plugin `agents`"),
    connections: z
      .object({ refused: count.describe("since the start, for lack of descriptors or memory"), descriptorLimit: count.exactOptional() })
      .exactOptional()
      .describe("while the gateway listens"),
    eventLoop: z.object({
      degraded: z.boolean().describe("the delay is noticeable (200 ms at the 99th percentile), or there is hardly any idle time"),
      delayP99Ms: z.number(),
      delayMaxMs: z.number(),
      utilization: z.number(),
    }),
    memory: z.object({ rssBytes: count, heapUsedBytes: count }),
  })
  .meta({ id: "Health" });
