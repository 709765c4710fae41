// Written by npm run docs; do not edit.

/** Methods that bundled plugins serve, from the tables beside their manifests. */
export interface PluginMethods {
  "messaging.queue.list": {
    params: { all?: boolean | undefined; before?: number | undefined; limit?: number | undefined };
    result: { messages: Array<{ uid: string; id: number; lane: string; state: "accepted" | "sending" | "uncertain" | "done" | "failed" | "expired"; attempt: number; createdAt: number; updatedAt: number; expiresAt: number; notBefore?: number; reason?: string; messageId?: string }>; counts: Record<string, number> };
  };
  "messaging.queue.retry": {
    params: { uid: string };
    result: { ok: true; uid: string };
  };
  "messaging.queue.drop": {
    params: { uid: string };
    result: { ok: true; uid: string };
  };
  "webhooks.list": {
    params: Record<string, never>;
    result: { enabled: boolean; path?: string; presets: Array<{ id: string; isKnown: boolean }>; mappings: Array<{ id: string; preset?: string; path?: string; source?: string; action: "wake" | "agent"; agentId?: string; forEach?: string; transform?: string; verify?: { provider: string; mode: "with-token" | "instead" }; isUnsafe: boolean; broken?: string }>; isolation: "process" | "worker" | "off"; problems: Array<string>; counts: { accepted: number; running: number; failed: number; expired: number } };
  };
  "webhooks.recent": {
    params: { limit?: number | undefined; states?: Array<"accepted" | "running" | "done" | "failed" | "expired"> | undefined };
    result: { deliveries: Array<{ uid: string; kind: "agent" | "wake"; state: "accepted" | "running" | "sending" | "uncertain" | "done" | "failed" | "expired"; attempt: number; path: string; mapping?: string; name?: string; agentId: string; lane: string; createdAt: number; updatedAt: number; expiresAt: number; notBefore?: number; steps: Record<string, Record<string, unknown>>; result?: Record<string, unknown> }>; counts: { accepted: number; running: number; failed: number; expired: number } };
  };
  "webhooks.show": {
    params: { uid: string; payload?: boolean | undefined };
    result: { delivery: { uid: string; kind: "agent" | "wake"; state: "accepted" | "running" | "sending" | "uncertain" | "done" | "failed" | "expired"; attempt: number; path: string; mapping?: string; name?: string; agentId: string; lane: string; createdAt: number; updatedAt: number; expiresAt: number; notBefore?: number; steps: Record<string, Record<string, unknown>>; result?: Record<string, unknown> }; action?: Record<string, unknown> };
  };
  "webhooks.retry": {
    params: { uid: string };
    result: { ok: true; uid: string };
  };
  "webhooks.drop": {
    params: { uid: string };
    result: { ok: true; uid: string };
  };
  "webhooks.test": {
    params: { name: string; payload?: unknown | undefined; headers?: Record<string, string> | undefined };
    result: { path: string; outcome: "actions" | "nothing" | "answered" | "unmapped"; mapping?: string; preset?: string; verify?: { provider: string; mode: "with-token" | "instead" }; items: Array<{ action?: Record<string, unknown>; refusal?: { status: number; message: string; reason?: string; retryAfterMs?: number } }>; warnings: Array<string>; broken?: string };
  };
}
