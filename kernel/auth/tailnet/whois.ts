import { isRecord } from "../../../sdk/is-record.ts";
import type { Env } from "../../../sdk/types/common.ts";
import { runProgram } from "../../process/run-program.ts";

/** Names whom the tailnet knows behind an address; undefined for nobody. */
export type Whois = (address: string) => Promise<string | undefined>;

export interface WhoisOptions {
  env: Env;
  now(): number;
  /** Called once for each different reason why nobody can be asked. */
  onProblem(problem: string): void;
}

/** An address belongs to the same person for a moment; a person who was removed gets no further. */
const KEEP_MS = 30_000;
const MAX_KEPT = 256;
/** Further callers are not known for now: they still have their secret. */
const MAX_ASKING = 4;
const LIMIT_MS = 3_000;
const MAX_BYTES = 256 * 1024;
const MAX_NAME_CHARS = 320;
/** Owner of machines that belong to no person. */
const TAGGED = "tagged-devices";

/** Asks `tailscale whois`, the daemon of this machine, and keeps what it said for half a minute. */
export function createWhois(options: WhoisOptions): Whois {
  const { now, onProblem } = options;
  const kept = new Map<string, { until: number; answer: Promise<string | undefined> }>();
  let asking = 0;
  let told: string | undefined;
  const ask = async (address: string): Promise<string | undefined> => {
    asking += 1;
    try {
      const result = await runWhois(address, options.env);
      if ("problem" in result && result.problem !== told) {
        told = result.problem;
        onProblem(`tailscale whois ${result.problem}`);
      }
      return "output" in result ? loginOf(result.output) : undefined;
    } finally {
      asking -= 1;
    }
  };
  return async (address) => {
    const known = kept.get(address);
    if (known && known.until > now()) return known.answer;
    if (asking >= MAX_ASKING) return undefined;
    kept.delete(address);
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    const answer = ask(address);
    kept.set(address, { until: now() + KEEP_MS, answer });
    return answer;
  };
}

function runWhois(address: string, env: Env) {
  return runProgram({
    command: "tailscale",
    args: ["whois", "--json", address],
    env: programEnv(env),
    timeoutMs: LIMIT_MS,
    maxOutputBytes: MAX_BYTES,
    problems: { late: `did not answer within ${LIMIT_MS} ms`, tooMuch: "answered too much" },
  });
}

/** Secrets of the gateway are none of its business. */
function programEnv(env: Env): Env {
  return Object.fromEntries(
    ["PATH", "HOME", "USERPROFILE", "SystemRoot"].map((name) => [name, env[name]]).filter(([, value]) => value !== undefined),
  );
}

/** Reads the login name of a person from the answer; undefined for machines of nobody and for anything unexpected. Pure. */
export function loginOf(output: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(output);
    const profile = isRecord(answer) ? answer.UserProfile : undefined;
    const login = isRecord(profile) ? profile.LoginName : undefined;
    return typeof login === "string" && login !== "" && login.length <= MAX_NAME_CHARS && login !== TAGGED ? login : undefined;
  } catch {
    return undefined;
  }
}
