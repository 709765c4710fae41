import { z } from "zod";
import { agentId, count, durationMs, epochMs, scopes, sessionKey } from "../protocol/results/fields.ts";
import { health } from "../protocol/results/health.ts";
import { presenceEntry, stateVersion } from "../protocol/results/presence.ts";

/** Answer to `connect`. */
export const helloOk = z
  .object({
    type: z.literal("hello-ok"),
    protocol: z.literal(4),
    server: z.object({
      version: z.string(),
      connId: z.string().min(1).describe("unique per socket"),
      bootId: z.string().min(1).describe("random per process"),
    }),
    features: z.object({
      methods: z.array(z.string()).describe("what is known to be there; absence proves nothing"),
      events: z.array(z.string()),
      capabilities: z.array(z.string()),
    }),
    snapshot: z.object({
      presence: z.array(presenceEntry).describe("empty without `operator.read`"),
      health,
      stateVersion,
      uptimeMs: durationMs,
      sessionDefaults: z
        .object({ defaultAgentId: agentId, mainKey: z.string(), mainSessionKey: sessionKey, scope: z.string() })
        .exactOptional()
        .describe("plugin `agents`"),
      authMode: z.string().exactOptional(),
      configPath: z.string().exactOptional().describe("only with `operator.admin`"),
      stateDir: z.string().exactOptional().describe("only with `operator.admin`"),
    }),
    auth: z.object({
      role: z.enum(["operator", "node"]),
      scopes,
      deviceToken: z.string().exactOptional().describe("when the connection proved a paired device"),
      issuedAtMs: epochMs.exactOptional(),
    }),
    policy: z.object({
      maxPayload: count,
      maxBufferedBytes: count,
      tickIntervalMs: durationMs,
      attachments: z.object({ maxBytes: count, maxImageBytes: count }).describe("decoded size of one"),
    }),
    limits: z.object({ maxPreauthPayload: count, handshakeTimeoutMs: durationMs, idempotencyTtlMs: durationMs, idempotencyMax: count }),
  })
  .meta({ id: "HelloOk" });
