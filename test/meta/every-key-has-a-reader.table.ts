/** Where a key is read, and code that stands there outside comments. */
interface Place {
  file: string;
  code: string;
}

const twice = (key: string, place: Place) => ({ [`agents.defaults.${key}`]: place, [`agents.list[].${key}`]: place });
/** A setting of an agent is asked for by its name. */
const setting = (key: string, file: string, config = "kit.config") =>
  twice(key, {
    file,
    code: `agentSetting(${config}, ${/prompt|execute|loop/.test(file) ? "run.agent.id" : "agent.id"}, "${key}")`,
  });
const limiter = (code: string): Place => ({ file: "kernel/auth/failure-limiter.ts", code });
const remoteTarget = (code: string): Place => ({ file: "kernel/cli/remote-target.ts", code });
const tlsFiles = (code: string): Place => ({ file: "kernel/port/tls-files.ts", code });
const policy = (code: string): Place => ({ file: "plugins/agents/tools/policy.ts", code });
const mcpSettings = (code: string): Place => ({ file: "plugins/mcp-client/settings.ts", code });
const identity = (key: string): Place => ({ file: "plugins/control-ui/bootstrap.ts", code: `agent?.identity.${key}` });
const secretFile = (code: string): Place => ({ file: "kernel/secrets/file-provider.ts", code });
const secretProgram = (code: string): Place => ({ file: "kernel/secrets/exec-provider.ts", code });
const environment = (code: string): Place => ({ file: "kernel/config/environment.ts", code });
const sidecar = (file: string, code: string): Place => ({ file: `plugins/memory-sidecar/${file}.ts`, code });
const account: Place = { file: "examples/plugin-channel/src/accounts.ts", code: "const { enabled = true," };

/**
 * Keys that reach their reader through a type of its own, by a name in a text, or before a schema has seen the file: there the compiler
 * cannot tell whose property is read.
 */
