// Written by npm run docs; do not edit.

type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning?: number; total: number };

type Message = { role: "user" | "assistant" | "toolResult"; content: string | Array<{ type: "text"; text: string } | { type: "toolCall"; id: string; name: string; arguments: unknown } | { type: "image"; mimeType?: string; data?: string }>; timestamp: number; toolCallId?: string; toolName?: string; isError?: boolean; details?: unknown; stopReason?: string; aborted?: boolean; usage?: Usage; provider?: string; model?: string; truncated?: true; __svc: { id: string; seq: number; runId?: string; kind?: string } };

type SessionRow = { key: string; sessionId?: string; agentId: string; kind: "direct" | "group" | "global" | "unknown"; chatType?: string; channel?: string; label?: string; displayName?: string; derivedTitle?: string; lastMessagePreview?: string; createdAt: number; updatedAt: number; lastInteractionAt?: number; lastActivityAt?: number; status?: "queued" | "running" | "done" | "failed" | "killed" | "timeout" | "interrupted"; startedAt?: number; endedAt?: number; runtimeMs?: number; lastRunId?: string; abortedLastRun?: boolean; hasActiveRun: boolean; activeRunIds?: Array<string>; category?: string; thinkingLevel?: string; verboseLevel?: string; reasoningLevel?: string; elevatedLevel?: string; fastMode?: boolean; responseUsage?: string; sendPolicy?: "allow" | "deny"; groupActivation?: "mention" | "always"; queueMode?: "steer" | "followup" | "collect" | "interrupt"; execHost?: string; execSecurity?: string; execAsk?: string; model?: string; modelProvider?: string; contextTokens?: number; inputTokens?: number; outputTokens?: number; totalTokens?: number; totalTokensFresh: boolean; parentSessionKey?: string; spawnedBy?: string; archived: boolean; pinned: boolean; unread: boolean; snapshotAt: number };

type SessionList = { ts: number; path: string; count: number; totalCount: number; limitApplied: number; hasMore: boolean; nextOffset: number | null; defaults: { modelProvider: string | null; model: string | null; contextTokens: number | null }; sessions: Array<SessionRow> };

type Heartbeat = { ts: number; agentId?: string; sessionKey?: string; status: "sent" | "ok-empty" | "ok-token" | "skipped" | "failed"; reason?: string; preview?: string; durationMs?: number; channel?: string; to?: string; accountId?: string; hasMedia?: boolean; silent?: boolean; indicatorType?: "ok" | "alert" | "error" };

type ShownText = { role: "assistant"; content: Array<{ type: "text"; text: string }>; timestamp: number };

type Approval = { approvalKind: "exec" | "plugin"; id: string; request: Record<string, unknown>; createdAtMs: number; expiresAtMs: number };

type PendingDevice = { requestId: string; deviceId: string; publicKey: string; displayName?: string; platform?: string; deviceFamily?: string; clientId: string; clientMode: string; role: "operator" | "node"; roles: Array<"operator" | "node">; scopes: Array<string>; remoteIp?: string; silent: boolean; isRepair: boolean; ts: number };

type PairedDevice = { deviceId: string; publicKey: string; displayName?: string; label?: string; platform?: string; deviceFamily?: string; clientId?: string; clientMode?: string; role?: "operator" | "node"; roles?: Array<"operator" | "node">; scopes?: Array<string>; approvedVia: "silent" | "owner"; createdAtMs: number; approvedAtMs: number; lastSeenAtMs?: number; connected: boolean; tokens: Array<{ role: "operator" | "node"; scopes: Array<string>; createdAtMs: number; revokedAtMs?: number }> };

