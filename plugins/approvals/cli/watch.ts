import { setTimeout as sleep } from "node:timers/promises";
import { type CliClient, type CliContext, isSvcError, type JsonObject, messageOf } from "svc/sdk";
import { type Approval, printApproval, shortId, summaryOf } from "./approval-text.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Requests whose short id was shown; the oldest is forgotten beyond it. */
const MAX_SHOWN = 512;

/**
 * Shows requests as they come until the command is interrupted, and by being connected gives them somebody who can answer. A lost gateway is tried again
 * after 1 s, 2 s … 30 s.
 * @throws {SvcError} when the first connection fails, or the gateway refuses
 */
export async function watchApprovals(cli: CliContext): Promise<number> {
  const shown = new Map<string, string>();
  let pauseMs = FIRST_PAUSE_MS;
  let hasConnected = false;
  while (!cli.signal.aborted) {
    try {
      const client = await cli.connect({ scopes: ["operator.approvals"], caps: ["approvals"] });
      notice(cli, hasConnected ? "connected again" : "watching for requests; Ctrl-C ends this");
      hasConnected = true;
      pauseMs = FIRST_PAUSE_MS;
      await showUntilClosed(cli, client, shown);
      if (cli.signal.aborted) return 0;
      notice(cli, `the gateway closed the connection; trying again in ${pauseMs / 1_000} s`);
    } catch (error) {
      if (cli.signal.aborted) return 0;
      if (!hasConnected || !isSvcError(error, "gateway-unreachable")) throw error;
      notice(cli, `${messageOf(error)}; trying again in ${pauseMs / 1_000} s`);
    }
    await sleep(pauseMs, undefined, { signal: cli.signal }).catch(() => undefined);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
  return 0;
}

async function showUntilClosed(cli: CliContext, client: CliClient, shown: Map<string, string>): Promise<void> {
  const leave = () => void client.close();
  cli.signal.addEventListener("abort", leave, { once: true });
  try {
    for (const kind of ["exec", "plugin"] as const) {
      client.on(`${kind}.approval.requested`, (approval) => showRequested(cli, approval as Approval, shown));
      client.on(`${kind}.approval.resolved`, (resolved) => showResolved(cli, resolved, shown));
      for (const approval of await client.request(`${kind}.approval.list`, {})) showRequested(cli, approval, shown);
    }
    await client.closed;
  } catch (error) {
    // A connection that ends in the middle of a request has ended: the caller tries again.
    if (cli.signal.aborted || (error as { code?: unknown }).code === "connection-closed") return;
    throw error;
  } finally {
    cli.signal.removeEventListener("abort", leave);
    await client.close();
  }
}

/** A request is shown once, whether the event or the list brought it, and not again after a reconnect. */
function showRequested(cli: CliContext, approval: Approval, shown: Map<string, string>): void {
  const { id } = approval;
  if (shown.has(id)) return;
  const short = shortId(id, [...shown.keys()]);
  shown.set(id, short);
  for (const oldest of shown.keys()) {
    if (shown.size <= MAX_SHOWN) break;
    shown.delete(oldest);
  }
  if (cli.json) cli.stdout.jsonLine({ type: "requested", ...approval });
  else printApproval(cli, approval, { shown: short, now: Date.now() });
}

function showResolved(cli: CliContext, resolved: JsonObject, shown: Map<string, string>): void {
  if (cli.json) return cli.stdout.jsonLine({ type: "resolved", ...resolved });
  const { id, decision, resolvedBy, terminalReason } = resolved;
  const words =
    { "allow-once": "allowed once", "allow-always": "allowed from now on", deny: "denied" }[String(decision)] ?? String(decision);
  const how = terminalReason ? `ended without an answer: ${terminalReason}` : `${words}${resolvedBy ? ` by ${resolvedBy}` : ""}`;
  cli.stdout.line(`${shown.get(String(id)) ?? id}  ${how}: ${summaryOf({ request: resolved.request as Approval["request"] })}`);
}

function notice(cli: CliContext, message: string): void {
  if (cli.json) cli.stdout.jsonLine({ type: "notice", message });
  else cli.stderr.line(message);
}
