import { bounds } from "./_bounds.ts";

const day = 86_400_000;

bounds("models", {
  good: [
    ["models.mode", "merge", "replace"],
    ["models.providers", {}, { acme: {} }, { "my.vendor-2": {} }, { ["a".repeat(64)]: {} }],
    ["models.providers.acme.baseUrl", "http://127.0.0.1:8080/v1", "https://api.example"],
    ["models.providers.acme.apiKey", "k", { source: "exec", id: "acme/key#1" }],
    [
      "models.providers.acme.api",
      ...["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai", "bedrock-converse", "ollama"],
    ],
    ["models.providers.acme.auth", "api-key", "aws-sdk", "none"],
    ["models.providers.acme.headers", {}, { "X-Team": "a" }],
    ["models.providers.acme.timeoutSeconds", 1, 3_600, "2m"],
    ["models.providers.acme.params", { anything: { goes: [1, null] } }],
    ["models.providers.acme.models", [], [{ id: "m" }], [{ id: "m", input: ["text", "image"], cost: { input: 0, output: 1.5 } }]],
    ["models.providers.acme.models.0.contextWindow", 1],
  ],
  bad: [
    ["models.mode", "append"],
    ["models.providers", { Acme: {} }, { "-a": {} }, { ["a".repeat(65)]: {} }],
    ["models.providers.acme.baseUrl", "ftp://x", "api.example"],
    ["models.providers.acme.apiKey", "", 7, { source: "exec", id: "../key" }],
    ["models.providers.acme.api", "smtp"],
    ["models.providers.acme.auth", "oauth"],
    ["models.providers.acme.headers", { "X-Team": 5 }],
    ["models.providers.acme.timeoutSeconds", 0, 3_601],
    ["models.providers.acme.models", [{}], [{ id: "" }], [{ id: "m", input: ["video"] }], [{ id: "m", cost: { input: -1 } }]],
    ["models.providers.acme.models.0.contextWindow", 0],
  ],
});

bounds("session", {
  good: [
    ["session.dmScope", "main", "per-peer", "per-channel-peer", "per-account-channel-peer"],
    ["session.identityLinks", { alice: ["telegram:1", "irc:alice"] }],
    ["session.reset.atHour", 0, 23],
    ["session.reset.idleMinutes", 1, 525_600, "2h"],
    ["session.resetByType", { direct: { mode: "idle", idleMinutes: 30 }, group: { mode: "none" }, thread: {} }],
    ["session.resetByChannel", { irc: { mode: "daily", atHour: 3 } }],
    ["session.maintenance.pruneAfter", "1h", "30d"],
    ["session.maintenance.maxEntries", 1, 1_000_000],
    ["session.maintenance.resetArchiveRetention", 0, "0", "90d"],
    ["session.maintenance.maxDiskBytes", 1_000_000, "10gb"],
    ["session.maintenance.highWaterBytes", "1%", "100%", "1gb", 1_000_000],
    ["session.sendPolicy", { default: "deny", rules: [{ action: "allow", match: { channel: "irc" } }] }],
  ],
  bad: [
    ["session.scope", "everyone"],
    ["session.dmScope", "per-user"],
    ["session.identityLinks", { alice: ["telegram"] }, { alice: "irc:a" }],
    ["session.reset.atHour", -1, 24],
    ["session.reset.idleMinutes", 0, 525_601],
    ["session.resetByType", { room: {} }, { direct: { mode: "weekly" } }],
    ["session.maintenance.pruneAfter", 0, "0", 30, "59m", "a month"],
    ["session.maintenance.maxEntries", 0, 1_000_001],
    ["session.maintenance.maxDiskBytes", 999_999],
    ["session.maintenance.highWaterBytes", "0%", "101%", "80 %", 999_999],
    ["session.sendPolicy", { default: "ask" }, { rules: [{ action: "allow", match: { chatType: "dm" } }] }],
  ],
});

