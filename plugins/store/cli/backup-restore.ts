import { resolve } from "node:path";
import { defineCommand } from "svc/sdk";
import { restoreBackup } from "../backup/restore-backup.ts";
import { storeErrors } from "../errors.ts";

/** `svc backup restore`: a backup becomes the state of this profile. */
export default defineCommand({
  path: ["backup", "restore"],
  summary: "Put a backup in the place of the state",
  details:
    "The gateway must not run. The backup is checked first. A state directory in use needs --replace; what is there is kept in before-restore-<time> beside it.\n" +
    "An interruption leaves the old state, or the next start completes the restore.",
  examples: [
    ["Into a fresh state directory", "SVC_STATE_DIR=~/svc-second svc backup restore ~/backups/svc-monday"],
    ["In the place of what is there", "svc backup restore ~/backups/svc-monday --replace"],
  ],
  positionals: [{ name: "dir", required: true }],
  options: {
    replace: { kind: "flag", description: "Set aside the state that is there" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  run: async (cli, values, [given = ""]) => {
    const dir = resolve(given);
    const owner = await cli.lockOwner();
    if (owner) throw storeErrors.restoreRunning({ pid: owner.pid });
    const file = await cli.configFile();
    const { stateDir, configPath } = cli.paths;
    const target = { stateDir, configPath, refill: file.refilled, holdState: cli.holdState };
    const report = await restoreBackup(dir, target, { replace: values.replace === true, signal: cli.signal, now: Date.now() });
    const { manifest, setAside, missingSecrets } = report;
    if (cli.json) {
      const { createdAt, svc, leftOut } = manifest;
      cli.stdout.json({ ok: true, dir, stateDir, createdAt, svc, setAside, missingSecrets, leftOut });
      return 0;
    }
    cli.stdout.line(`Restored: ${stateDir}, as it was ${manifest.createdAt}`);
    for (const path of setAside) cli.stdout.line(cli.color.dim(`  kept: ${path}`));
    for (const path of missingSecrets) cli.stdout.line(cli.color.yellow(`  to be set again: ${path}`));
    cli.stdout.line(`Next: ${await cli.startAdvice()}`);
    return 0;
  },
});
