import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../servers/ports.ts";
import { configured, freshHome, root } from "./_cli.ts";
import { command } from "./_command.ts";
import type { Finished, Home } from "./_process.ts";

/** Page that shows what these stories have seen. */
export const page = join(root, "sdk/docs/faults.md");

/** A home whose gateway listens on a port of its config, as one of an operator does, with few plugins. */
export interface FaultHome extends Home {
  port: number;
}

export async function faultHome(): Promise<FaultHome> {
  const home = await freshHome();
  delete home.env.SVC_GATEWAY_PORT;
  const port = await freePort();
  await configured(home, configOf(port));
  await chmod(home.stateDir, 0o700);
  await chmod(join(home.stateDir, "svc.json"), 0o600);
  return { ...home, port };
}

export const secret = "nine-faults-token-123456";
export const configOf = (port: number) => ({
  gateway: { mode: "local", port, auth: { token: secret }, reload: { debounceMs: 10 } },
  plugins: { allow: ["store", "agents", "model-recall"] },
});

/** Everything an operator is told, line by line. */
export interface Seen {
  status: string[];
  gatewayStatus: string[];
  doctor: string[];
  health: string[];
  readyz: string[];
  log: string[];
}

/** Runs a command of the operator. */
export type Run = (home: Home, args: string[]) => Promise<Finished>;

/** Asks everybody an operator would ask. @param since how long the log was before the fault */
export async function look(home: FaultHome, { since = 0, run = command }: { since?: number; run?: Run } = {}): Promise<Seen> {
  const shown = async (args: string[], pick: (lines: string[]) => string[]) => {
    const { stdout, stderr } = await run(home, args);
    return pick(linesOf(stdout + stderr)).map((line) => plain(home, line));
  };
  // First: what it collects anew the others are told as well.
  const health = await shown(["health", "--verbose"], (lines) =>
    lines.filter((line) => !/^(Plugins|Agent|Queues|Model|Memory|warning)\b.*: /.test(line)),
  );
  return {
    status: await shown(["status"], issuesIn),
    gatewayStatus: await shown(["gateway", "status"], troubleIn),
    doctor: await shown(["doctor"], (lines) => findingsIn(lines)),
    health,
    readyz: [plain(home, await readiness(home.port))],
    log: (await logLines(home, since)).map((line) => plain(home, line)),
  };
}

export async function logLength(home: Home): Promise<number> {
  let bytes = 0;
  for (const name of await logNames(home)) bytes += (await stat(join(home.stateDir, "logs", name))).size;
  return bytes;
}

const linesOf = (text: string) => text.split("\n").filter((line) => line.trim() !== "");

/** A table with its issues, or the one sentence why there is none. */
function issuesIn(lines: string[]): string[] {
  const at = lines.indexOf("Issues");
  if (at >= 0)
    return lines.slice(
      at + 1,
      lines.findIndex((line, i) => i > at && !line.startsWith("  ")),
    );
  return lines.some((line) => line.startsWith("Item "))
    ? ["nothing: the table is as ever"]
    : lines.filter((line) => !line.startsWith("warning: "));
}

