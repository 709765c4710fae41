import { type CliContext, defineCommand, isSvcError, type SecretFinding, type SecretsAudit } from "svc/sdk";

const COULD_NOT_RUN = 2;

/** `svc secrets audit`: what could leak, what leads nowhere, what is used twice. */
export default defineCommand({
  path: ["secrets", "audit"],
  summary: "Find plain-text secrets, dangling references and files readable by others",
  details:
    "Reads the config and the files around it and changes nothing. With --check it exits with 1 on findings and with 2 on unresolved references.",
  examples: [["In a script", "svc secrets audit --check --json"]],
  options: {
    json: { kind: "flag", description: "One JSON document on stdout" },
    check: { kind: "flag", description: "Exit with 1 on findings, with 2 on unresolved references" },
    "allow-exec": { kind: "flag", description: "Run the programs of exec providers; otherwise their references are skipped" },
  },
  run: async (cli, values) => {
    const audit = await cli.auditSecrets({ allowExec: values["allow-exec"] === true }).catch((error: unknown) => notDone(cli, error));
    if (!audit) return COULD_NOT_RUN;
    if (cli.json) cli.stdout.json({ ok: audit.findings.length === 0, ...audit });
    else print(cli, audit);
    return values.check === true ? exitCode(audit.findings) : 0;
  },
});

/** A file that cannot be read right has no secrets to judge. */
function notDone(cli: CliContext, error: unknown): undefined {
  if (!isSvcError(error) || error.code !== "invalid-config") throw error;
  const [message = "", ...where] = error.message.split("\n");
  const hint = where.join("\n");
  if (cli.json) cli.stdout.json({ ok: false, error: { type: "config", code: error.code, message, hint } });
  else cli.stderr.line(`${cli.color.red("svc:")} ${message}\n     ${hint}`);
  return undefined;
}

function exitCode(findings: readonly SecretFinding[]): number {
  if (findings.some((finding) => finding.code === "REF_UNRESOLVED")) return 2;
  return findings.length > 0 ? 1 : 0;
}

function print(cli: CliContext, { findings, skippedExec }: SecretsAudit): void {
  const { stdout, color } = cli;
  if (findings.length === 0) stdout.line(color.green("No findings."));
  else {
    const rows = findings.map(({ code, path, file, line, message }) => [
      code,
      path || "-",
      line === undefined ? file : `${file}:${line}`,
      message,
    ]);
    cli.stdout.table(["FINDING", "PATH", "FILE", "WHAT"], rows);
  }
  if (skippedExec > 0) stdout.line(color.dim(`${skippedExec} reference(s) to programs skipped; --allow-exec runs them.`));
}
