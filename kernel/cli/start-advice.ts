import type { CliContext, CliTarget } from "../../sdk/types/cli.ts";

/** A command line of this program for the same profile, as a person types it. */
export function commandLine({ profile }: { profile: string }, words: string): string {
  return `svc ${profile === "" ? "" : `--profile ${profile} `}${words}`;
}

export interface StartQuestion {
  paths: Pick<CliContext["paths"], "profile">;
  config: Pick<Awaited<ReturnType<CliContext["config"]>>, "exists" | "valid" | "config">;
  /** Owner of this state directory's lock, if a gateway is running. */
  owner: { port?: number } | undefined;
  /** A copy of the config that worked is there. */
  hasLastGood?: boolean;
  /** Address where nothing answered; without it the hints are only about starting a gateway. */
  target?: Pick<CliTarget, "host" | "port" | "portSource">;
}

const ELSEWHERE = "check the address, and that a gateway runs there";

/** The next step where no gateway answers, as the end of a sentence; never a command that would be refused. Pure. */
export function startAdvice({ paths, config: { exists, valid, config }, owner, target, hasLastGood }: StartQuestion): string {
  if (target && (target.portSource === "remote" || !isThisMachine(target.host))) return ELSEWHERE;
  if (target && owner?.port !== undefined && owner.port !== target.port) {
    const source = target.portSource === "flag" ? "--port" : "SVC_GATEWAY_PORT";
    return `the gateway of this profile listens on port ${owner.port}, not on that of ${source}`;
  }
  if (!exists && hasLastGood) return lostConfig(paths);
  if (!exists) return `set it up with: ${commandLine(paths, "setup")}`;
  if (!valid) return `its config is not valid: ${commandLine(paths, "config validate")}`;
  const { mode, remote } = (config?.gateway ?? {}) as { mode?: string; remote?: { url?: string; transport?: string } };
  if (mode === "local") return `start it with: ${commandLine(paths, "gateway")}`;
  if (mode === "remote") {
    if (remote?.url || remote?.transport === "ssh") return ELSEWHERE;
    return `name the gateway elsewhere with: ${commandLine(paths, "config set gateway.remote.url wss://…")}, or run one here after: ${commandLine(paths, "config set gateway.mode local")}`;
  }
  return `allow it with: ${commandLine(paths, "config set gateway.mode local")}`;
}

function lostConfig(paths: StartQuestion["paths"]): string {
  return `its config is gone; put the last one that worked back with: ${commandLine(paths, "doctor --fix --restore-last-good")}`;
}

/** Facts about an address that does not answer as the gateway of this profile. */
export interface AnswerQuestion extends Pick<StartQuestion, "paths" | "owner" | "hasLastGood"> {
  config: Pick<StartQuestion["config"], "exists">;
  target: Pick<CliTarget, "host" | "port" | "portSource">;
  /** Process on that port, as far as the system tells. */
  holder: { pid: number; command: string } | undefined;
}

/**
 * Says why the port of this profile does not answer as its gateway should: its config is gone, or somebody else holds the port. Undefined where neither is known, and
 * for an address that was named by hand. Pure.
 */
export function answerAdvice({ paths, config, owner, hasLastGood, target, holder }: AnswerQuestion): string | undefined {
  if (!isThisMachine(target.host)) return undefined;
  if (!config.exists && hasLastGood) return lostConfig(paths);
  if (owner || (target.portSource !== "config" && target.portSource !== "default")) return undefined;
  const who = holder ? `${holder.command} (pid ${holder.pid})` : "another program";
  return `port ${target.port} is held by ${who}, not by the gateway of this profile; ${commandLine(paths, "doctor")} says what to do`;
}

/** Is a host, as it stands in an address, this machine? */
export function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}