bounds("messages", {
  good: [
    ["messages.queue.mode", "collect", "followup", "steer", "interrupt"],
    ["messages.queue.debounceMs", 0, 600_000],
    ["messages.queue.cap", 1, 1_000],
    ["messages.queue.drop", "summarize", "old", "new"],
    ["messages.queue.byChannel", { irc: "steer" }],
    ["messages.inbound.debounceMs", 0, "2s", 600_000],
    ["messages.inbound.byChannel", { irc: 0 }],
    ["messages.ackReactionScope", "group-mentions", "group-all", "direct", "all", "off"],
  ],
  bad: [
    ["messages.queue.mode", "drop"],
    ["messages.queue.debounceMs", -1, 600_001],
    ["messages.queue.cap", 0, 1_001],
    ["messages.queue.drop", "all"],
    ["messages.queue.byChannel", { irc: "later" }],
    ["messages.inbound.byChannel", { irc: -1 }],
    ["messages.responsePrefix", "", "a".repeat(201)],
    ["messages.ackReactionScope", "mentions"],
  ],
});

bounds("cron", {
  good: [
    ["cron.maxConcurrentRuns", 1, 64],
    ["cron.sessionRetention", 0, "24h", "7d"],
    ["cron.runLog.maxBytes", 1_000, "1gb"],
    ["cron.runLog.keepLines", 1, 1_000_000],
    ["cron.retry.maxAttempts", 1, 20],
    ["cron.retry.backoffMs", [0], ["30s", "1m"], Array(20).fill(day)],
    ["cron.retry.retryOn", [], ["rate_limit", "overloaded", "timeout", "network"]],
    ["cron.failureAlert.after", 1, 1_000],
    ["cron.failureAlert.cooldownMs", 0, 7 * day],
  ],
  bad: [
    ["cron.maxConcurrentRuns", 0, 65],
    ["cron.sessionRetention", 24, "a day"],
    ["cron.runLog.maxBytes", 999],
    ["cron.runLog.keepLines", 0],
    ["cron.retry.maxAttempts", 0, 21],
    ["cron.retry.backoffMs", [], [-1], Array(21).fill(1)],
    ["cron.retry.retryOn", ["auth"]],
    ["cron.failureAlert.after", 0],
    ["cron.failureAlert.cooldownMs", 7 * day + 1],
  ],
});

bounds("logging and diagnostics", {
  good: [
    ["logging.level", "silent", "fatal", "error", "warn", "info", "debug", "trace"],
    ["logging.consoleStyle", "pretty", "compact", "json"],
    ["logging.maxFileBytes", 1_000, "500mb"],
    ["logging.maxFiles", 1, 100],
    ["logging.retentionDays", 1, 3_650, "7d"],
    ["logging.redactPatterns", [], ["acme-\\d+"]],
    ["diagnostics.flags", [], ["hooks.trace", "port.*"]],
    ["diagnostics.otel.endpoint", "http://127.0.0.1:4318"],
    ["diagnostics.otel.sampleRate", 0, 1],
    ["diagnostics.otel.flushIntervalMs", 1_000, 3_600_000],
  ],
  bad: [
    ["logging.level", "verbose"],
    ["logging.consoleStyle", "color"],
    ["logging.maxFileBytes", 999, "501mb"],
    ["logging.maxFiles", 0, 101],
    ["logging.retentionDays", 0, 3_651, "12h"],
    ["logging.redactPatterns", ["("], ["(a+)+$"], [""]],
    ["diagnostics.flags", ["Not A Flag"], Array(101).fill("a")],
    ["diagnostics.otel.endpoint", "collector:4318"],
    ["diagnostics.otel.sampleRate", -0.1, 1.1],
    ["diagnostics.otel.flushIntervalMs", 999],
    ["diagnostics.jaeger", {}],
  ],
});

bounds("secrets", {
  good: [
    ["secrets.providers", {}, { default: { source: "env" } }, { vault: { source: "env", allowlist: [] } }],
    [
      "secrets.providers.f",
      { source: "file", path: "secrets.json" },
      { source: "file", path: "/k", mode: "singleValue", timeoutMs: 1, maxBytes: 1 },
    ],
    [
      "secrets.providers.x",
      { source: "exec", command: "/usr/bin/pass" },
      { source: "exec", command: "C:\\bin\\pass.exe", args: ["a"], env: { A: "b" }, passEnv: ["HOME"] },
    ],
    ["secrets.defaults", { env: "default", file: "f", exec: "x" }],
  ],
  bad: [
    ["secrets.providers", { Vault: { source: "env" } }, { ["a".repeat(65)]: { source: "env" } }, { a: { source: "http" } }, { a: {} }],
    ["secrets.providers.e", { source: "env", path: "x" }, { source: "env", allowlist: ["A-B"] }],
    [
      "secrets.providers.f",
      { source: "file" },
      { source: "file", path: "" },
      { source: "file", path: "x", mode: "yaml" },
      { source: "file", path: "x", maxBytes: 0 },
    ],
    ["secrets.providers.x", { source: "exec", command: "pass" }, { source: "exec" }, { source: "exec", command: "/p", timeoutMs: 600_001 }],
    ["secrets.providers.f", { source: "file", path: "a\0b" }, { source: "exec", command: "/a\0b" }],
    [
      "secrets.providers.x",
      { source: "exec", command: "/p", args: ["a\0b"] },
      { source: "exec", command: "/p", env: { A: "a\0b" } },
      { source: "exec", command: "/p", env: { "A=B": "x" } },
    ],
    ["secrets.defaults", { env: "Not ok" }, { http: "x" }],
  ],
});

