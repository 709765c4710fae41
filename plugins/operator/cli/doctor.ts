import { createInterface } from "node:readline/promises";
import {
  type CliContext,
  type CliValues,
  commonErrors,
  type DoctorFinding,
  defineCommand,
  isSvcError,
  messageOf,
  printableLine,
} from "svc/sdk";
import { unknownChecks } from "../doctor/checks.ts";
import { findingsOf, type Severity, severities } from "../doctor/findings.ts";
import { applyFixes, type FixResult } from "../doctor/fixes.ts";
import { gatherEvidence } from "../doctor/gather.ts";
import { lineDiff } from "../doctor/line-diff.ts";

/** `svc doctor`: what is wrong with this installation, and with --fix the repair of what needs no decision. */
export default defineCommand({
  path: ["doctor"],
  summary: "Find what is wrong with this installation, and fix it on request",
  details:
    "Changes nothing without --fix. Exit code 0: nothing of --severity-min or worse; 1: findings; 2: it could not be checked.\nWith a running gateway, the checks of its plugins run as well.",
  examples: [
    ["Put the last config back that worked", "svc doctor --fix --restore-last-good"],
    ["Only some checks", "svc doctor --only config/perms,state/perms"],
  ],
  options: {
    fix: { kind: "flag", description: "Fix what can be fixed without a decision, then check again" },
    json: { kind: "flag", description: "One JSON document on stdout" },
    "severity-min": {
      kind: "string",
      choices: severities,
      description: "Minimum severity that counts (default warning)",
      placeholder: "severity",
    },
    only: { kind: "string", description: "Only these checks, separated by commas", placeholder: "ids" },
    skip: { kind: "string", description: "Not these checks, separated by commas", placeholder: "ids" },
    yes: { kind: "flag", description: "Restore the last-good config without asking" },
    "restore-last-good": { kind: "flag", description: "With --fix: restore the last-good config when the present one does not load" },
  },
  rpc: true,
  run: async (cli, values) => {
    try {
      return await examine(cli, values);
    } catch (error) {
      if (isSvcError(error, "usage")) throw error;
      const error_ = { type: "internal", code: isSvcError(error) ? error.code : "failed", message: messageOf(error) };
      if (cli.json) cli.stdout.json({ ok: false, error: error_ });
      else cli.stderr.line(`${cli.color.red("svc:")} ${error_.message}`);
      return 2;
    }
  },
});

async function examine(cli: CliContext, values: CliValues): Promise<number> {
  let findings = await look(cli, values);
  const fixes: FixResult[] = [];
  if (values.fix === true) {
    fixes.push(...(await restore(cli, values, findings)));
    findings = await mend(cli, values, { findings, fixes });
  }
  const least = severities.indexOf((values["severity-min"] ?? "warning") as Severity);
  const counts = findings.some((f) => severities.indexOf(f.severity) >= least);
  if (cli.json) cli.stdout.json({ ok: !counts, findings, ...(values.fix === true ? { fixes } : {}) });
  else print(cli, findings, fixes);
  return counts ? 1 : 0;
}

/** Limit of the looks: a fault may only show once another one is mended, as a config that does not load hides what is in it. */
const MENDING_ROUNDS = 3;

/** Mends what can be mended, nothing twice, and adds what was done to `fixes`. @returns what is left */
async function mend(
  cli: CliContext,
  values: CliValues,
  state: { findings: DoctorFinding[]; fixes: FixResult[] },
): Promise<DoctorFinding[]> {
  const seen = new Set<string>();
  const keyOf = ({ id, path }: DoctorFinding) => `${id} ${path}`;
  let { findings } = state;
  for (let round = 0; round < MENDING_ROUNDS; round++) {
    const due = findings.filter((finding) => finding.fixable && !seen.has(keyOf(finding)));
    if (round > 0 && due.length === 0) break;
    for (const finding of due) seen.add(keyOf(finding));
    state.fixes.push(...(await applyFixes(cli, due)));
    findings = await look(cli, values);
  }
  return findings;
}

async function look(cli: CliContext, values: CliValues): Promise<DoctorFinding[]> {
  const findings = findingsOf(await gatherEvidence(cli));
  const manifests = await (await cli.configFile()).manifests();
  const ids = (flag: "only" | "skip") => {
    const text = values[flag];
    if (typeof text !== "string") return undefined;
    const asked = text.split(",").map((id) => id.trim());
    const { unknown, known } = unknownChecks(asked, { manifests, found: findings });
    if (unknown.length === 0) return asked;
    const message = `doctor --${flag}: unknown ${unknown.length === 1 ? "check" : "checks"} ${unknown.map((id) => `"${id}"`).join(", ")}`;
    throw commonErrors.usage({ message: `${message}; expected some of ${known.join(", ")}` });
  };
  const [only, skip] = [ids("only"), ids("skip")];
  return findings.filter(({ id }) => (only?.includes(id) ?? true) && !skip?.includes(id));
}

/** Restores the last-good config: by the flag, or after the difference was shown to a person who agreed. */
async function restore(cli: CliContext, values: CliValues, findings: readonly DoctorFinding[]): Promise<FixResult[]> {
  const broken = findings.some((f) => f.fixable && /^(config\/(missing|parse|schema|unknown-keys)|auth\/ambiguous)$/.test(f.id));
  const asked = values["restore-last-good"] === true;
  const isPerson = cli.stdout.isTTY && cli.stderr.isTTY && !cli.json;
  if (!broken || (!asked && !isPerson)) return [];
  const file = await cli.configFile();
  const result = (done: boolean, message: string): FixResult[] => [{ id: "config/restore", path: file.path, done, message }];
  try {
    if (isPerson) {
      const plan = await file.restoreLastGood({ dryRun: true });
      for (const line of lineDiff(file.redactedText(plan.broken) || "(does not parse)", file.redactedText(plan.lastGood)))
        cli.stderr.line(line);
      if (!asked && values.yes !== true && !(await agrees(cli))) return result(false, "left as it is");
    }
    const { rejected } = await file.restoreLastGood();
    return result(true, `the last-good config is back${rejected === undefined ? "" : `; the broken one is kept as ${rejected}`}`);
  } catch (error) {
    return result(false, messageOf(error));
  }
}

async function agrees(cli: CliContext): Promise<boolean> {
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await ask.question("Put the last-good config back? [y/N] ", { signal: cli.signal })).trim());
  } finally {
    ask.close();
  }
}

function print(cli: CliContext, findings: readonly DoctorFinding[], fixes: readonly FixResult[]): void {
  const { color, stdout } = cli;
  for (const { id, path, done, message } of fixes) {
    stdout.line(`${done ? color.green("fixed  ") : color.red("failed ")} ${id}  ${path ?? ""}: ${message}`);
  }
  const paint = { error: color.red, warning: color.yellow, info: color.cyan };
  for (const { severity, id, path, message, fix } of findings) {
    stdout.line(
      `${paint[severity](severity.padEnd(7))} ${id}  ${printableLine(`${path && !message.includes(path) ? `${path}: ` : ""}${message}`)}`,
    );
    if (fix) stdout.line(color.dim(`        ${fix}`));
  }
  const count = (severity: Severity) => findings.filter((f) => f.severity === severity).length;
  stdout.line(
    findings.length === 0
      ? color.green("Nothing found.")
      : `errors ${count("error")}, warnings ${count("warning")}, notes ${count("info")}`,
  );
}