type ChannelAccountStatus = { accountId: string; name?: string; enabled: boolean; configured: boolean; missing?: Array<string>; running: boolean; lifecycle: "starting" | "ready" | "recovering" | "blocked" | "stopped"; connected: boolean; stoppedByHand?: boolean; reconnectAttempts: number; restarts: number; lastStartAt?: number; lastStopAt?: number; lastConnectedAt?: number; lastDisconnect?: { at: number; error?: string }; isHeldElsewhere?: true; lastRestart?: { at: number; reason: string }; lastInboundAt?: number; lastOutboundAt?: number; lastError?: string; identity?: string; queueDepth: number; dmPolicy: "pairing" | "allowlist" | "open" | "disabled"; credential: "available" | "unavailable" | "missing"; lastProbeAt?: number; probe?: { ok: boolean; ms: number; error?: string; identity?: string }; audit?: Array<{ id: string; ok: boolean; message: string }> };

type ChannelPairingRequest = { channel: string; accountId: string; code: string; senderId: string; senderName?: string; requestedAt: number; expiresAt: number };

/** Methods that bundled plugins serve, from the tables beside their manifests. */
export interface PluginMethods {
  "agent.identity.get": {
    params: { agentId?: string | undefined; sessionKey?: string | undefined };
    result: { agentId: string; name: string; emoji?: string; avatar?: string };
  };
  "agents.list": {
    params: Record<string, never>;
    result: { defaultId: string; mainKey: string; scope: "per-sender" | "global"; agents: Array<{ id: string; name?: string; identity?: { name?: string; emoji?: string; avatar?: string }; workspace: string; model?: { primary: string; fallbacks?: Array<string> } }> };
  };
  "agents.create": {
    params: { name: string; workspace?: string | undefined; adopt?: boolean | undefined; model?: string | undefined; emoji?: string | undefined; avatar?: string | undefined };
    result: { ok: true; agentId: string; name: string; workspace: string; restartRequired?: true };
  };
  "agents.update": {
    params: { agentId: string; name?: string | undefined; workspace?: string | undefined; adopt?: boolean | undefined; model?: string | null | undefined; emoji?: string | undefined; avatar?: string | undefined };
    result: { ok: true; agentId: string };
  };
  "agents.delete": {
    params: { agentId: string; deleteFiles?: boolean | undefined };
    result: { ok: true; agentId: string; removedBindings: number; trash?: string; kept?: Array<string> };
  };
  "agents.files.list": {
    params: { agentId: string };
    result: { agentId: string; workspace: string; files: Array<{ name: string; path: string; missing: boolean; size?: number; updatedAtMs?: number }> };
  };
  "agents.files.get": {
    params: { agentId: string; name: string };
    result: { ok?: true; agentId: string; workspace: string; file: { name: string; path: string; missing: boolean; size?: number; updatedAtMs?: number; hash?: string; content?: string } };
  };
  "agents.files.set": {
    params: { agentId: string; name: string; content: string; expectedHash?: string | undefined };
    result: { ok?: true; agentId: string; workspace: string; file: { name: string; path: string; missing: boolean; size?: number; updatedAtMs?: number; hash?: string; content?: string } };
  };
  "tools.catalog": {
    params: { agentId?: string | undefined; includePlugins?: boolean | undefined };
    result: { agentId: string; profiles: Array<{ id: "minimal" | "coding" | "messaging" | "full"; label: string }>; groups: Array<{ id: string; label: string; source: "core" | "plugin"; pluginId?: string; tools: Array<{ id: string; label: string; description: string; source: "core" | "plugin"; pluginId?: string; optional?: boolean; defaultProfiles: Array<string> }> }> };
  };
  "tools.effective": {
    params: { sessionKey: string };
    result: { agentId: string; profile: string; groups: Array<{ id: string; label: string; source: "core" | "plugin"; pluginId?: string; tools: Array<{ id: string; label: string; description: string; source: "core" | "plugin"; pluginId?: string; optional?: boolean; defaultProfiles: Array<string> }> }> };
  };
  "tools.invoke": {
    params: { name: string; args?: Record<string, unknown> | undefined; sessionKey?: string | undefined; agentId?: string | undefined; idempotencyKey?: string | undefined };
    result: { ok: boolean; toolName: string; output?: unknown; source?: "core" | "plugin"; requiresApproval?: boolean; approvalId?: string; error?: { code: string; message: string } };
  };
  "models.list": {
    params: { agentId?: string | undefined; view?: "default" | "configured" | "all" | undefined; provider?: string | undefined };
    result: { models: Array<{ id: string; name: string; provider: string; alias?: string; tags?: Array<string>; available?: boolean; unavailableReason?: "missing-auth" | "auth-failed" | "cooldown"; contextWindow?: number; reasoning?: boolean; input?: Array<string> }>; skipped?: Array<{ provider: string; reason: string }> };
  };
  "agent": {
    params: { message: string; idempotencyKey: string; agentId?: string | undefined; sessionKey?: string | undefined; sessionId?: string | undefined; model?: string | undefined; provider?: string | undefined; thinking?: "off" | "minimal" | "low" | "medium" | "high" | undefined; timeout?: number | undefined; deliver?: boolean | undefined; channel?: string | undefined; to?: string | undefined; accountId?: string | undefined; threadId?: string | undefined; replyTo?: string | undefined; replyChannel?: string | undefined; bestEffortDeliver?: boolean | undefined; lane?: "main" | "cron" | "hooks" | undefined; attachments?: Array<{ type: string; mimeType: string; fileName?: string | undefined; content: string }> | undefined; extraSystemPrompt?: string | undefined; label?: string | undefined };
    result: { runId: string; sessionKey: string; agentId: string; status: "accepted"; acceptedAt: number } | { runId: string; sessionKey: string; agentId: string; status: "in_flight" } | { runId: string; status: "ok"; summary: string; result: { payloads: Array<{ text: string; mediaUrl: string | null }>; meta: { durationMs: number; stopReason?: string; notes?: Array<string>; agentMeta?: { sessionId: string; provider?: string; model?: string; usage: Usage } } }; deliveryStatus?: "sent" | "suppressed" | "partial_failed" | "failed" };
  };
  "agent.wait": {
    params: { runId: string; timeoutMs?: number | undefined };
    result: { runId: string; status: "ok" | "error" | "pending" | "timeout"; startedAt?: number; endedAt?: number; error?: string; code?: string; stopReason?: string };
  };
  "chat.send": {
    params: { sessionKey: string; message: string; idempotencyKey: string; agentId?: string | undefined; thinking?: "off" | "minimal" | "low" | "medium" | "high" | undefined; deliver?: boolean | undefined; attachments?: Array<{ type: string; mimeType: string; fileName?: string | undefined; content: string }> | undefined; timeoutMs?: number | undefined; queueMode?: "steer" | "followup" | "collect" | "interrupt" | undefined };
    result: { runId: string; status: "started" | "in_flight" | "ok" };
  };
  "chat.abort": {
    params: { sessionKey: string; runId?: string | undefined; agentId?: string | undefined };
    result: { ok: true; aborted: boolean; runIds: Array<string> };
  };
  "chat.history": {
    params: { sessionKey: string; limit?: number | undefined; offset?: number | undefined; maxChars?: number | undefined };
    result: { sessionKey: string; sessionId?: string; messages: Array<Message>; hasMore: boolean; nextOffset?: number; totalMessages: number; thinkingLevel?: string; inFlightRun?: { runId: string; text: string; startedAt: number }; sessionInfo: SessionRow | null };
  };
  "chat.inject": {
    params: { sessionKey: string; message: string; label?: string | undefined };
    result: { ok: true; messageId: string };
  };
  "sessions.list": {
    params: { limit?: number | undefined; offset?: number | undefined; agentId?: string | undefined; activeMinutes?: number | undefined; includeGlobal?: boolean | undefined; includeUnknown?: boolean | undefined; includeDerivedTitles?: boolean | undefined; includeLastMessage?: boolean | undefined; label?: string | undefined; spawnedBy?: string | undefined; search?: string | undefined; archived?: boolean | undefined; sortBy?: "updatedAt" | "lastInteractionAt" | undefined };
    result: SessionList;
  };
  "sessions.describe": {
    params: { key: string };
    result: { session: SessionRow | null };
  };
  "sessions.resolve": {
    params: { key?: string | undefined; sessionId?: string | undefined; label?: string | undefined; agentId?: string | undefined; allowMissing?: boolean | undefined };
    result: { ok: true; key: string; agentId: string } | { ok: false };
  };
  "sessions.preview": {
    params: { keys: Array<string>; limit?: number | undefined; maxChars?: number | undefined };
    result: { ts: number; previews: Array<{ key: string; status: "ok" | "empty" | "missing" | "error"; items: Array<{ role: "user" | "assistant"; text: string }> }> };
  };
  "sessions.create": {
    params: { key?: string | undefined; agentId?: string | undefined; label?: string | undefined; model?: string | undefined; thinkingLevel?: "off" | "minimal" | "low" | "medium" | "high" | undefined; parentSessionKey?: string | undefined; message?: string | undefined; idempotencyKey?: string | undefined };
    result: { ok: true; key: string; sessionId: string; entry: SessionRow; runStarted: boolean; runId?: string };
  };
  "sessions.send": {
    params: { key: string; message: string; idempotencyKey?: string | undefined; thinking?: "off" | "minimal" | "low" | "medium" | "high" | undefined; attachments?: Array<{ type: string; mimeType: string; fileName?: string | undefined; content: string }> | undefined; timeoutMs?: number | undefined };
    result: { runId: string; status: "started" | "in_flight" | "ok" };
  };
  "sessions.abort": {
    params: { key?: string | undefined; runId?: string | undefined };
    result: { ok: true; abortedRunId: string | null; status: "aborted" | "no-active-run" };
  };
  "sessions.reset": {
    params: { key: string; reason?: "new" | "reset" | undefined; expectedSessionId?: string | undefined };
    result: { ok: true; key: string; entry: SessionRow };
  };
  "sessions.delete": {
    params: { key: string; deleteTranscript?: boolean | undefined; expectedSessionId?: string | undefined };
    result: { ok: true; key: string; deleted: boolean; archived: Array<string> };
  };
  "sessions.compact": {
    params: { key: string; maxLines?: number | undefined };
    result: { ok: true; key: string; compacted: boolean; kept?: number };
  };
  "sessions.patch": {
    params: { key: string; expectedSessionId?: string | undefined; label?: string | null | undefined; category?: string | null | undefined; archived?: boolean | null | undefined; pinned?: boolean | null | undefined; unread?: boolean | null | undefined; model?: string | null | undefined; thinkingLevel?: "off" | "minimal" | "low" | "medium" | "high" | null | undefined; fastMode?: boolean | null | undefined; verboseLevel?: string | null | undefined; reasoningLevel?: string | null | undefined; elevatedLevel?: string | null | undefined; responseUsage?: string | null | undefined; sendPolicy?: "allow" | "deny" | null | undefined; groupActivation?: "mention" | "always" | null | undefined; execHost?: string | null | undefined; execSecurity?: string | null | undefined; execAsk?: string | null | undefined };
    result: { ok: true; path: string; key: string; entry: SessionRow; resolved: { modelProvider: string | null; model: string | null; thinkingLevel: string } };
  };
  "sessions.subscribe": {
    params: { limit?: number | undefined; offset?: number | undefined; agentId?: string | undefined; activeMinutes?: number | undefined; includeGlobal?: boolean | undefined; includeUnknown?: boolean | undefined; includeDerivedTitles?: boolean | undefined; includeLastMessage?: boolean | undefined; label?: string | undefined; spawnedBy?: string | undefined; search?: string | undefined; archived?: boolean | undefined; sortBy?: "updatedAt" | "lastInteractionAt" | undefined };
    result: { subscribed: true; list?: SessionList };
  };
  "sessions.unsubscribe": {
    params: Record<string, never>;
    result: { subscribed: false };
  };
  "sessions.messages.subscribe": {
    params: { key: string };
    result: { subscribed: boolean; key: string };
  };
  "sessions.messages.unsubscribe": {
    params: { key: string };
    result: { subscribed: boolean; key: string };
  };
  "wake": {
    params: { mode: "now" | "next-heartbeat"; text: string; sessionKey?: string | undefined; agentId?: string | undefined };
    result: { ok: true; mode: "now" | "next-heartbeat"; eventOutcome: "queued" | "coalesced" };
  };
  "system-event": {
    params: { text: string; sessionKey?: string | undefined; wake?: boolean | "now" | "next-heartbeat" | undefined; deviceId?: string | undefined; instanceId?: string | undefined; host?: string | undefined; ip?: string | undefined; mode?: string | undefined; version?: string | undefined; platform?: string | undefined; lastInputSeconds?: number | undefined; reason?: string | undefined; roles?: Array<string> | undefined; scopes?: Array<string> | undefined; tags?: Array<string> | undefined };
    result: { ok: true };
  };
  "last-heartbeat": {
    params: Record<string, never>;
    result: Heartbeat | null;
  };
  "set-heartbeats": {
    params: { enabled: boolean };
    result: { ok: true; enabled: boolean };
  };
  "exec.approval.request": {
    params: { id?: string | undefined; command?: string | undefined; commandArgv?: Array<string> | undefined; cwd?: string | undefined; host?: string | undefined; agentId?: string | undefined; sessionKey?: string | undefined; ask?: "off" | "on-miss" | "always" | undefined; security?: "deny" | "allowlist" | "full" | undefined; timeoutMs?: number | undefined; twoPhase?: boolean | undefined };
    result: { status: "accepted"; id: string; createdAtMs: number; expiresAtMs: number } | { id: string; decision: "allow-once" | "allow-always" | "deny" | null; createdAtMs: number; expiresAtMs: number; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; message?: string };
  };
  "exec.approval.get": {
    params: { id: string };
    result: { approvalKind: "exec" | "plugin"; id: string; request: Record<string, unknown>; createdAtMs: number; expiresAtMs: number; decision?: "allow-once" | "allow-always" | "deny" | null; resolvedBy?: string | null; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; endedAtMs?: number };
  };
  "exec.approval.list": {
    params: { ended?: boolean | undefined };
    result: Array<{ approvalKind: "exec" | "plugin"; id: string; request: Record<string, unknown>; createdAtMs: number; expiresAtMs: number; decision?: "allow-once" | "allow-always" | "deny" | null; resolvedBy?: string | null; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; endedAtMs?: number }>;
  };
  "exec.approval.waitDecision": {
    params: { id: string };
    result: { id: string; decision: "allow-once" | "allow-always" | "deny" | null; createdAtMs: number; expiresAtMs: number; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; message?: string };
  };
  "exec.approval.resolve": {
    params: { id: string; decision: string };
    result: { ok: true };
  };
  "plugin.approval.request": {
    params: { title: string; description: string; pluginId?: string | undefined; severity?: "info" | "warning" | "critical" | undefined; toolName?: string | undefined; toolCallId?: string | undefined; agentId?: string | undefined; sessionKey?: string | undefined; allowedDecisions?: Array<"allow-once" | "allow-always" | "deny"> | undefined; timeoutMs?: number | undefined; twoPhase?: boolean | undefined };
    result: { status: "accepted"; id: string; createdAtMs: number; expiresAtMs: number } | { id: string; decision: "allow-once" | "allow-always" | "deny" | null; createdAtMs: number; expiresAtMs: number; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; message?: string };
  };
  "plugin.approval.get": {
    params: { id: string };
    result: { approvalKind: "exec" | "plugin"; id: string; request: Record<string, unknown>; createdAtMs: number; expiresAtMs: number; decision?: "allow-once" | "allow-always" | "deny" | null; resolvedBy?: string | null; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; endedAtMs?: number };
  };
  "plugin.approval.list": {
    params: { ended?: boolean | undefined };
    result: Array<{ approvalKind: "exec" | "plugin"; id: string; request: Record<string, unknown>; createdAtMs: number; expiresAtMs: number; decision?: "allow-once" | "allow-always" | "deny" | null; resolvedBy?: string | null; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; endedAtMs?: number }>;
  };
  "plugin.approval.waitDecision": {
    params: { id: string };
    result: { id: string; decision: "allow-once" | "allow-always" | "deny" | null; createdAtMs: number; expiresAtMs: number; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; message?: string };
  };
  "plugin.approval.resolve": {
    params: { id: string; decision: string };
    result: { ok: true };
  };
  "device.pair.list": {
    params: Record<string, never>;
    result: { pending: Array<PendingDevice>; paired: Array<PairedDevice> };
  };
  "device.pair.approve": {
    params: { requestId: string };
    result: { requestId: string; device: PairedDevice };
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
  "channels.status": {
    params: { probe?: boolean | undefined; timeoutMs?: number | undefined; channel?: string | undefined };
    result: { ts: number; channelOrder: Array<string>; channelLabels: Record<string, string>; channelMeta: Array<{ id: string; label: string; detailLabel: string }>; channels: Record<string, { configured: boolean; running: boolean; error?: string }>; channelAccounts: Record<string, Array<ChannelAccountStatus>>; channelDefaultAccountId: Record<string, string> };
  };
  "channels.start": {
    params: { channel: string; accountId?: string | undefined };
    result: { channel: string; accountId: string; started: boolean };
  };
  "channels.stop": {
    params: { channel: string; accountId?: string | undefined };
    result: { channel: string; accountId: string; stopped: boolean };
  };
  "channels.logout": {
    params: { channel: string; accountId?: string | undefined };
    result: { channel: string; accountId: string; cleared: boolean };
  };
  "send": {
    params: { to: string; message?: string | undefined; channel?: string | undefined; accountId?: string | undefined; threadId?: string | undefined; sessionKey?: string | undefined; idempotencyKey: string; mediaUrl?: string | undefined; mediaUrls?: Array<string> | undefined; replyToId?: string | undefined };
    result: { runId: string; status: "sent" | "queued" | "uncertain"; uid: string; channel: string; to: string; messageId?: string; accountId?: string; threadId?: string };
  };
  "messaging.pairing.list": {
    params: { channel?: string | undefined };
    result: { requests: Array<ChannelPairingRequest>; paired: Array<{ channel: string; accountId: string; senderId: string; senderName?: string; approvedAt: number }> };
  };
  "messaging.pairing.approve": {
    params: { channel: string; accountId?: string | undefined; code: string; notify?: boolean | undefined };
    result: { ok: true; channel: string; accountId: string; senderId: string; senderName?: string };
  };
  "messaging.pairing.reject": {
    params: { channel: string; accountId?: string | undefined; code: string };
    result: { ok: true; channel: string; accountId: string; senderId: string; senderName?: string };
  };
  "messaging.pairing.revoke": {
    params: { channel: string; accountId?: string | undefined; senderId: string };
    result: { ok: true; channel: string; accountId: string; senderId: string; senderName?: string };
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
  "logs.tail": {
    params: { cursor?: number | undefined; limit?: number | undefined; maxBytes?: number | undefined };
    result: { file: string; cursor: number; size: number; lines: Array<string>; truncated: boolean; reset: boolean };
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

/** Payloads of the events that bundled plugins send, from the same tables. */
export interface PluginEvents {
  "agent": { runId: string; seq: number; ts: number; sessionKey: string; agentId: string; sessionId?: string; isHeartbeat?: boolean; spawnedBy?: string; stream: "lifecycle"; data: { phase: "start"; startedAt: number } | { phase: "model"; provider: string; model: string } | { phase: "end"; startedAt?: number; endedAt: number; aborted: boolean; stopReason: string } | { phase: "error"; startedAt?: number; endedAt: number; error: string; aborted?: boolean } } | { runId: string; seq: number; ts: number; sessionKey: string; agentId: string; sessionId?: string; isHeartbeat?: boolean; spawnedBy?: string; stream: "assistant"; data: { text: string; delta: string; itemId?: string; replace?: true } } | { runId: string; seq: number; ts: number; sessionKey: string; agentId: string; sessionId?: string; isHeartbeat?: boolean; spawnedBy?: string; stream: "tool"; data: { phase: "start"; name: string; toolCallId: string; args: unknown } | { phase: "update"; name: string; toolCallId: string; partialResult: unknown } | { phase: "result"; name: string; toolCallId: string; isError: boolean; result: { content: Array<{ type: string; [key: string]: unknown }>; [key: string]: unknown }; truncated?: true } } | { runId: string; seq: number; ts: number; sessionKey: string; agentId: string; sessionId?: string; isHeartbeat?: boolean; spawnedBy?: string; stream: "item"; data: { itemId: string; kind: "tool"; name: string; phase: "start" | "end"; status: string; title: string; startedAt: number; endedAt?: number } } | { runId: string; seq: number; ts: number; sessionKey: string; agentId: string; sessionId?: string; isHeartbeat?: boolean; spawnedBy?: string; stream: "compaction"; data: { phase: "start" | "end"; willRetry?: boolean } } | { runId: string; seq: number; ts: number; sessionKey: string; agentId: string; sessionId?: string; isHeartbeat?: boolean; spawnedBy?: string; stream: "usage"; data: { outputTokens: number } };
  "chat": { runId: string; sessionKey: string; agentId: string; seq: number; state: "status"; phase: string } | { runId: string; sessionKey: string; agentId: string; seq: number; state: "delta"; deltaText: string; message: ShownText; replace?: true } | { runId: string; sessionKey: string; agentId: string; seq: number; state: "final"; message?: ShownText; stopReason?: string; usage?: Usage } | { runId: string; sessionKey: string; agentId: string; seq: number; state: "aborted"; message?: ShownText; stopReason?: string } | { runId: string; sessionKey: string; agentId: string; seq: number; state: "error"; errorMessage: string; errorKind?: "refusal" | "timeout" | "rate_limit" | "context_length" | "unknown"; errorDetail?: Record<string, string> };
  "session.message": { sessionKey: string; agentId: string; message: Message; messageId: string; messageSeq: number; session: SessionRow };
  "session.tool": { runId: string; seq: number; ts: number; sessionKey: string; agentId: string; sessionId?: string; isHeartbeat?: boolean; spawnedBy?: string; stream: "tool"; data: { phase: "start"; name: string; toolCallId: string; args: unknown } | { phase: "update"; name: string; toolCallId: string; partialResult: unknown } | { phase: "result"; name: string; toolCallId: string; isError: boolean; result: { content: Array<{ type: string; [key: string]: unknown }>; [key: string]: unknown }; truncated?: true }; session: SessionRow };
  "heartbeat": Heartbeat;
  "sessions.changed": { sessionKey?: string; agentId?: string; reason?: "create" | "send" | "patch" | "new" | "reset" | "delete" | "compact"; phase?: "start" | "end" | "error"; runId?: string; sessionId?: string; ts: number; session?: SessionRow };
  "exec.approval.requested": Approval;
  "exec.approval.resolved": { id: string; decision: "allow-once" | "allow-always" | "deny"; resolvedBy: unknown; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; ts: number; request: Record<string, unknown> };
  "plugin.approval.requested": Approval;
  "plugin.approval.resolved": { id: string; decision: "allow-once" | "allow-always" | "deny"; resolvedBy: unknown; terminalReason?: "no-route" | "expired" | "cancelled" | "stopping"; ts: number; request: Record<string, unknown> };
  "device.pair.requested": PendingDevice;
  "device.pair.resolved": { requestId: string; deviceId: string; decision: "approved" | "rejected" | "expired"; ts: number };
  "memory.progress": { agentId: string; phase: "scan" | "embed" | "write" | "swap" | "done" | "error"; done: number; total: number; error?: string };
  "messaging.pairing.requested": ChannelPairingRequest;
  "messaging.pairing.resolved": { channel: string; accountId: string; senderId: string; decision: "approved" | "rejected" | "revoked"; ts: number };
}