export const readElsewhere: Readonly<Record<string, Place>> = {
  // Editors read it.
  $schema: { file: "plugins/operator/cli/config-types.ts", code: "svc.schema.json" },
  "gateway.port": { file: "kernel/boot/start-plan.ts", code: "gateway?.port" },
  "gateway.auth.rateLimit.maxAttempts": limiter(">= maxAttempts"),
  "gateway.auth.rateLimit.windowMs": limiter("- windowMs"),
  "gateway.auth.rateLimit.lockoutMs": limiter("+ lockoutMs"),
  "gateway.auth.rateLimit.exemptLoopback": limiter(".exemptLoopback"),
  "gateway.tools.allow": { file: "plugins/agents/tools/outside-policy.ts", code: "lists.allow" },
  "gateway.tools.deny": { file: "plugins/agents/tools/outside-policy.ts", code: "lists.deny" },
  "gateway.remote.token": remoteTarget("text(token)"),
  "store.postgres.url": { file: "plugins/store-postgres/settings.ts", code: 'ctx.secret("store.postgres.url")' },
  "gateway.remote.password": remoteTarget("text(password)"),
  "gateway.remote.sshIdentity": remoteTarget("text(sshIdentity)"),
  "gateway.remote.tlsFingerprint": remoteTarget("text(tlsFingerprint)"),
  "gateway.tls.certPath": tlsFiles("absolute(certPath)"),
  "gateway.tls.keyPath": tlsFiles("absolute(keyPath)"),
  "gateway.tls.caPath": tlsFiles("absolute(caPath)"),
  "hooks.token": { file: "plugins/webhooks/endpoint/endpoint.ts", code: 'secretAt("hooks.token")' },
  ...twice("skipBootstrap", { file: "plugins/agents/workspace/agent-workspaces.ts", code: '"skipBootstrap")' }),
  ...setting("bootstrapMaxChars", "plugins/agents/workspace/files.ts", "config"),
  ...setting("bootstrapTotalMaxChars", "plugins/agents/workspace/files.ts", "config"),
  ...setting("thinkingDefault", "plugins/agents/runs/prompt.ts"),
  ...setting("timeoutSeconds", "plugins/agents/runs/execute.ts"),
  ...setting("maxTurns", "plugins/agents/runs/loop.ts"),
  ...twice("tools.allow", policy("level.allow")),
  ...twice("tools.deny", policy("level.deny")),
  ...twice("memorySearch.remote.apiKey", { file: "plugins/memory-core/providers/provider-settings.ts", code: "`${where}.apiKey`" }),
  ...twice("memorySearch.sidecar.extraCollections[]", sidecar("collections", "entry.pattern ?? EVERY_NOTE")),
  "memory.sidecar.paths[]": sidecar("collections", "entry.pattern ?? EVERY_NOTE"),
  "memory.sidecar.update.debounceMs": sidecar("index-keeper", "settings.update.debounceMs"),
  "memory.sidecar.update.onBoot": sidecar("backend", "update.onBoot && update.waitForBootSync"),
  "memory.sidecar.update.waitForBootSync": sidecar("backend", "update.onBoot && update.waitForBootSync"),
  "memory.sidecar.update.commandTimeoutMs": sidecar("engine", "update.commandTimeoutMs"),
  "memory.sidecar.update.updateTimeoutMs": sidecar("engine", "update.updateTimeoutMs"),
  "memory.sidecar.update.embedTimeoutMs": sidecar("engine", "update.embedTimeoutMs"),
  "memory.sidecar.limits": sidecar("settings", "own.maxResults ?? shared.maxResults"),
  "agents.list[].identity.name": identity("name"),
  "agents.list[].identity.emoji": identity("emoji"),
  "agents.list[].identity.avatar": identity("avatar"),
  "mcp.servers.<name>.env.<name>": mcpSettings('valuesOf("env")'),
  "mcp.servers.<name>.headers.<name>": mcpSettings('valuesOf("headers")'),
  "mcp.servers.<name>.oauth.clientSecret": mcpSettings("oauth.clientSecret`"),
  "mcp.servers.<name>.tools.allow": mcpSettings("isOneOf(allow)"),
  "mcp.servers.<name>.tools.deny": mcpSettings("isOneOf(deny)"),
  // Listed for clients, which choose by it.
  "models.providers.<name>.models[].cost.input": { file: "plugins/agents/models/cost.ts", code: "price.input" },
  "models.providers.<name>.models[].cost.output": { file: "plugins/agents/models/cost.ts", code: "price.output" },
  "models.providers.<name>.models[].cost.cacheRead": { file: "plugins/agents/models/cost.ts", code: "price.cacheRead" },
  "models.providers.<name>.models[].cost.cacheWrite": { file: "plugins/agents/models/cost.ts", code: "price.cacheWrite" },
  "models.providers.<name>.models[].input": { file: "plugins/agents/models/list.ts", code: "...rest," },
  "tools.allow": policy("level.allow"),
  "tools.deny": policy("level.deny"),
  "session.resetByType": { file: "plugins/agents/sessions/expiry.ts", code: "config.resetByType[type]" },
  "session.resetByChannel": { file: "plugins/agents/sessions/expiry.ts", code: "config.resetByChannel[channel]" },
  "logging.maxFileBytes": { file: "kernel/process/log-file.ts", code: "settings.maxFileBytes" },
  "logging.maxFiles": { file: "kernel/process/log-file.ts", code: "settings.maxFiles" },
  "logging.retentionDays": { file: "kernel/process/log-rotation.ts", code: "retentionDays," },
  "secrets.providers.<name>.allowlist": { file: "kernel/secrets/resolve.ts", code: "provider.allowlist" },
  "secrets.providers.<name>.path": secretFile("{ path }: FileProvider"),
  "secrets.providers.<name>.mode": secretFile("provider.mode"),
  "secrets.providers.<name>.timeoutMs": secretFile("provider.timeoutMs"),
  "secrets.providers.<name>.maxBytes": secretFile("provider.maxBytes"),
  "secrets.providers.<name>.command": secretProgram("provider.command"),
  "secrets.providers.<name>.args": secretProgram("provider.args"),
  "secrets.providers.<name>.passEnv": secretProgram("provider.passEnv"),
  "secrets.providers.<name>.env": secretProgram("provider.env"),
  "secrets.providers.<name>.maxOutputBytes": secretProgram("provider.maxOutputBytes"),
  "secrets.providers.<name>.jsonOnly": secretProgram("provider.jsonOnly"),
  "secrets.providers.<name>.trustedDirs": secretProgram("trustedDirs.map"),
  "secrets.defaults": { file: "kernel/secrets/resolve.ts", code: "defaults[ref.source]" },
  "plugins.slots.memory": { file: "kernel/loader/enablement.ts", code: "plugins.slots[slot]" },
  "channels.<name>.enabled": account,
  "channels.<name>.accounts.<name>.enabled": account,
  "env.vars": environment("section.vars"),
  "env.shellEnv.enabled": environment("section.shellEnv?.enabled"),
  "env.shellEnv.timeoutMs": environment("section.shellEnv?.timeoutMs"),
};

/** Refused keys that code reads all the same, and why nothing comes of it. */
export const stillRead: Readonly<Record<string, string>> = {
  "agents.list[].agentDir": "nothing is kept in that folder, so a delete finds nothing there",
};