function troubleIn(lines: string[]): string[] {
  const wanted =
    /^(Runtime|Connectivity probe|Problem|Last refusal|Last error|Port): |^Config: .*\((missing|invalid)|^Config reload: (?!active)|^ {2}|^(Start|Set|Its|Allow) /;
  return lines.filter((line) => wanted.test(line));
}

/** Findings that count, with their remedies. */
function findingsIn(lines: string[]): string[] {
  const kept = lines.filter(
    (line, i) => /^(error|warning)( |:)/.test(line) || (line.startsWith("  ") && /^(error|warning) /.test(lines[i - 1] ?? "")),
  );
  return kept.filter((line) => !line.startsWith("warning: ")).map((line) => line.replace(/^ +/, "→ ").replace(/ {2,}/g, " "));
}

async function readiness(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  if (!answer) return "no answer";
  const text = await answer.text();
  if (!text.startsWith('{"ready"')) return `${answer.status}, from another program`;
  const { ready, phase, failing = [], problems = {} } = JSON.parse(text) as Record<string, unknown>;
  return `${answer.status} ${JSON.stringify({ ready, phase, failing, problems })}`;
}

async function logNames({ stateDir }: Home): Promise<string[]> {
  const names = await readdir(join(stateDir, "logs")).catch(() => []);
  return names.filter((name) => name.startsWith("gateway-") && !name.startsWith("gateway-2020")).sort();
}

/** Warnings and errors of the log since then. */
export async function loggedSince(home: FaultHome, since: number): Promise<string[]> {
  return (await logLines(home, since)).map((line) => plain(home, line));
}

async function logLines(home: Home, since: number): Promise<string[]> {
  const texts = await Promise.all((await logNames(home)).map((name) => readFile(join(home.stateDir, "logs", name), "utf8")));
  const lines = linesOf(texts.join("").slice(since)).map((line) => JSON.parse(line) as { level: string; msg: string });
  const counted = lines.filter(
    ({ level, msg }) => level !== "info" && !msg.startsWith("running as root") && !/^(connection |the event loop was blocked)/.test(msg),
  );
  const told = counted.map(({ level, msg }) => `${level} ${msg}`);
  return told.length === 0 ? ["nothing"] : [...new Set(told)];
}

/** The same line on every machine and in every run. Pure. */
export function plain({ stateDir, port }: Pick<FaultHome, "stateDir" | "port">, line: string): string {
  const home = stateDir.replace(/\/\.svc$/, "");
  return line
    .replaceAll("\n", "; ")
    .replaceAll(home, "~")
    .replaceAll("MainThread", "node")
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d/g, "<time>")
    .replace(/ to \d{4}-\d\d-\d\d\b/g, " to <date>")
    .replace(/\.(corrupt|unreadable)\.\d+/g, ".$1.<time>")
    .replace(/gateway\.[0-9a-f]{8}\.lock/g, "gateway.<hash>.lock")
    .replace(/pid \d+/g, "pid <pid>")
    .replace(/\b(process) \d+/g, "$1 <pid>")
    .replace(/config set gateway\.port \d+/, "config set gateway.port <free port>")
    .replaceAll(String(port), "<port>")
    .replace(/\b\d+(\.\d+)? MB\b/g, "<n> MB")
    .replace(/\(\d+ %\)/g, "(<n> %)")
    .replace(/\(\d+ms\)/g, "(<n>ms)")
    .replace(/\bup [\dhms]+\b/g, "up <n>s")
    .replace(/event loop p99 [\d.]+ ms( \(degraded\))?/g, "event loop p99 <n> ms")
    .replace(/(root|[\w-]+) may not/g, "<user> may not")
    .replace(/\(0\.\d+\.\d+, /g, "(<version>, ");
}

/** One fault as the page tells of it. */
export interface Told {
  title: string;
  about: string;
  seen: Seen;
  /** The one command, as it was run. */
  repair: string;
  /** Lines of the log after the repair; absent where there are none. */
  after?: string[];
}

const rows: ReadonlyArray<[keyof Seen, string]> = [
  ["status", "`svc status`"],
  ["gatewayStatus", "`svc gateway status`"],
  ["doctor", "`svc doctor`"],
  ["health", "`svc health`"],
  ["readyz", "`/readyz`"],
  ["log", "log"],
];

/** A section of the page. Pure. */
export function section({ title, about, seen, repair, after }: Told): string {
  const cell = (lines: readonly string[]) => lines.map((line) => `\`${line.replaceAll("|", "\\|").trim()}\``).join("<br>") || "nothing";
  const table = rows.map(([key, name]) => `| ${name} | ${cell(seen[key])} |`);
  if (after) table.push(`| log, afterwards | ${cell(after)} |`);
  return [`## ${title}`, "", about, "", "| Where | What it says |", "|---|---|", ...table, "", `**Repair:** \`${repair}\``].join("\n");
}

/** The sections of a page, by their titles. Pure. */
export function sectionsOf(text: string): Map<string, string> {
  const parts = text.split(/^(?=## )/m).slice(1);
  return new Map(parts.map((part) => [/^## (.+)$/m.exec(part)?.[1] ?? "", part.trim()]));
}

const introduction = `# What you see when something breaks

Nine faults, and for each what the commands, the probe and the log say, and the one command that repairs it. Where the gateway has ended, a supervisor starts it again by itself
(\`svc gateway install\`); without one, \`svc gateway\` does. \`svc gateway status\` and \`svc doctor\` work without a gateway and without a valid config; \`svc status\` and \`svc health\` ask the gateway.

What stands here was seen by a test that brings each fault about in a real gateway (\`test/e2e/nine-faults.test.ts\`, \`SVC_WRITE_PAGES=1\` writes the page anew). Ports, times, figures and names of users are put in brackets.
`;

/** Order of the page. */
export const titles = [
  "The process is killed",
  "Memory runs short",
  "The disk is full",
  "The database is damaged",
  "The config is lost",
  "Files may not be used",
  "Two gateways want one port",
  "The clock goes a year ahead",
  "Another program holds the port",
] as const;

/** The page with sections put in their places. Pure. */
export function pageWith(text: string, told: readonly Told[]): string {
  const sections = sectionsOf(text);
  for (const one of told) sections.set(one.title, section(one));
  return `${[introduction.trim(), ...titles.flatMap((title) => sections.get(title) ?? [])].join("\n\n")}\n`;
}
