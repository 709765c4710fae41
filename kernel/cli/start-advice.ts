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
  /** Address where nothing answered; without it the hints are only about starting a gateway. */
  target?: Pick<CliTarget, "host" | "port" | "portSource">;
}

const ELSEWHERE = "check the address, and that a gateway runs there";

/** The next step where no gateway answers, as the end of a sentence; never a command that would be refused. Pure. */
export function startAdvice({ paths, config: { exists, valid, config }, owner, target }: StartQuestion): string {
  if (target && (target.portSource === "remote" || !isThisMachine(target.host))) return ELSEWHERE;
  if (target && owner?.port !== undefined && owner.port !== target.port) {
    const source = target.portSource === "flag" ? "--port" : "SVC_GATEWAY_PORT";
    return `the gateway of this profile listens on port ${owner.port}, not on that of ${source}`;
  }
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

/** Is a host, as it stands in an address, this machine? */
export function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}
