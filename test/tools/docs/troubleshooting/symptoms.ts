/** Symptom that an operator sees, with the checks of `svc doctor` that may be behind it. */
export interface Symptom {
  title: string;
  /** Commands to look with first. */
  look: string;
  checks: Readonly<Record<string, Check>>;
}

/** One check: only what its own words in the code leave open. */
export interface Check {
  cause: string;
  /** Command or act that repairs it; left out where the `fix` of the check says it. */
  repair?: string;
  /** Part of what it says, where the code composes the message; left out where one literal is the message. */
  says?: string;
}

const skipped: Check = {
  cause: "an entry of `models.providers` lacks something, such as its key or a region",
  says: "this provider is not used: <reason>",
  repair: "`svc models status`, then set what is missing in `models.providers.<provider>`, or remove the entry",
};
const reinstall = "`svc gateway install --force`, or `svc doctor --fix`";

export const symptoms: readonly Symptom[] = [
  {
    title: "The gateway does not start",
    look: "`svc gateway status` repeats why the last start was refused; exit code 78 means that a further try changes nothing",
    checks: {
      "config/missing": {
        cause: "svc was never set up here, or `--profile`, `SVC_STATE_DIR` or `SVC_CONFIG_PATH` leads elsewhere; or the file was removed",
        says: "there is no config file",
        repair: "`svc setup`; where there was one, `svc doctor --fix --restore-last-good`",
      },
      "config/mode-missing": { cause: "a config written by hand", repair: "`svc config set gateway.mode local`" },
      "config/parse": {
        cause: "a comma, brace or quote in the file, or an `$include` that is not there",
        says: "<file>:<line>:<column> <…>",
        repair: "`svc config validate` names the line; `svc doctor --fix --restore-last-good` puts the last good file back",
      },
      "config/schema": {
        cause: "a value of the wrong kind",
        says: "<path>: expected <…>",
        repair: "`svc config validate` names the line; `svc doctor --fix --restore-last-good` puts the last good file back",
      },
      "config/unknown-keys": {
        cause: "a key that is misspelled, or of another version",
        says: "unknown key",
        repair: "`svc config unset <key>`, or `svc doctor --fix --restore-last-good`",
      },
      "config/not-in-release": {
        cause: "a key whose part comes later; the gateway runs without it",
        says: "not part of this release",
        repair: "`svc config unset <key>`",
      },
      "auth/ambiguous": {
        cause: "two ways to sign in, and none is chosen",
        says: "both token and password are set; expected an explicit gateway.auth.mode",
        repair: "`svc config set gateway.auth.mode token`",
      },
      "auth/bind-exposed": {
        cause: "others could reach the port without a secret",
        says: "refusing to bind gateway to <host>:<port> without auth",
        repair: "`svc config set gateway.bind loopback`, or `svc doctor --fix` for a token",
      },
      "port/conflict": {
        cause: "another program, or another gateway",
        repair: "`svc gateway probe`, then `svc config set gateway.port <port>`",
      },
      "siblings/port": {
        cause: "two profiles with one port",
        says: "only one of the two gateways can run",
        repair: "`svc --profile <name> config set gateway.port <port>`",
      },
      "lock/stale": { cause: "a gateway that was killed; the next start takes the lock over by itself" },
      "node/version": { cause: "an old Node", repair: "install a newer Node, then `svc gateway install --force`" },
      "native/sqlite": { cause: "Node was replaced by another major version, or the installation is not whole" },
      "boot/unclean-end": {
        cause: "the process before was killed or crashed; what it had accepted goes on",
        says: "ended without being asked to",
        repair: "`svc logs --limit 50`",
      },
      "boot/crash-loop": {
        cause: "three crashes within five minutes: the gateway is in safe mode",
        says: "safe mode",
        repair: "`svc logs --level error`, then `svc gateway call gateway.exitSafeMode`",
      },
    },
  },
  {
    title: "A command or a page does not reach it",
    look: "`svc gateway status --deep` and `svc gateway probe`",
    checks: {
      "gateway/problem": {
        cause: "a part of the running gateway reports that it does not work",
        says: "does not run",
        repair: "`svc logs --level error`, then `svc gateway restart`",
      },
      "gateway/unreachable": { cause: "it hangs, or it is still starting", repair: "`svc logs --limit 50`, then `svc gateway restart`" },
      "auth/missing": { cause: "no secret is configured", repair: "`svc doctor --fix`" },
      "auth/weak": { cause: "a short secret", repair: "`svc config set gateway.auth.token <a long random text>`" },
      "controlui/origins": { cause: "an empty list, which allows nobody" },
      "remote/missing": {
        cause: "`gateway.mode` is `remote`, and no gateway is named",
        says: "no gateway is named, so commands look for one here",
        repair: "`svc config set gateway.remote.url wss://<host>`",
      },
      "remote/plain-text": {
        cause: "the token crosses a network without encryption",
        repair: "`svc config set gateway.remote.transport ssh`, or an address with `wss://`",
      },
    },
  },
  {
    title: "There is no answer, or only quoted notes",
    look: "`svc models status --probe`, then `svc models test`",
    checks: {
      "models/none": { cause: "no language model is set up" },
      "models/key-missing": { cause: "a provider without a key", says: 'provider "<id>": <reason>' },
      "models/key-rejected": { cause: "the vendor refuses the key", says: 'provider "<id>": <reason>' },
      "models/unreachable": { cause: "the server is off, or the address is wrong", says: 'provider "<id>": <reason>' },
      "models/cooldown": {
        cause: "the vendor has answered with errors or limits",
        repair: "wait, or name a fallback: `svc models set <model>`",
      },
      "models/unknown": { cause: "a name that no provider lists", repair: "`svc models list`, then `svc models set <model>`" },
      "models/thinking": { cause: "a thinking level for a model that has none" },
      "models/local-unusable": {
        cause: "the GGUF file is missing or is none",
        says: "no model is named",
        repair: "`svc models status`, then correct `models.providers.local.models`",
      },
      "models/anthropic-skipped": skipped,
      "models/bedrock-skipped": skipped,
      "models/google-skipped": skipped,
      "models/ollama-skipped": skipped,
      "models/openai-skipped": skipped,
      "models/provider-skipped": skipped,
    },
  },
  {
    title: "A note is not found",
    look: "`svc memory status --deep`, then `svc memory search <words>`",
    checks: {
      "memory/embeddings": {
        cause: "no vectors: only words are searched",
        repair: "`svc memory status --deep` says what each provider lacks",
      },
      "memory/index-identity": { cause: "the embedding model was changed" },
      "memory/dreaming": {
        cause: "no job is run, or a workspace could not be swept",
        repair: "`svc memory dream status` says what is wrong",
      },
      "memory/backend": {
        cause: "the backend that `memory.backend` names does not answer; the builtin engine searches",
        repair: "`svc memory index --force` asks it again at once",
      },
      "memory-sidecar/program": {
        cause: "`memory.sidecar.command` is not installed, or not on the `PATH` of the gateway",
        says: "the builtin engine answers",
        repair: "install the engine, set `memory.sidecar.command`, or set `memory.backend` to `builtin`",
      },
      "memory-sidecar/collections": {
        cause: "a folder of `memory.sidecar.paths` is missing",
        says: "could not be created",
        repair: "make the folder, or take it out",
      },
      "memory-sidecar/update": {
        cause: "the engine failed or took too long",
        says: "the index is not up to date",
        repair: "`svc memory index`",
      },
      "memory-sidecar/vectors": {
        cause: "its models were never loaded",
        says: "needs vectors, and there are none",
        repair: "let the engine load its models, or set `searchMode` to `search`",
      },
      "memory/left-out": { cause: "a file too large, not text, or not readable" },
      "memory/locked": { cause: "`svc memory index` runs in another terminal" },
      "memory/orphan-temp": { cause: "a rebuild was killed" },
      "active-memory/agents": {
        cause: "`plugins.entries.active-memory.config.agents` is empty, or has a typo",
        says: "active memory is on and names no agent, so nothing happens",
        repair: "`svc config set plugins.entries.active-memory.config.agents '[\"main\"]'`",
      },
      "active-memory/searches": {
        cause: "the model that searches fails or is too slow; answers go on without notes",
        says: "searches ahead of the answers of agent",
        repair: "`svc models test`, then another `model` or a longer `timeoutMs` in its config",
      },
      "memory/sqlite-vec": { cause: "the optional extension has no binary here; searches are slower" },
      "native/sqlite-vec": { cause: "the optional extension has no binary for this system or this Node" },
      "watch/limits": { cause: "the system's limits on watching folders" },
      "workspace/shared": { cause: "two gateways with one workspace", repair: "`svc config set agents.defaults.workspace <folder>`" },
      "siblings/workspace": {
        cause: "two profiles with one workspace",
        repair: "`svc --profile <name> config set agents.defaults.workspace <folder>`",
      },
    },
  },
  {
    title: "A chat is silent, or open to strangers",
    look: "`svc channels status --probe`, `svc channels logs`, `svc pairing list`",
    checks: {
      "channels/config": { cause: "an account that is not complete", repair: "`svc channels add <channel>` shows what it needs" },
      "channels/blocked": { cause: "the platform refused the account" },
      "channels/held": {
        cause: "another gateway on this machine runs the account",
        repair: "`svc channels remove <channel>` in one of the two",
      },
      "channels/rights": { cause: "the account lacks a right on its platform" },
      "channels/binding-agent": { cause: "the agent was renamed or deleted", repair: "`svc agents list`, then correct `bindings`" },
      "channels/open": { cause: "`dmPolicy` or `groupPolicy` is `open`", repair: "`svc config set channels.<channel>.dmPolicy pairing`" },
      "channels/names": {
        cause: "`dangerouslyAllowNameMatching`",
        repair: "`svc config unset channels.<channel>.dangerouslyAllowNameMatching`",
      },
      "channels/shared-session": { cause: "the default, made for one person", repair: "`svc config set session.dmScope per-channel-peer`" },
    },
  },
  {
    title: "A webhook does nothing",
    look: "`svc hooks list --deliveries`, then `svc hooks show <uid>`",
    checks: {
      "auth/hook-token-reuse": {
        cause: "`hooks.token` is the gateway's own token",
        says: "hooks.token must differ from the gateway token and password",
        repair: "`svc hooks token --rotate`; senders need the new one",
      },
      "hooks/broken": {
        cause: "a mapping or a transform cannot be loaded",
        says: "<what is wrong with it>",
        repair: "`svc config validate`, then `svc hooks test <name>`",
      },
      "hooks/failed": { cause: "actions that were accepted and did not succeed" },
      "hooks/preset-missing": { cause: "the preset's plugin is off, failed or not installed" },
      "hooks/isolation-off": {
        cause: "somebody switched the isolation off",
        repair: "`svc config set hooks.transforms.isolation process`",
      },
      "hooks/transforms-open": {
        cause: "others on this machine can change the transforms",
        says: "<warning>",
        repair: "`chmod go-w` on what is named",
      },
      "hooks/signature-instead": {
        cause: 'meant so, if you wrote `verify.mode: "instead"`',
        repair: "`svc config set hooks.mappings.<n>.verify.mode with-token`",
      },
    },
  },
  {
    title: "A scheduled job does not run",
    look: "`svc cron list` and `svc cron runs`",
    checks: {
      "cron/store": {
        cause: "its row was changed by hand, or by another version",
        says: "cannot be read (",
        repair: "`svc cron rm <id>`, then add it again",
      },
      "cron/stuck": { cause: "a run that neither ended nor goes on", says: "is marked as running, but nothing runs it" },
      "clock/jump": {
        cause: "the clock of the machine was set by more than a day",
        says: "the clock of the system went",
        repair: "`date`; if it is wrong, `sudo timedatectl set-ntp true`",
      },
    },
  },
  {
    title: "An agent cannot use a tool",
    look: "`/tools` in the chat, and `svc approvals list`",
    checks: {
      "exec/sandbox": {
        cause: "bubblewrap is not installed, or the system forbids namespaces",
        says: "bubblewrap is missing or may not make namespaces",
      },
      "mcp/server": {
        cause: "the server does not start, does not answer, or wants a login",
        says: 'the MCP server "<name>"',
        repair: "`svc mcp status`",
      },
    },
  },
  {
    title: "A plugin does not work",
    look: "`svc plugins list`, then `svc plugins doctor`",
    checks: {
      "plugins/config": {
        cause: "its config does not fit its schema",
        says: "<key>: <…>",
        repair: "`svc plugins info <id>`, then correct it, or `svc plugins disable <id>`",
      },
      "plugins/load": {
        cause: "its code failed, or what it needs is not there",
        repair: "`svc plugins doctor`, or `svc plugins disable <id>`",
      },
      "plugins/version": {
        cause: "it was written for another version of svc",
        repair: "`svc plugins install <plugin>`, or `svc plugins disable <id>`",
      },
      "plugins/missing": {
        cause: "an entry without a plugin",
        says: "plugin <id> is not installed",
        repair: "`svc plugins install <plugin>`, or `svc doctor --fix`",
      },
      "plugins/packages": { cause: "its own packages are not installed", repair: "`svc plugins add-packages <id>`" },
      "config/warning": { cause: "a value that works and is unwise, or of no effect", says: "<key>: <…>", repair: "`svc config validate`" },
    },
  },
  {
    title: "It does not stay up as a service",
    look: "`svc gateway status --deep`; [Run svc as a service](run-as-a-service.md)",
    checks: {
      "service/port-drift": { cause: "`gateway.port` was changed", says: "config says <port>", repair: reinstall },
      "service/entry-drift": {
        cause: "the program was moved or installed anew",
        says: "the program <entryPath> is gone",
        repair: reinstall,
      },
      "service/node-missing": { cause: "Node was removed or replaced", says: "is gone, or is no Node that runs", repair: reinstall },
      "service/definition": { cause: "the definition was edited", says: "was edited since it was installed", repair: reinstall },
      "service/legacy-unit": { cause: "an older version wrote it", says: "was written by another version of svc", repair: reinstall },
      "service/env-secret": { cause: "a secret in the definition", says: "a secret belongs into the config or .env", repair: reinstall },
      "service/duplicate": { cause: "two definitions for one gateway", repair: "`svc gateway uninstall`, then `svc gateway install`" },
      "service/linger": { cause: "services of a user end with the session" },
      "service/system-unit-owner": { cause: "an administrator's unit; nothing is wrong" },
    },
  },
  {
    title: "Messages are missing, or disk and database complain",
    look: "`svc health --verbose`; [Back up and restore](backup-and-restore.md)",
    checks: {
      "state/restored": {
        cause: "the database was damaged or deleted; a snapshot took its place",
        repair: "read it, then `svc doctor --fix`",
      },
      "state/written-back": { cause: "somebody deletes files of the state directory", repair: "find out who, then `svc doctor --fix`" },
      "state/detached": {
        cause: "a copy was put in the place of the database while the gateway ran",
        says: "was put in the place of <file> while the gateway was running",
      },
      "sessions/corrupt": { cause: "rows of the database that cannot be read" },
      "store/unreachable": {
        cause: 'with `store.backend: "postgres"`: the server or the network is down',
        says: "the database does not answer",
        repair: "check the server, the network and `store.postgres.url`",
      },
      "store/unsuitable": {
        cause: "a setting of the server was changed so that a crash may lose what was acknowledged",
        says: "fsync is off",
        repair: "change the setting back and restart the gateway",
      },
      "store/listen": {
        cause: "a pooler between gateway and server that shares sessions between transactions",
        says: "notices of other gateways do not arrive",
        repair: "let `store.postgres.url` lead to the server itself",
      },
      "store/clock": { cause: "a clock without NTP", says: "the clock of the database is <n> ms ahead", repair: "set both clocks by NTP" },
      "store/connections": { cause: "a small server", says: "the database takes <n> connections", repair: "raise `max_connections`" },
      "sessions/disk": { cause: "long transcripts", repair: "`svc sessions cleanup --enforce`" },
      "sessions/orphans": { cause: "transcripts of sessions that were reset or deleted", repair: "`svc sessions cleanup --enforce`" },
      "audit/chain": {
        cause: "somebody or something changed the state database",
        says: "the audit log was changed at entry <seq>: <reason>",
      },
      "disk/free": { cause: "a disk that is nearly full", repair: "`svc doctor --fix` deletes old logs; free some more by hand" },
      "logs/size": {
        cause: "`logging.level` is `debug` or `trace`, or something is loud",
        repair: "`svc doctor --fix`, then `svc config set logging.level info`",
      },
      "state/leftovers": { cause: "a restore was killed" },
      "state/network-fs": { cause: "the state is on NFS, SMB or the like" },
      "state/perms": { cause: "a copy made with other modes" },
      "config/perms": { cause: "a file written by another program" },
    },
  },
  {
    title: "A secret is missing, or stands where it should not",
    look: "`svc secrets audit`; [Keep secrets](secrets.md)",
    checks: {
      "secrets/unresolved": {
        cause: "a variable, file or program that the config refers to gives nothing",
        says: "<path>: <reason>",
        repair: "`svc secrets audit --allow-exec` says which, then `svc secrets reload`",
      },
      "secrets/plaintext": {
        cause: "the secret is written in the config",
        says: "the secret itself is in the file",
        repair: '`svc config set <key> \'{source: "env", id: "<NAME>"}\'`',
      },
    },
  },
];
