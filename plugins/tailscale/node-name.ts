import { execFile } from "node:child_process";
import { isRecord } from "svc/sdk";

/** Environment and limit of a run of `tailscale`. */
export interface ProgramOptions {
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** Why the port cannot be published, and what to do. */
export class PublishFailure extends Error {
  readonly advice: string;
  constructor(reason: string, advice: string) {
    super(reason);
    this.advice = advice;
  }
}

const LIMIT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Runs `tailscale` once to its end. @throws {PublishFailure} */
export function runTailscale(args: readonly string[], { env, signal }: ProgramOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env, signal, timeout: LIMIT_MS, maxBuffer: MAX_BYTES, killSignal: "SIGKILL" as const };
    execFile("tailscale", [...args], options, (error, stdout) => {
      if (error) reject(failureOf(error, `tailscale ${args.join(" ")}`));
      else resolve(stdout);
    });
  });
}

/** Words for a program that could not be run, or ended badly. */
export function failureOf(error: Error & { code?: unknown; killed?: boolean }, what: string): PublishFailure {
  if (error.code === "ENOENT") return new PublishFailure("there is no program tailscale on the PATH", "install Tailscale");
  const how = error.killed
    ? "did not end in time"
    : `ended with ${typeof error.code === "number" ? `code ${error.code}` : (error.code ?? error.message)}`;
  return new PublishFailure(`${what} ${how}`, "see tailscale status");
}

/** Name of this machine in its tailnet, without the root dot. @throws {PublishFailure} when it is not connected */
export async function nodeName(options: ProgramOptions): Promise<string> {
  return nameIn(await runTailscale(["status", "--json", "--peers=false"], options));
}

/** Reads the name from the daemon's answer. Pure. @throws {PublishFailure} */
export function nameIn(output: string): string {
  const status = parsed(output);
  const state = isRecord(status) ? status.BackendState : undefined;
  if (state !== "Running") {
    throw new PublishFailure(
      `tailscale is not connected (${typeof state === "string" ? state.slice(0, 40) : "no state"})`,
      "run tailscale up",
    );
  }
  const self = isRecord(status) ? status.Self : undefined;
  const name = isRecord(self) && typeof self.DNSName === "string" ? self.DNSName.replace(/\.$/, "").toLowerCase() : "";
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name) && name.length <= 253) return name;
  throw new PublishFailure("tailscale status names no DNS name of this machine", "enable MagicDNS and HTTPS certificates for the tailnet");
}

function parsed(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
