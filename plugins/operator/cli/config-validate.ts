import { type CliContext, defineCommand, isSvcError } from "svc/sdk";
import { formatIssue } from "svc/sdk/internal";

interface Verdict {
  path: string;
  exists: boolean;
  issues: Array<{ path: string; message: string; code: string; text: string; file?: string; line?: number; column?: number }>;
  warnings: Array<{ path: string; message: string }>;
}

/** `svc config validate`: would a gateway start with this config? */
export default defineCommand({
  path: ["config", "validate"],
  summary: "Check everything a start would check",
  details:
    "Schema, rules between keys, mode, auth and bind, references to secrets, plugins' own config, and keys that are not part of this release: a start continues without those. Starts nothing, changes nothing.",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  run: async (cli) => {
    const verdict = await judge(cli);
    const ok = verdict.issues.length === 0;
    if (cli.json) cli.stdout.json({ ok, ...verdict, issues: verdict.issues.map(({ text: _, ...issue }) => issue) });
    else print(cli, verdict);
    return ok ? 0 : 1;
  },
});

async function judge(cli: CliContext): Promise<Verdict> {
  const file = await cli.configFile();
  const { exists, valid, issues, unserved, warnings: ofFile } = await file.load();
  const warnings = [...ofFile];
  const found: Verdict["issues"] = [...issues, ...unserved].map((issue) => ({ ...issue, text: formatIssue(issue) }));
  if (valid) {
    const [own, settings] = [await file.pluginIssues(), await file.settings()];
    warnings.push(...(await file.pluginWarnings()), ...settings.warnings);
    const told = (code: string) => (issue: { path: string; message: string }) => ({
      ...issue,
      code,
      text: `${issue.path}: ${issue.message}`,
    });
    found.push(...own.map(told("plugin_config")), ...settings.issues.map(told("invalid_value")));
    const refusal = await file.checkStart().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (isSvcError(refusal)) found.push({ path: "", code: refusal.code, message: refusal.message, text: refusal.message });
    else if (refusal) throw refusal;
  }
  const isTold = ({ path, message }: { path: string; message: string }) =>
    found.some((one) => one.path === path && one.message === message);
  return { path: file.path, exists, issues: found, warnings: warnings.filter((warning) => !isTold(warning)) };
}

function print(cli: CliContext, { path, issues, warnings }: Verdict): void {
  for (const { text } of issues) cli.stdout.line(cli.color.red(text));
  for (const warning of warnings) cli.stdout.line(cli.color.yellow(`warning: ${warning.path}: ${warning.message}`));
  cli.stdout.line(issues.length === 0 ? `${path} is valid.` : `${path}: ${issues.length} ${issues.length === 1 ? "problem" : "problems"}.`);
}
