// Written by npm run docs; do not edit.

/** Methods that bundled plugins serve, from the tables beside their manifests. */
export interface PluginMethods {
  "device.pair.list": {
    params: Record<string, never>;
    result: { pending: Array<{ requestId: string; deviceId: string; publicKey: string; displayName?: string; platform?: string; deviceFamily?: string; clientId: string; clientMode: string; role: "operator" | "node"; roles: Array<"operator" | "node">; scopes: Array<string>; remoteIp?: string; silent: boolean; isRepair: boolean; ts: number }>; paired: Array<{ deviceId: string; publicKey: string; displayName?: string; label?: string; platform?: string; deviceFamily?: string; clientId?: string; clientMode?: string; role?: "operator" | "node"; roles?: Array<"operator" | "node">; scopes?: Array<string>; approvedVia: "silent" | "owner"; createdAtMs: number; approvedAtMs: number; lastSeenAtMs?: number; connected: boolean; tokens: Array<{ role: "operator" | "node"; scopes: Array<string>; createdAtMs: number; revokedAtMs?: number }> }> };
  };
  "device.pair.approve": {
    params: { requestId: string };
    result: { requestId: string; device: { deviceId: string; publicKey: string; displayName?: string; label?: string; platform?: string; deviceFamily?: string; clientId?: string; clientMode?: string; role?: "operator" | "node"; roles?: Array<"operator" | "node">; scopes?: Array<string>; approvedVia: "silent" | "owner"; createdAtMs: number; approvedAtMs: number; lastSeenAtMs?: number; connected: boolean; tokens: Array<{ role: "operator" | "node"; scopes: Array<string>; createdAtMs: number; revokedAtMs?: number }> } };
  };
  "device.pair.reject": {
    params: { requestId: string };
    result: { requestId: string; deviceId: string };
  };
  "device.pair.remove": {
    params: { deviceId: string };
    result: { deviceId: string };
  };
  "device.pair.rename": {
    params: { deviceId: string; label: string };
    result: { deviceId: string; label: string };
  };
  "device.token.rotate": {
    params: { deviceId: string; role: "operator" | "node"; scopes?: Array<"operator.admin" | "operator.approvals" | "operator.pairing" | "operator.read" | "operator.write"> | undefined };
    result: { deviceId: string; role: "operator" | "node"; scopes: Array<string>; rotatedAtMs: number; token?: string; tokenDelivery?: "withheld-cross-device" };
  };
  "device.token.revoke": {
    params: { deviceId: string; role: "operator" | "node" };
    result: { deviceId: string; role: "operator" | "node"; revokedAtMs: number };
  };
  "memory.search": {
    params: { query: string; agentId?: string | undefined; maxResults?: number | undefined; minScore?: number | undefined };
    result: { agentId: string; provider: string; searchMode: "hybrid" | "vector" | "fts-only"; results: Array<{ path: string; startLine: number; endLine: number; score: number; vectorScore?: number; textScore?: number; snippet: string; source: "memory" | "sessions" }>; partial?: boolean; degraded?: boolean; unavailable?: boolean; error?: string; warning?: string; action?: string };
  };
  "memory.get": {
    params: { agentId?: string | undefined; path: string; from?: number | undefined; lines?: number | undefined };
    result: { path: string; text: string; from: number; totalLines: number; truncated?: boolean; disabled?: boolean; error?: string };
  };
  "memory.status": {
    params: { agentId?: string | undefined; deep?: boolean | undefined };
    result: { agentId: string; backend: string; workspace: string; files: number; chunks: number; dirty: boolean; syncing: boolean; dbPath: string; provider: string; model: string; requestedProvider: string; sources: Array<string>; sourceCounts: Array<{ source: string; files: number; chunks: number }>; fts: { enabled: boolean; available: boolean; error?: string }; vector: { enabled: boolean; available: boolean; backend: "sqlite-vec" | "in-process"; loadError?: string; dims?: number }; cache: { enabled: boolean; entries: number; maxEntries: number }; batch: { enabled: boolean; failures: number; limit: number; lastError?: string }; fallback?: { from: string; reason: string }; providerError?: string; skipped?: Array<{ provider: string; reason: string }>; probe?: { ok: boolean; ms: number; dims?: number; error?: string }; custom: { searchMode: string }; lastSyncAt?: number; lastError?: string; leftOut?: { documents: Array<{ path: string; reason: string }>; total: number }; fileList?: Array<{ path: string; source: string; chunks: number; mtime: number }>; truncated?: boolean };
  };
  "memory.index": {
    params: { agentId?: string | undefined; force?: boolean | undefined };
    result: { agentId: string; started: boolean; joined: boolean; status: "accepted" } | { agentId: string; started: boolean; joined: boolean };
  };
  "doctor.memory.status": {
    params: { agentId?: string | undefined; probe?: boolean | undefined };
    result: { agentId: string; provider?: string; embedding: { ok: boolean; checked?: boolean; error?: string } };
  };
  "memory.reset": {
    params: { agentId?: string | undefined };
    result: { agentId: string; removed: boolean };
  };
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
