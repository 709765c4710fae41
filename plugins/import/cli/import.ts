import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { type CliConfigFile, type CliContext, defineCommand, isRecord, isSvcError, type SvcConfig } from "svc/sdk";
import { valueAt } from "svc/sdk/internal";
import { applyPlan } from "../apply/apply-plan.ts";
import { importErrors } from "../errors.ts";
import { type Here, planImport } from "../plan/import-plan.ts";
import type { Issue } from "../plan/merge-config.ts";
import { openSourceFolder } from "../read/folder.ts";
import { readSource } from "../read/source.ts";
import { reportDone, reportPlan } from "./report.ts";

/** `svc import`: another gateway's folder becomes config, agents, conversations and notes here. */
export default defineCommand({
  path: ["import"],
  summary: "Take over config, agents, conversations and notes from the folder of another gateway",
  details:
    "The gateway must not run; --dry-run only shows the plan, at any time. What is here stays: values that are set, conversations, notes. A second import changes nothing.\n" +
    "What does not come is listed with the reason. Channels come switched off: one account cannot serve two programs.",
  examples: [
    ["What would come, and what would not", "svc import ~/old-gateway --dry-run"],
    ["Take it over", "svc import ~/old-gateway"],
    ["Notes of a workspace that stands elsewhere", "svc import ~/old-notes --agent ops"],
  ],
  positionals: [{ name: "dir", required: true }],
  options: {
    "dry-run": { kind: "flag", description: "Show the plan, change nothing" },
    agent: { kind: "string", description: "Agent that gets the notes of a workspace; default: the one that answers", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  run: async (cli, values, [given = ""]) => {
    const isTrial = values["dry-run"] === true;
    const owner = await cli.lockOwner();
    if (owner && !isTrial) throw importErrors.importGatewayRunning({ pid: owner.pid });
    const dir = resolve(given);
    const root = await realpath(dir).catch(() => {
      throw importErrors.importSourceInvalid({ dir, reason: "there is no such folder" });
    });
    const file = await cli.configFile();
    const here = await hereOf(cli, file);
    const folder = openSourceFolder(root);
    const source = await readSource(folder, (text) => file.parse(text));
    if (!source) throw importErrors.importSourceInvalid({ dir, reason: "nothing in it is known" });
    const plan = await planImport(folder, source, here, typeof values.agent === "string" ? { agent: values.agent } : {});
    const found = { dir, kind: source.kind, ...(source.configName === undefined ? {} : { config: source.configName }) };
    if (isTrial) {
      const { changedPaths, warnings } = await file.write({ kind: "edit", apply: () => plan.config }, { dryRun: true });
      reportPlan(cli, { found, plan, changedPaths, warnings });
      return 0;
    }
    reportDone(cli, { found, plan, done: await applyPlan(cli, folder, { plan, file }), next: await cli.startAdvice() });
    return 0;
  },
});

/** @throws {SvcError} `import-not-set-up` for a config that is missing or that an import could not change */
async function hereOf(cli: CliContext, file: CliConfigFile): Promise<Here> {
  const { exists, valid, source, config } = await file.load();
  if (!exists) throw importErrors.importNotSetUp({ file: file.path, reason: "does not exist", advice: "run svc setup" });
  if (!valid || !config || !isRecord(source)) {
    throw importErrors.importNotSetUp({ file: file.path, reason: "is not valid", advice: "run svc config validate" });
  }
  const ids = (await file.manifests()).flatMap((manifest) => manifest.contributes?.channels ?? []);
  const schemas = valueAt(await file.schema(), ["properties", "channels", "properties"]);
  const channels = Object.fromEntries(ids.map((id) => [id, valueAt(schemas, [id])]));
  const trial = (tree: unknown) => file.write({ kind: "edit", apply: () => tree }, { dryRun: true });
  return {
    source,
    stateDir: cli.paths.stateDir,
    channels,
    now: Date.now(),
    signal: cli.signal,
    check: async (tree) => trial(tree).then(() => [], issuesOf),
    effective: async (tree) => (await trial(tree)).after.config as SvcConfig,
  };
}

function issuesOf(error: unknown): Issue[] {
  if (isSvcError(error, "config-rejected") && Array.isArray(error.fields.issues))
    return (error.fields.issues as Issue[]).map(withoutAdvice);
  throw error;
}

/** Lists of keys that are known are for people who write a config by hand. */
function withoutAdvice({ path, message }: Issue): Issue {
  return { path, message: message.split("; known here:")[0] as string };
}
