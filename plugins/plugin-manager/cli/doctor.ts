import { type CliContext, defineCommand, printableLine } from "svc/sdk";
import { type Evidence, type Finding, findingsOf, type Severity, severities } from "../doctor/findings.ts";
import { gatherEvidence } from "../doctor/gather.ts";
import { importAndTell } from "../doctor/import-check.ts";

/** `svc plugins doctor`: every plugin with what keeps it from working; changes nothing. */
export default defineCommand({
  path: ["plugins", "doctor"],
  summary: "Show what keeps plugins from working, and how to fix it",
  details:
    "Exit code 0: nothing of --severity-min or worse; 1: findings; 2: it could not be checked. With a running gateway its states are shown;\nwithout one the plugins are imported in a separate process, and nothing of them is set up or started.",
  options: {
    "severity-min": {
      kind: "string",
      choices: severities,
      description: "Minimum severity that counts (default warning)",
      placeholder: "severity",
    },
    json: { kind: "flag", description: "One JSON document on stdout" },
    "import-only": {
      kind: "string",
      description: "Import these plugins and report to the parent process",
      placeholder: "ids",
      hidden: true,
    },
  },
  rpc: true,
  run: async (cli, values) => {
    const imported = values["import-only"];
    if (typeof imported === "string") return importAndTell(cli, imported.split(",")).then(() => 0);
    const least = severities.indexOf((values["severity-min"] ?? "warning") as Severity);
    const evidence = await gather(cli);
    if (!evidence) return 2;
    const findings = findingsOf(evidence);
    const counts = findings.some((f) => severities.indexOf(f.severity) >= least);
    if (cli.json) cli.stdout.json({ ok: !counts, source: evidence.live ? "gateway" : "manifests", plugins: rowsOf(evidence), findings });
    else print(cli, evidence, findings);
    return counts ? 1 : 0;
  },
});

/** Undefined when the check itself could not be made; the reason is on stderr, or is the JSON document. */
async function gather(cli: CliContext): Promise<Evidence | undefined> {
  try {
    return await gatherEvidence(cli);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = (error as { code?: unknown }).code;
    if (cli.json) cli.stdout.json({ ok: false, error: { type: "internal", code: typeof code === "string" ? code : "failed", message } });
    else cli.stderr.line(`${cli.color.red("svc:")} ${message}`);
    return undefined;
  }
}

function rowsOf({ candidates, live, intact }: Evidence) {
  return candidates.map(({ id, version, origin, installed, root, problem }) => {
    const now = problem ? { ...problem } : (live?.get(id) ?? { state: "ready" });
    const integrity = installed ? (intact.get(id) ? "intact" : "changed") : "unrecorded";
    return { id, version, origin, root, ...now, ...(origin === "global" ? { integrity } : {}) };
  });
}

function print(cli: CliContext, evidence: Evidence, findings: readonly Finding[]): void {
  const paint = { error: cli.color.red, warning: cli.color.yellow, info: cli.color.cyan };
  for (const { severity, id, plugin, path, message, fix } of findings) {
    cli.stdout.line(`${paint[severity](severity.padEnd(7))} ${id}  ${printableLine(`${plugin ?? path ?? ""}: ${message}`)}`);
    if (fix) cli.stdout.line(cli.color.dim(`        ${fix}`));
  }
  const able = evidence.candidates.filter((c) => !c.problem).length;
  const count = (severity: Severity) => findings.filter((f) => f.severity === severity).length;
  cli.stdout.line(
    `${evidence.candidates.length} plugins found, ${able} may load; errors ${count("error")}, warnings ${count("warning")}, notes ${count("info")}`,
  );
  if (!evidence.live) cli.stdout.line(cli.color.dim("No gateway runs here: the plugins were imported, not started."));
}
