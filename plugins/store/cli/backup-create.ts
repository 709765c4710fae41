import { dirname, join, resolve } from "node:path";
import { type CliContext, defineCommand, resolveAgents } from "svc/sdk";
import { isInside, readNotices } from "svc/sdk/internal";
import { createBackup } from "../backup/create.ts";
import { storeErrors } from "../errors.ts";
import { expectEmbedded } from "./embedded-only.ts";

/** `svc backup create`: a copy of the state of this profile, whether its gateway runs or not. */
export default defineCommand({
  path: ["backup", "create"],
  summary: "Copy the state into a folder, also while the gateway runs",
  details:
    "The folder must not exist yet, or be empty. In it are the database, the config with what it includes, notes, hook transforms, installed plugins, data of plugins and logs, and a manifest with sizes and hashes.\n" +
    "Without --with-secrets the config has no secrets, and .env and the key of this installation are left out. Either way it holds conversations: keep it private.",
  examples: [
    ["Back up what runs", "svc backup create ~/backups/svc-monday"],
    ["With everything to move to another machine", "svc backup create /mnt/usb/svc --with-secrets"],
  ],
  positionals: [{ name: "dir", required: true }],
  options: {
    "with-secrets": { kind: "flag", description: "Include the secrets of the config, .env, and the key of this installation" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  run: async (cli, values, [given = ""]) => {
    const dir = resolve(given);
    const { stateDir, configPath } = cli.paths;
    await expectEmbedded(cli, "backup create");
    await refuseDetached(cli);
    const file = await cli.configFile();
    const progress = showProgress(cli);
    const source = { stateDir, configPath, texts: await file.texts(), outside: await outsideOf(cli), version: cli.version };
    const manifest = await createBackup(source, dir, {
      withSecrets: values["with-secrets"] === true,
      signal: cli.signal,
      now: Date.now(),
      onProgress: progress.show,
    }).finally(progress.end);
    const bytes = manifest.files.reduce((sum, one) => sum + one.bytes, 0);
    if (cli.json)
      cli.stdout.json({ ok: true, dir, files: manifest.files.length, bytes, withSecrets: manifest.withSecrets, leftOut: manifest.leftOut });
    else {
      cli.stdout.line(`Backup: ${dir} (${manifest.files.length} files, ${megabytes(bytes)} MB)`);
      for (const { path, reason } of manifest.leftOut) cli.stdout.line(cli.color.dim(`  not in it: ${path}: ${reason}`));
      cli.stdout.line(`Check it: svc backup verify ${given}`);
    }
    return 0;
  },
});

/** A gateway whose database was replaced under it writes elsewhere: the file in its place is not what it knows. */
async function refuseDetached(cli: CliContext): Promise<void> {
  if (!(await cli.lockOwner())) return;
  const notice = (await readNotices(cli.paths.stateDir, Date.now())).find(({ id }) => id === "state/detached");
  if (notice) throw storeErrors.backupDetached({ path: notice.path ?? "another file" });
}

/** Notes and transforms that the config keeps somewhere else. */
async function outsideOf(cli: CliContext): Promise<string[]> {
  const { stateDir, configPath } = cli.paths;
  const { config } = await (await cli.configFile()).load();
  if (!config) return [];
  const transforms = config.hooks.transformsDir ?? join(dirname(configPath), "hooks", "transforms");
  const folders = [...resolveAgents(config, stateDir).map(({ workspace }) => workspace), ...(config.hooks.enabled ? [transforms] : [])];
  return [...new Set(folders)].filter((folder) => !isInside(stateDir, folder));
}

/** One line that is written over, for a person who waits. */
function showProgress(cli: CliContext): { show(done: { files: number; bytes: number; what: string }): void; end(): void } {
  const isShown = cli.stderr.isTTY && !cli.json;
  let last = Number.NEGATIVE_INFINITY;
  return {
    show({ files, bytes, what }) {
      if (!isShown || performance.now() - last < 200) return;
      last = performance.now();
      cli.stderr.write(`\r\x1b[2K${files} files, ${megabytes(bytes)} MB  ${what.slice(-60)}`);
    },
    end() {
      if (isShown && last > 0) cli.stderr.write("\r\x1b[2K");
    },
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
