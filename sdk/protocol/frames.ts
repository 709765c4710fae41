import { z } from "zod";

/** Raised only for incompatible changes. */
export const PROTOCOL_VERSION = 4;

/** Fixed numbers of the wire. Sizes in bytes, times in ms. */
export const limits = {
  maxPreauthPayload: 65_536,
  maxPayload: 26_214_400,
  maxBufferedBytes: 52_428_800,
  maxBufferedTotalBytes: 268_435_456,
  stallBytes: 1_048_576,
  stallProgressBytes: 16_384,
  stallMs: 30_000,
  tickIntervalMs: 30_000,
  pingIntervalMs: 25_000,
  closeTimeoutMs: 2_000,
  shutdownFlushMs: 500,
  handshakeTimeoutMs: 15_000,
  maxSilentPerAddress: 32,
  maxSilent: 256,
  maxInFlightPerConnection: 64,
  maxInFlight: 512,
  maxQueued: 256,
  maxBadFrames: 20,
  badFrameWindowMs: 60_000,
  idempotencyTtlMs: 300_000,
  idempotencyMax: 1_000,
  healthCacheMs: 60_000,
  presenceTtlMs: 300_000,
  presenceMax: 200,
  attachmentMaxBytes: 20_971_520,
  imageMaxBytes: 6_291_456,
  requestTimeoutMs: 30_000,
} as const;

/** The numbers of `hello-ok`: what a client obeys, and what it may like to know. */
export const helloNumbers = {
  policy: {
    maxPayload: limits.maxPayload,
    maxBufferedBytes: limits.maxBufferedBytes,
    tickIntervalMs: limits.tickIntervalMs,
    attachments: { maxBytes: limits.attachmentMaxBytes, maxImageBytes: limits.imageMaxBytes },
  },
  limits: {
    maxPreauthPayload: limits.maxPreauthPayload,
    handshakeTimeoutMs: limits.handshakeTimeoutMs,
    idempotencyTtlMs: limits.idempotencyTtlMs,
    idempotencyMax: limits.idempotencyMax,
  },
};

/** Ids a client may give itself. */
export const clientIds = [
  "cli",
  "gateway-client",
  "svc-control-ui",
  "webchat-ui",
  "webchat",
  "svc-tui",
  "node-host",
  "svc-probe",
  "fingerprint",
  "test",
] as const;
/** Modes of a client. */
export const clientModes = ["webchat", "cli", "ui", "backend", "node", "probe", "test"] as const;

/** A request on the wire; closed. */
export const requestFrame = z.strictObject({
  type: z.literal("req"),
  id: z.string().min(1),
  method: z.string().min(1),
  params: z.record(z.string(), z.unknown()).optional(),
  traceparent: z.string().max(128).optional(),
});
/** A request on the wire. */
export type RequestFrame = z.output<typeof requestFrame>;

const text = z.string().min(1);

/** Parameters of `connect`; unknown fields are refused. The role is checked separately: an unknown one has its own message. */
export const connectParams = z.strictObject({
  minProtocol: z.number().int().min(1),
  maxProtocol: z.number().int().min(1),
  client: z.strictObject({
    id: z.enum(clientIds),
    version: text,
    platform: text,
    mode: z.enum(clientModes),
    displayName: z.string().optional(),
    deviceFamily: z.string().optional(),
    modelIdentifier: z.string().optional(),
    instanceId: z.string().optional(),
    buildId: z.string().max(96).optional(),
    timeZone: z.string().max(64).optional(),
  }),
  role: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  caps: z.array(z.string()).optional(),
  commands: z.array(z.string()).optional(),
  permissions: z.record(z.string(), z.boolean()).optional(),
  pathEnv: z.string().optional(),
  auth: z
    .strictObject({
      token: z.string().optional(),
      password: z.string().optional(),
      deviceToken: z.string().optional(),
      bootstrapToken: z.string().optional(),
    })
    .optional(),
  device: z
    .strictObject({ id: z.string(), publicKey: z.string(), signature: z.string(), signedAt: z.number().int(), nonce: z.string() })
    .optional(),
  locale: z.string().optional(),
  userAgent: z.string().optional(),
});
/** Client's description of itself when it connects. */
export type ConnectParams = z.output<typeof connectParams>;

/** Reason why a request failed: a `code` of a closed set, with its own code in `details.code`. */
export interface WireError {
  code: string;
  message: string;
  details?: Record<string, unknown>;
  retryable?: boolean;
  retryAfterMs?: number;
}

/** The answer to one request, known by its `id`. */
export interface ResponseFrame {
  type: "res";
  id: string;
  ok: boolean;
  payload?: unknown;
  error?: WireError;
}

/** Versions of the parts of the snapshot, by which a client knows that it has missed a change. */
export interface StateVersion {
  presence: number;
  health: number;
}

/** Something that happened; `seq` counts per connection. */
export interface EventFrame {
  type: "event";
  event: string;
  payload?: unknown;
  seq?: number;
  stateVersion?: StateVersion;
}

/** Whatever the gateway sends. */
export type ServerFrame = ResponseFrame | EventFrame;

/** Payload of the answer to `connect`. */
export interface HelloOk {
  type: "hello-ok";
  protocol: number;
  server: { version: string; connId: string; bootId: string };
  features: { methods: string[]; events: string[]; capabilities: string[] };
  snapshot: {
    presence: Array<Record<string, unknown>>;
    health: Record<string, unknown>;
    stateVersion: StateVersion;
    uptimeMs: number;
    sessionDefaults?: { defaultAgentId: string; mainKey: string; mainSessionKey: string; scope: string };
    authMode?: string;
    configPath?: string;
    stateDir?: string;
  };
  auth: { role: string; scopes: string[]; deviceToken?: string; issuedAtMs?: number };
  policy: {
    maxPayload: number;
    maxBufferedBytes: number;
    tickIntervalMs: number;
    attachments: { maxBytes: number; maxImageBytes: number };
  };
  limits: { maxPreauthPayload: number; handshakeTimeoutMs: number; idempotencyTtlMs: number; idempotencyMax: number };
}