bounds("plugins and channels", {
  good: [
    ["plugins.allow", [], ["a"]],
    ["plugins.entries", {}, { a: {} }, { a: { enabled: true, config: { any: [1] }, env: { A: "x" }, grants: ["net"], required: true } }],
    ["plugins.entries.a.limits", { setupTimeoutMs: 100, startTimeoutMs: 600_000, stopTimeoutMs: "5s" }],
    ["plugins.entries.a.hooks", { timeoutMs: 1, timeouts: { "tool.before": 600_000 } }],
    ["plugins.entries.a.isolation", "worker", "process"],
    ["plugins.reload.drainMs", 0, 600_000],
    ["channels", {}, { irc: {} }, { irc: { anything: { of: "the plugin" }, accounts: { work: { nick: "svc" } } } }],
    ["channels.irc.dmPolicy", "pairing", "allowlist", "open", "disabled"],
    ["channels.irc.allowFrom", [], ["alice", 12_345], ["*"]],
    ["channels.irc.groups", { "#room": { requireMention: false, systemPrompt: "Be brief." } }],
    ["channels.irc.historyLimit", 0, 10_000],
    ["channels.irc.accounts.work.groupPolicy", "allowlist", "open", "disabled"],
    ["channels.defaults.textChunkLimit", 1, 1_000_000],
  ],
  bad: [
    ["plugins.entries", { a: { version: 1 } }, { a: true }],
    ["plugins.entries.a.limits", { setupTimeoutMs: 99 }, { stopTimeoutMs: 600_001 }],
    ["plugins.entries.a.hooks", { timeoutMs: 0 }, { timeoutMs: 600_001 }, { timeouts: { "tool.before": 0 } }],
    ["plugins.entries.a.isolation", "none"],
    ["plugins.slots", { model: "a" }],
    ["plugins.reload.drainMs", -1, 600_001],
    ["channels.irc", "on", []],
    ["channels.irc.dmPolicy", "ask"],
    ["channels.irc.allowFrom", "alice", [""]],
    ["channels.irc.historyLimit", -1, 10_001],
    ["channels.irc.accounts.work.groupPolicy", "all"],
    ["channels.defaults.textChunkLimit", 0],
    ["channels.defaults.nick", "svc"],
  ],
});

bounds("the small sections", {
  good: [
    ["tools.profile", "minimal", "coding", "messaging", "full"],
    ["tools.sessions.visibility", "self", "tree", "agent", "all"],
    ["commands", { restart: false, ownerAllowFrom: ["irc:alice"] }],
    ["bindings", [], [{ agentId: "a", match: { channel: "irc", accountId: "w", peer: { kind: "group", id: "*" }, roles: ["x"] } }]],
    ["env.vars", {}, { A: "b", lower_case: "" }],
    ["env.shellEnv.timeoutMs", 1, 600_000],
    ["meta", { lastTouchedVersion: "1.0.0", lastTouchedAt: "2026-01-01T00:00:00Z" }],
    ["$schema", "./svc.schema.json"],
  ],
  bad: [
    ["tools.profile", "root"],
    ["tools.sessions.visibility", "none"],
    ["commands", { reboot: true }],
    [
      "bindings",
      [{ agentId: "a" }],
      [{ match: { channel: "irc" } }],
      [{ agentId: "a", match: { channel: "irc", peer: { kind: "dm", id: "x" } } }],
    ],
    ["env.vars", { "A-B": "x" }, { A: 5 }],
    ["env.shellEnv.timeoutMs", 0, 600_001],
    ["meta", { note: "x" }],
    ["$schema", 5],
  ],
});
