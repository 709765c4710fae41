import { readFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { get as secureGet } from "node:https";
import { join } from "node:path";
import { type CliContext, isRecord, printableLine, sleep } from "svc/sdk";
import { errors } from "./errors.ts";

/** Longest wait for a gateway that was just started. */
export const READY_LIMIT_MS = 30_000;
const POLL_MS = 250;
const ASK_LIMIT_MS = 1_000;
const MAX_ANSWER_CHARS = 10_000;

/** How a gateway's `/readyz` answers: ready, its phase, or nothing. */
type Readiness = { isReady: boolean; phase?: string | undefined } | undefined;

export interface ReadyQuestion {
  port: number;
  /** Wall clock: refusals and log lines from before are of another start. */
  since: number;
  /** Process that ran before the start; its answers do not count. */
  oldPid?: number | undefined;
  limitMs?: number;
}

/**
 * Waits until the gateway of this profile answers `/readyz`.
 * @throws {SvcError} `service-not-ready` with what it said last
 */
export async function waitForReady(
  cli: CliContext,
  { port, since, oldPid, limitMs = READY_LIMIT_MS }: ReadyQuestion,
): Promise<{ pid: number }> {
  const isSecure = await servesTls(cli);
  const deadline = performance.now() + limitMs;
  for (;;) {
    const owner = await cli.lockOwner();
    const answer = owner && owner.pid !== oldPid ? await readiness(port, isSecure) : undefined;
    if (owner && answer?.isReady) return { pid: owner.pid };
    const refusal = await refusalSince(cli, since);
    if (refusal !== undefined) throw errors.serviceNotReady({ reason: refusal });
    if (answer?.phase === "safe-mode") throw errors.serviceNotReady({ reason: "it is in safe mode after several crashes; see svc doctor" });
    if (performance.now() >= deadline || cli.signal.aborted) {
      const reason = (await newestError(cli, since)) ?? `nothing answered on port ${port} within ${Math.round(limitMs / 1_000)} s`;
      throw errors.serviceNotReady({ reason });
    }
    await sleep(POLL_MS, cli.signal).catch(() => undefined);
  }
}

async function servesTls(cli: CliContext): Promise<boolean> {
  const { gateway } = ((await cli.config()).config ?? {}) as { gateway?: { tls?: { enabled?: boolean } } };
  return gateway?.tls?.enabled === true;
}

/** Nothing secret is asked or told, so any certificate will do. */
function readiness(port: number, isSecure: boolean): Promise<Readiness> {
  const signal = AbortSignal.timeout(ASK_LIMIT_MS);
  const options = { host: "127.0.0.1", port, path: "/readyz", agent: false as const, rejectUnauthorized: false, signal };
  return new Promise((resolve) => {
    const onAnswer = (res: IncomingMessage) => {
      let body = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => {
        body = (body + chunk).slice(0, MAX_ANSWER_CHARS);
      });
      res.on("error", () => resolve(undefined));
      res.on("end", () => resolve({ isReady: res.statusCode === 200, phase: phaseOf(body) }));
    };
    const request = (isSecure ? secureGet : get)(options, onAnswer);
    request.on("error", () => resolve(undefined));
  });
}

function phaseOf(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isRecord(value) && typeof value.phase === "string" ? value.phase : undefined;
  } catch {
    return undefined;
  }
}

/** The refusal that a start left behind; undefined when there is none since then. */
export async function refusalSince({ paths }: Pick<CliContext, "paths">, since: number): Promise<string | undefined> {
  const text = await readFile(join(paths.stateDir, "gateway", "last-refusal.json"), "utf8").catch(() => "{}");
  try {
    const { ts, message } = JSON.parse(text) as { ts?: unknown; message?: unknown };
    return typeof ts === "number" && ts >= since && typeof message === "string" ? printableLine(message) : undefined;
  } catch {
    return undefined;
  }
}

/** Message of the newest error in the log that is not older than `since`. */
export async function newestError(cli: Pick<CliContext, "config" | "logs">, since: number): Promise<string | undefined> {
  const { logging } = ((await cli.config()).config ?? {}) as { logging?: { file?: string } };
  const { lines } = await cli.logs.tail(logging?.file, { limit: 500, maxBytes: 250_000 }).catch(() => ({ lines: [] as string[] }));
  for (const line of lines.toReversed()) {
    const found = errorIn(line, since);
    if (found !== undefined) return found;
  }
  return undefined;
}

function errorIn(line: string, since: number): string | undefined {
  try {
    const { ts, level, msg } = JSON.parse(line) as Record<string, unknown>;
    const isError = (level === "error" || level === "fatal") && typeof msg === "string" && typeof ts === "string";
    return isError && Date.parse(ts) >= since ? printableLine(msg).slice(0, 500) : undefined;
  } catch {
    return undefined; // not a line of svc
  }
}
