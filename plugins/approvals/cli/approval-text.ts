import type { CliContext, JsonObject, ResultOf } from "svc/sdk";

/** One request as `exec.approval.list` and `plugin.approval.list` answer it. */
export type Approval = ResultOf<"exec.approval.list">[number];

/** A longer command is cut here on a terminal; `--json` holds all of it. */
const MAX_SHOWN_CHARS = 4_000;
const SHORT_CHARS = 8;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The shortest beginning of an id, from 8 characters, that no other of these ids shares; ids chosen by the requester stay whole. */
export function shortId(id: string, all: readonly string[]): string {
  const own = bare(id);
  if (!uuid.test(own)) return id;
  const others = all.filter((other) => other !== id).map(bare);
  let length = SHORT_CHARS;
  while (length < own.length && others.some((other) => other.startsWith(own.slice(0, length)))) length++;
  return own.slice(0, length);
}

/** Requests that a typed id can mean: the one with exactly this id, else all whose id begins with it. */
export function matchId<T extends { id: string }>(typed: string, approvals: readonly T[]): T[] {
  const exact = approvals.filter(({ id }) => id === typed);
  return exact.length > 0 ? exact : approvals.filter(({ id }) => id.startsWith(typed) || bare(id).startsWith(typed));
}

/** A pending request with everything a person needs to decide, and the commands that answer it. */
export function printApproval(cli: CliContext, approval: Approval, { shown, now }: { shown: string; now: number }): void {
  const { color, stdout } = cli;
  const left = approval.expiresAtMs - now;
  stdout.line(`${color.bold(shown)}  ${kindOf(approval)}${originOf(approval.request)}, expires in ${duration(left)}`);
  for (const line of bodyOf(approval)) stdout.line(`  ${line}`);
  const always = offers(approval, "allow-always") ? ` [--always]` : "";
  stdout.line(color.dim(`  svc approvals allow ${shown}${always}  |  svc approvals deny ${shown}`));
}

/** Text of the request, in one line of at most 160 characters. */
export function summaryOf({ request }: Pick<Approval, "request">): string {
  const text = textOf(request.command) ?? textOf(request.title) ?? "";
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}

export function offers({ request }: Approval, decision: string): boolean {
  return Array.isArray(request.allowedDecisions) && request.allowedDecisions.includes(decision);
}

/** `8s`, `12m`, `1h4m`, `2d`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  if (days > 0) return `${days}d${hours > 0 ? `${hours}h` : ""}`;
  return hours > 0 ? `${hours}h${minutes > 0 ? `${minutes}m` : ""}` : `${minutes}m`;
}

function bodyOf({ request }: Approval): string[] {
  const { command, title, description, cwd, host, toolName, severity } = request;
  const place = [textOf(cwd) && `in ${cwd}`, textOf(host) && `on ${host}`, textOf(toolName) && `tool ${toolName}`].filter(Boolean);
  const level = severity === "critical" || severity === "warning" ? `severity: ${severity}` : undefined;
  return [textOf(command), textOf(title), textOf(description), place.join(", "), level].flatMap((line) => (line ? [cut(line)] : []));
}

function kindOf({ approvalKind, request }: Approval): string {
  if (approvalKind === "exec") return "command";
  return textOf(request.pluginId) ? `plugin ${request.pluginId}` : "plugin";
}

function originOf({ agentId, sessionKey }: JsonObject): string {
  if (textOf(agentId)) return ` by agent ${agentId}`;
  return textOf(sessionKey) ? ` in session ${sessionKey}` : "";
}

function cut(line: string): string {
  if (line.length <= MAX_SHOWN_CHARS) return line;
  return `${line.slice(0, MAX_SHOWN_CHARS)}… (${line.length - MAX_SHOWN_CHARS} more characters: svc approvals list --json)`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function bare(id: string): string {
  return id.replace(/^plugin:/, "");
}
