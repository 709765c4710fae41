/**
 * The key tree as the references list it: `path : type = default`. What one agent may override, and what one account of a channel may,
 * stands here once.
 */
export const configKeys = `
$schema : string
gateway.mode : local|remote
gateway.port : integer = 18789
gateway.bind : loopback|lan|tailnet|auto|custom = "loopback"
gateway.customBindHost : string
gateway.publicOrigin : string
gateway.auth.mode : token|password|trusted-proxy|none
gateway.auth.token : string|SecretRef
gateway.auth.password : string|SecretRef
gateway.auth.trustedProxy.userHeader : string
gateway.auth.trustedProxy.requiredHeaders : list of string = []
gateway.auth.trustedProxy.allowUsers : list of string = []
gateway.auth.trustedProxy.allowLoopback : boolean = false
gateway.auth.trustedProxy.scopes : list of operator.admin|operator.approvals|operator.pairing|operator.read|operator.write = ["operator.admin","operator.approvals","operator.pairing","operator.read","operator.write"]
gateway.auth.rateLimit.maxAttempts : integer = 10
gateway.auth.rateLimit.windowMs : integer|string = "1m"
gateway.auth.rateLimit.lockoutMs : integer|string = "5m"
gateway.auth.rateLimit.exemptLoopback : boolean = false
gateway.auth.allowTailscale : boolean
gateway.trustedProxies : list of string = []
gateway.allowRealIpFallback : boolean = false
gateway.controlUi.enabled : boolean = true
gateway.controlUi.basePath : string = "/"
gateway.controlUi.root : string
gateway.controlUi.allowedOrigins : list of string
gateway.controlUi.dangerouslyAllowHostHeaderOriginFallback : boolean = false
gateway.http.maxBodyBytes : integer|string = "20mb"
gateway.http.endpoints.models.enabled : boolean = true
gateway.http.endpoints.embeddings.enabled : boolean = true
gateway.http.endpoints.chatCompletions.enabled : boolean = true
gateway.http.endpoints.chatCompletions.images.allowUrl : boolean = false
gateway.http.endpoints.chatCompletions.images.urlAllowlist : list of string = []
gateway.http.endpoints.responses.enabled : boolean = true
gateway.http.endpoints.responses.maxUrlParts : integer = 8
gateway.http.endpoints.responses.images.allowUrl : boolean = true
gateway.http.endpoints.responses.images.urlAllowlist : list of string = []
gateway.http.endpoints.responses.files.allowUrl : boolean = true
gateway.http.endpoints.responses.files.urlAllowlist : list of string = []
gateway.http.endpoints.responses.files.allowedMimes : list of string = ["text/plain","text/markdown","text/html","text/csv","application/json","application/pdf"]
gateway.http.endpoints.responses.files.maxBytes : integer|string = 5242880
gateway.http.endpoints.responses.files.maxChars : integer = 60000
gateway.http.endpoints.responses.files.maxRedirects : integer = 3
gateway.http.endpoints.responses.files.timeoutMs : integer|string = "10s"
gateway.http.endpoints.responses.files.pdf.maxPages : integer = 4
gateway.http.endpoints.responses.files.pdf.maxPixels : integer = 4000000
gateway.http.endpoints.responses.files.pdf.minTextChars : integer = 200
gateway.http.endpoints.toolsInvoke.enabled : boolean = true
gateway.http.securityHeaders.strictTransportSecurity : string|false
gateway.tools.allow : list of string = []
gateway.tools.deny : list of string = []
gateway.tls.enabled : boolean = false
gateway.tls.certPath : string
gateway.tls.keyPath : string
gateway.tls.caPath : string
gateway.tailscale.mode : off|serve|funnel = "off"
gateway.tailscale.resetOnExit : boolean = false
gateway.remote.url : string
gateway.remote.transport : direct|ssh = "direct"
gateway.remote.token : string|SecretRef
gateway.remote.password : string|SecretRef
gateway.remote.sshTarget : string
gateway.remote.sshIdentity : string
gateway.remote.tlsFingerprint : string
gateway.reload.mode : off|hot|restart|hybrid = "hybrid"
gateway.reload.debounceMs : integer|string = 300
gateway.reload.deferralTimeoutMs : integer|string = "5m"
gateway.shutdown.drainMs : integer|string = "20s"
gateway.channelHealthCheckMinutes : integer|string = 5
gateway.channelStaleEventThresholdMinutes : integer|string = 30
gateway.channelMaxRestartsPerHour : integer = 10
hooks.enabled : boolean = false
hooks.token : string|SecretRef
hooks.path : string = "/hooks"
hooks.allowedAgentIds : list of string
hooks.defaultSessionKey : string
hooks.allowRequestSessionKey : boolean = false
hooks.allowedSessionKeyPrefixes : list of string
hooks.presets : list of string = []
hooks.transformsDir : string = "<config dir>/hooks/transforms"
hooks.maxBodyBytes : integer|string = 262144
hooks.mappings : list of object = []
hooks.mappings[].id : string = "mapping-<n>"
hooks.mappings[].match.path : string
hooks.mappings[].match.source : string
hooks.mappings[].action : wake|agent = "agent"
hooks.mappings[].wakeMode : now|next-heartbeat = "now"
hooks.mappings[].name : string
hooks.mappings[].agentId : string
hooks.mappings[].sessionKey : string
hooks.mappings[].messageTemplate : string
hooks.mappings[].textTemplate : string
hooks.mappings[].deliver : boolean = true
hooks.mappings[].channel : string = "last"
hooks.mappings[].to : string
hooks.mappings[].model : string
hooks.mappings[].thinking : string
hooks.mappings[].timeoutSeconds : integer|string
hooks.mappings[].sessionMode : isolated|persistent = "isolated"
hooks.mappings[].allowUnsafeExternalContent : boolean = false
hooks.mappings[].forEach : string
hooks.mappings[].transform.module : string
hooks.mappings[].transform.export : string
hooks.mappings[].verify.provider : github|stripe|slack|standard-webhooks|hmac
hooks.mappings[].verify.secret : string|SecretRef
hooks.mappings[].verify.secrets : list of string|SecretRef
hooks.mappings[].verify.toleranceSeconds : integer|string = 300
hooks.mappings[].verify.mode : with-token|instead = "with-token"
hooks.mappings[].verify.header : string
hooks.mappings[].verify.prefix : string
hooks.mappings[].verify.encoding : hex|base64 = "hex"
hooks.mappings[].verify.timestampHeader : string
hooks.mappings[].verify.idHeader : string
hooks.mappings[].maxBodyBytes : integer|string
hooks.transforms.isolation : process|worker|off = "process"
hooks.transforms.allowNet : boolean = false
hooks.transforms.timeoutMs : integer|string = "5s"
agents.defaults.workspace : string = "<state dir>/workspace"
agents.defaults.skipBootstrap : boolean = false
agents.defaults.bootstrapMaxChars : integer = 20000
agents.defaults.bootstrapTotalMaxChars : integer = 150000
agents.defaults.model : string|object
agents.defaults.model.primary : string
agents.defaults.model.fallbacks : list of string = []
agents.defaults.thinkingDefault : off|minimal|low|medium|high = "low"
agents.defaults.timeoutSeconds : integer|string = 600
agents.defaults.contextTokens : integer
agents.defaults.maxTurns : integer = 50
agents.defaults.skills.deny : list of string = []
agents.defaults.tools.profile : minimal|coding|messaging|full = "full"
agents.defaults.tools.allow : list of string = []
agents.defaults.tools.deny : list of string = []
agents.defaults.heartbeat.every : number|string = "30m"
agents.defaults.heartbeat.target : string = "none"
agents.defaults.heartbeat.to : string
agents.defaults.heartbeat.accountId : string
agents.defaults.heartbeat.model : string
agents.defaults.heartbeat.prompt : string
agents.defaults.heartbeat.session : string = "main"
agents.defaults.heartbeat.ackMaxChars : integer = 300
agents.defaults.heartbeat.activeHours.start : string
agents.defaults.heartbeat.activeHours.end : string
agents.defaults.heartbeat.activeHours.timezone : string
agents.defaults.heartbeat.lightContext : boolean = false
agents.defaults.heartbeat.isolatedSession : boolean = false
agents.defaults.heartbeat.timeoutSeconds : integer|string
agents.defaults.heartbeat.directPolicy : allow|block = "allow"
agents.defaults.memorySearch.enabled : boolean = true
agents.defaults.memorySearch.provider : string
agents.defaults.memorySearch.model : string
agents.defaults.memorySearch.fallback : string = "none"
agents.defaults.memorySearch.outputDimensionality : integer
agents.defaults.memorySearch.inputType : string
agents.defaults.memorySearch.queryInputType : string
agents.defaults.memorySearch.documentInputType : string
agents.defaults.memorySearch.remote.baseUrl : string
agents.defaults.memorySearch.remote.apiKey : string|SecretRef
agents.defaults.memorySearch.remote.headers.<name> : string
agents.defaults.memorySearch.remote.batch.enabled : boolean = false
agents.defaults.memorySearch.remote.batch.wait : boolean = true
agents.defaults.memorySearch.remote.batch.concurrency : integer = 2
agents.defaults.memorySearch.remote.batch.pollIntervalMs : integer|string = 2000
agents.defaults.memorySearch.remote.batch.timeoutMinutes : integer|string = 60
agents.defaults.memorySearch.local.modelPath : string
agents.defaults.memorySearch.local.modelCacheDir : string
agents.defaults.memorySearch.local.sha256 : string
agents.defaults.memorySearch.sources : list of memory|sessions = ["memory"]
agents.defaults.memorySearch.extraPaths : list of string = []
agents.defaults.memorySearch.multimodal.enabled : boolean = false
agents.defaults.memorySearch.multimodal.modalities : list of image|audio|all = ["all"]
agents.defaults.memorySearch.multimodal.maxFileBytes : integer|string = 10000000
agents.defaults.memorySearch.chunking.tokens : integer = 400
agents.defaults.memorySearch.chunking.overlap : integer = 80
agents.defaults.memorySearch.store.path : string = "<state dir>/memory/{agentId}.sqlite"
agents.defaults.memorySearch.store.vector.enabled : boolean = true
agents.defaults.memorySearch.store.vector.extensionPath : string
agents.defaults.memorySearch.store.fts.tokenizer : unicode61|trigram = "unicode61"
agents.defaults.memorySearch.cache.enabled : boolean = false
agents.defaults.memorySearch.cache.maxEntries : integer = 50000
agents.defaults.memorySearch.query.maxResults : integer = 6
agents.defaults.memorySearch.query.minScore : number = 0.35
agents.defaults.memorySearch.query.hybrid.enabled : boolean = true
agents.defaults.memorySearch.query.hybrid.vectorWeight : number = 0.7
agents.defaults.memorySearch.query.hybrid.textWeight : number = 0.3
agents.defaults.memorySearch.query.hybrid.candidateMultiplier : integer = 4
agents.defaults.memorySearch.query.hybrid.mmr.enabled : boolean = false
agents.defaults.memorySearch.query.hybrid.mmr.lambda : number = 0.7
agents.defaults.memorySearch.query.hybrid.temporalDecay.enabled : boolean = false
agents.defaults.memorySearch.query.hybrid.temporalDecay.halfLifeDays : integer|string = 30
agents.defaults.memorySearch.limits.maxResults : integer = 6
agents.defaults.memorySearch.limits.maxSnippetChars : integer = 700
agents.defaults.memorySearch.limits.maxInjectedChars : integer
agents.defaults.memorySearch.limits.timeoutMs : integer|string = 4000
agents.defaults.memorySearch.sync.watch : boolean = true
agents.defaults.memorySearch.sync.watchDebounceMs : integer|string = 1500
agents.defaults.memorySearch.sync.onSessionStart : boolean = true
agents.defaults.memorySearch.sync.onSearch : boolean = true
agents.defaults.memorySearch.sync.intervalMinutes : integer|string = 0
agents.defaults.memorySearch.sync.sessions.deltaBytes : integer|string = 100000
agents.defaults.memorySearch.sync.sessions.deltaMessages : integer = 50
agents.defaults.memorySearch.experimental.sessionMemory : boolean = false
agents.defaults.memorySearch.sidecar.extraCollections : list of object = []
agents.defaults.memorySearch.sidecar.extraCollections[].path : string
agents.defaults.memorySearch.sidecar.extraCollections[].name : string
agents.defaults.memorySearch.sidecar.extraCollections[].pattern : string = "**/*.md"
agents.defaults.models : object = {}
agents.defaults.models.<name>.alias : string
agents.defaults.models.<name>.params : object
agents.defaults.maxConcurrent : integer = 4
agents.list : list of object = []
agents.list[].id : string
agents.list[].name : string
agents.list[].default : boolean = false
agents.list[].agentDir : string = "<state dir>/agents/<agentId>"
agents.list[].identity.name : string
agents.list[].identity.emoji : string
agents.list[].identity.avatar : string
agents.list[].groupChat.mentionPatterns : list of string = []
memory.backend : string = "builtin"
memory.citations : auto|on|off = "auto"
memory.sidecar.command : string = "qmd"
memory.sidecar.searchMode : search|vsearch|query = "search"
memory.sidecar.includeDefaultMemory : boolean = true
memory.sidecar.paths : list of object = []
memory.sidecar.paths[].name : string
memory.sidecar.paths[].path : string
memory.sidecar.paths[].pattern : string = "**/*.md"
memory.sidecar.sessions.enabled : boolean = false
memory.sidecar.sessions.retentionDays : integer|string
memory.sidecar.sessions.exportDir : string
memory.sidecar.update.interval : number|string = "5m"
memory.sidecar.update.debounceMs : integer|string = "15s"
memory.sidecar.update.onBoot : boolean = true
memory.sidecar.update.waitForBootSync : boolean = false
memory.sidecar.update.embedInterval : number|string
memory.sidecar.update.commandTimeoutMs : integer|string = "30s"
memory.sidecar.update.updateTimeoutMs : integer|string = "2m"
memory.sidecar.update.embedTimeoutMs : integer|string = "2m"
memory.sidecar.limits.maxResults : integer = 6
memory.sidecar.limits.maxSnippetChars : integer = 700
memory.sidecar.limits.maxInjectedChars : integer = 4000
memory.sidecar.limits.timeoutMs : integer|string = 4000
memory.sidecar.scope.default : allow|deny = "deny"
memory.sidecar.scope.rules : list of object = [{"action":"allow","match":{"chatType":"direct"}},{"action":"allow","match":{"chatType":"channel"}}]
memory.sidecar.scope.rules[].action : allow|deny
memory.sidecar.scope.rules[].match.channel : string
memory.sidecar.scope.rules[].match.chatType : direct|group|channel
memory.sidecar.scope.rules[].match.keyPrefix : string
memory.sidecar.scope.rules[].match.rawKeyPrefix : string
models.mode : merge|replace = "merge"
models.providers.<name>.baseUrl : string
models.providers.<name>.apiKey : string|SecretRef
models.providers.<name>.api : openai-completions|openai-responses|anthropic-messages|google-generative-ai|bedrock-converse|ollama = "openai-completions"
models.providers.<name>.auth : api-key|aws-sdk|none = "api-key"
models.providers.<name>.headers.<name> : string
models.providers.<name>.timeoutSeconds : integer|string
models.providers.<name>.silenceSeconds : integer|string
models.providers.<name>.params : object
models.providers.<name>.models : list of object
models.providers.<name>.models[].id : string
models.providers.<name>.models[].name : string
models.providers.<name>.models[].modelPath : string
models.providers.<name>.models[].input : list of text|image|pdf|audio = ["text"]
models.providers.<name>.models[].tools : boolean = true
models.providers.<name>.models[].contextWindow : integer
models.providers.<name>.models[].maxTokens : integer
models.providers.<name>.models[].reasoning : boolean = false
models.providers.<name>.models[].cost.input : number
models.providers.<name>.models[].cost.output : number
models.providers.<name>.models[].cost.cacheRead : number
models.providers.<name>.models[].cost.cacheWrite : number
tools.profile : minimal|coding|messaging|full = "full"
tools.allow : list of string = []
tools.deny : list of string = []
tools.sessions.visibility : self|tree|agent|all = "tree"
session.scope : per-sender|global = "per-sender"
session.dmScope : main|per-peer|per-channel-peer|per-account-channel-peer = "main"
session.identityLinks.<name> : list of string
session.reset.mode : none|daily|idle = "daily"
session.reset.atHour : integer = 4
session.reset.idleMinutes : integer|string
session.resetByType.direct.mode : none|daily|idle
session.resetByType.direct.atHour : integer
session.resetByType.direct.idleMinutes : integer|string
session.resetByType.group.mode : none|daily|idle
session.resetByType.group.atHour : integer
session.resetByType.group.idleMinutes : integer|string
session.resetByType.thread.mode : none|daily|idle
session.resetByType.thread.atHour : integer
session.resetByType.thread.idleMinutes : integer|string
session.resetByChannel.<name>.mode : none|daily|idle
session.resetByChannel.<name>.atHour : integer
session.resetByChannel.<name>.idleMinutes : integer|string
session.resetTriggers : list of string = ["/new","/reset"]
session.maintenance.mode : enforce|warn|off = "enforce"
session.maintenance.pruneAfter : string = "30d"
session.maintenance.maxEntries : integer = 500
session.maintenance.resetArchiveRetention : 0|string = "30d"
session.maintenance.maxDiskBytes : integer|string = "2gb"
session.maintenance.highWaterBytes : integer|string|string = "80%"
session.sendPolicy.default : allow|deny = "allow"
session.sendPolicy.rules : list of object = []
session.sendPolicy.rules[].action : allow|deny
session.sendPolicy.rules[].match.channel : string
session.sendPolicy.rules[].match.chatType : direct|group|channel
session.sendPolicy.rules[].match.keyPrefix : string
session.sendPolicy.rules[].match.rawKeyPrefix : string
messages.queue.mode : collect|followup|steer|interrupt = "collect"
messages.queue.debounceMs : integer|string = 1000
messages.queue.cap : integer = 20
messages.queue.drop : summarize|old|new = "summarize"
messages.queue.byChannel.<name> : collect|followup|steer|interrupt
messages.inbound.debounceMs : integer|string = 2000
messages.inbound.byChannel.<name> : integer|string
messages.responsePrefix : string
messages.ackReaction : string
messages.ackReactionScope : group-mentions|group-all|direct|all|off = "group-mentions"
cron.enabled : boolean = true
cron.maxConcurrentRuns : integer = 2
cron.skipMissedJobs : boolean = false
cron.sessionRetention : 0|string = "24h"
cron.runLog.maxBytes : integer|string = "2mb"
cron.runLog.keepLines : integer = 2000
cron.retry.maxAttempts : integer = 3
cron.retry.backoffMs : list of integer|string = [30000,60000,300000]
cron.retry.retryOn : list of rate_limit|overloaded|timeout|network = ["rate_limit","overloaded","timeout","network"]
cron.failureAlert.enabled : boolean = false
cron.failureAlert.after : integer = 2
cron.failureAlert.cooldownMs : integer|string = "1h"
cron.failureAlert.channel : string = "last"
cron.failureAlert.to : string
store.backend : sqlite|postgres = "sqlite"
store.postgres.url : string|SecretRef
store.postgres.schema : string = "svc"
store.postgres.pool : integer = 4
store.postgres.tls : verify-full|off = "verify-full"
store.lease.ttlMs : integer|string = 10000
mcp.servers : object = {}
mcp.servers.<name>.command : string
mcp.servers.<name>.args : list of string = []
mcp.servers.<name>.env.<name> : string|SecretRef
mcp.servers.<name>.cwd : string
mcp.servers.<name>.url : string
mcp.servers.<name>.headers.<name> : string|SecretRef
mcp.servers.<name>.oauth.clientId : string
mcp.servers.<name>.oauth.clientSecret : string|SecretRef
mcp.servers.<name>.protocol : legacy|auto
mcp.servers.<name>.tools.allow : list of string
mcp.servers.<name>.tools.deny : list of string = []
mcp.servers.<name>.approval : never|writes|always = "writes"
mcp.servers.<name>.timeoutSeconds : integer|string = 120
mcp.servers.<name>.startSeconds : integer|string = 30
logging.level : trace|debug|info|warn|error|fatal|silent = "info"
logging.consoleLevel : trace|debug|info|warn|error|fatal|silent = "info"
logging.consoleStyle : pretty|compact|json
logging.file : string
logging.maxFileBytes : integer|string = "50mb"
logging.maxFiles : integer = 5
logging.retentionDays : integer|string = 7
logging.redactPatterns : list of string = []
diagnostics.enabled : boolean = true
diagnostics.flags : list of string = []
diagnostics.otel.enabled : boolean = false
diagnostics.otel.endpoint : string
diagnostics.otel.headers.<name> : string|SecretRef
diagnostics.otel.serviceName : string = "svc"
diagnostics.otel.sampleRate : number = 1
diagnostics.otel.flushIntervalMs : integer|string = "1m"
diagnostics.prometheus.enabled : boolean = false
secrets.providers.<name>.source : env|file|exec
secrets.providers.<name>.allowlist : list of string
secrets.providers.<name>.path : string
secrets.providers.<name>.mode : json|singleValue = "json"
secrets.providers.<name>.timeoutMs : integer|string = "5s"
secrets.providers.<name>.maxBytes : integer|string = "1mb"
secrets.providers.<name>.command : string
secrets.providers.<name>.args : list of string = []
secrets.providers.<name>.passEnv : list of string = []
secrets.providers.<name>.env.<name> : string
secrets.providers.<name>.maxOutputBytes : integer|string = "1mb"
secrets.providers.<name>.jsonOnly : boolean = true
secrets.providers.<name>.trustedDirs : list of string
secrets.defaults.env : string = "default"
secrets.defaults.file : string = "default"
secrets.defaults.exec : string = "default"
plugins.enabled : boolean = true
plugins.allow : list of string
plugins.deny : list of string = []
plugins.load.paths : list of string = []
plugins.slots.memory : string = "memory-core"
plugins.entries.<name>.enabled : boolean
plugins.entries.<name>.config : object = {}
plugins.entries.<name>.env.<name> : string|SecretRef
plugins.entries.<name>.grants : list of string = []
plugins.entries.<name>.hooks.timeoutMs : integer|string
plugins.entries.<name>.hooks.timeouts.<name> : integer|string
plugins.entries.<name>.required : boolean = false
plugins.entries.<name>.limits.setupTimeoutMs : integer|string = 30000
plugins.entries.<name>.limits.startTimeoutMs : integer|string = 30000
plugins.entries.<name>.limits.stopTimeoutMs : integer|string = 5000
plugins.entries.<name>.isolation : worker|process
plugins.reload.watch : boolean = false
plugins.reload.drainMs : integer|string = "10s"
channels.defaults.dmPolicy : pairing|allowlist|open|disabled = "pairing"
channels.defaults.groupPolicy : allowlist|open|disabled = "allowlist"
channels.defaults.historyLimit : integer = 50
channels.defaults.textChunkLimit : integer = 4000
channels.defaults.chunkMode : length|newline = "length"
channels.defaults.markdown.tables : code|bullets|off = "code"
channels.defaults.replyToMode : off|first|all = "first"
channels.defaults.healthMonitor.enabled : boolean = true
channels.defaults.heartbeat.showOk : boolean = false
channels.defaults.heartbeat.showAlerts : boolean = true
channels.defaults.heartbeat.useIndicator : boolean = true
channels.<name>.enabled : boolean = true
channels.<name>.dmPolicy : pairing|allowlist|open|disabled
channels.<name>.allowFrom : list of string|integer = []
channels.<name>.groupPolicy : allowlist|open|disabled
channels.<name>.groupAllowFrom : list of string|integer
channels.<name>.groups.<name>.requireMention : boolean = true
channels.<name>.groups.<name>.allowFrom : list of string|integer
channels.<name>.groups.<name>.enabled : boolean = true
channels.<name>.groups.<name>.tools.allow : list of string
channels.<name>.groups.<name>.tools.deny : list of string
channels.<name>.groups.<name>.systemPrompt : string
channels.<name>.implicitMentions.replyToBot : boolean = true
channels.<name>.implicitMentions.quotedBot : boolean = true
channels.<name>.implicitMentions.threadParticipation : boolean = true
channels.<name>.dangerouslyAllowNameMatching : boolean = false
channels.<name>.historyLimit : integer
channels.<name>.healthMonitor.enabled : boolean
channels.<name>.heartbeat.showOk : boolean
channels.<name>.heartbeat.showAlerts : boolean
channels.<name>.heartbeat.useIndicator : boolean
channels.<name>.textChunkLimit : integer
channels.<name>.chunkMode : length|newline
channels.<name>.markdown.tables : code|bullets|off
channels.<name>.replyToMode : off|first|all
channels.<name>.defaultAccount : string
commands.restart : boolean = true
commands.ownerAllowFrom : list of string = []
bindings : list of object = []
bindings[].agentId : string
bindings[].match.channel : string
bindings[].match.accountId : string
bindings[].match.peer.kind : direct|group|channel
bindings[].match.peer.id : string
bindings[].match.parentPeer.kind : direct|group|channel
bindings[].match.parentPeer.id : string
bindings[].match.teamId : string
bindings[].match.roles : list of string
env.vars.<name> : string
env.shellEnv.enabled : boolean = false
env.shellEnv.timeoutMs : integer|string = "15s"
meta.lastTouchedVersion : string
meta.lastTouchedAt : string
`;

/** Keys of `agents.defaults` that one agent has as well. */
export const perAgentOnlyInDefaults = ["agents.defaults.models", "agents.defaults.maxConcurrent"];

/** Keys of a channel that its accounts do not have. */
export const channelOnly = ["defaultAccount"];
