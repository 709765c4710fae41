import { resolve } from "node:path";
import { defineCommand } from "svc/sdk";
import { verifyBackup } from "../backup/verify.ts";

/** `svc backup verify`: every file against the manifest, and the database against itself. */
export default defineCommand({
  path: ["backup", "verify"],
  summary: "Check that a backup is whole",
  details:
    "Compares every file with the manifest, looks for files that it does not know, and reads every page of the database. Exit code 1: something is wrong.",
  positionals: [{ name: "dir", required: true }],
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  run: async (cli, _, [given = ""]) => {
    const dir = resolve(given);
    const { manifest, problems } = await verifyBackup(dir, cli.signal);
    const { createdAt, svc, database, withSecrets, files } = manifest;
    if (cli.json)
      cli.stdout.json({
        ok: problems.length === 0,
        dir,
        createdAt,
        svc,
        database: database ?? null,
        withSecrets,
        files: files.length,
        problems,
      });
    else {
      for (const { path, problem } of problems) cli.stdout.line(`${cli.color.red("damaged")} ${path}: ${problem}`);
      const verdict = problems.length === 0 ? cli.color.green("whole") : cli.color.red("damaged");
      cli.stdout.line(`${dir}: ${verdict}; made ${createdAt} by svc ${svc}, ${files.length} files${withSecrets ? ", with secrets" : ""}`);
    }
    return problems.length === 0 ? 0 : 1;
  },
});
