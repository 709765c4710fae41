/** Reason why a plugin could not be brought up; `code` is one of `pluginCodes`. */
export class PluginFault extends Error {
  readonly code: string;
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "PluginFault";
    this.code = code;
  }
}

/** Reason of a plugin that does not load any more because the gateway ends. */
export const gatewayStopping = { code: "dependency-failed", reason: "the gateway is stopping" } as const;

const hints: Readonly<Record<string, string>> = {
  "path-escape": "its entry must be a file inside its own folder, links resolved",
  "world-writable": "take the write permission for others away: chmod o-w on the folder and its files",
  "bad-owner": "its files must belong to the user the gateway runs as, or to root",
  hardlink: "its entry has a second name elsewhere; copy the file instead of linking it",
  integrity: "reinstall it, or accept the files as they are with: svc plugins install --confirm <id>",
  "not-allowed": "add its id to plugins.allow, or remove that list",
  denied: "remove its id from plugins.deny",
  "not-enabled": "switch it on: svc plugins enable <id>",
  "manifest-invalid": "fix svc.plugin.json; svc plugins validate <folder> shows every problem",
  "api-mismatch": "install a version of it made for this gateway",
  "config-invalid": "compare plugins.entries.<id>.config with its schema: svc plugins info <id>",
  "missing-dependency": "install or enable the plugin it needs",
  "dependency-failed": "it starts by itself once that plugin is active; see svc plugins info for its reason",
  cycle: "one of these plugins must stop requiring the next; an optional requirement ends in ?",
  "duplicate-id": "remove one of the two, or name the wanted one in plugins.load.paths",
  "slot-taken": "name it in plugins.slots to use it instead",
  "import-failed": "its module throws while loading; fix it or switch it off: svc plugins disable <id>",
  "import-timeout": "its module waits at the top level; move that into start",
  "setup-failed": "see the log for its stack",
  "setup-timeout": "setup registers and returns; move waiting into start",
  "start-failed": "see the log for its stack; svc plugins reload <id> tries again",
  "start-timeout": "start did not settle; give it a limit or raise plugins.entries.<id>.limits.startTimeoutMs",
  "permission-missing": "grant it in plugins.entries.<id>.grants",
  "undeclared-contribution": "list what it registers under contributes in svc.plugin.json",
  "contribution-conflict": "two plugins take the same name; disable one of them or rename it",
  "route-conflict": "two plugins take the same path; disable one of them or move its route",
  "reserved-name": "its methods are named <id>.<verb>; a name of a bundled plugin is free once that one is disabled",
  "invalid-registration": "fix what it registers; svc plugins info <id> names it",
  "reload-failed": "the previous instance keeps serving; fix it and try again: svc plugins reload <id>",
  "safe-mode": "it is loaded when safe mode is over; to end it now: svc gateway call gateway.exitSafeMode",
  quarantined: "once it is mended, let it load again with: svc plugins enable <id>",
  "blocked-event-loop": "report it; take the note away with: svc plugins enable <id>",
  "retry-later": "it asked to be retried; svc plugins reload <id> retries at once",
  uncaught: "its code threw outside of any call; see the log for the stack, then svc plugins reload <id>",
};

/** Advice for a state; undefined for a code without advice. */
export function hintFor(code: string, id: string): string | undefined {
  return hints[code]?.replaceAll("<id>", id);
}

/** Milliseconds before try `attempt` (from 1) of a plugin that asked to be tried later: 5 s, 10 s, 20 s … at most 5 min. */
export function retryDelayMs(attempt: number, baseMs = 5_000): number {
  return Math.min(300_000, baseMs * 2 ** Math.min(30, attempt - 1));
}
