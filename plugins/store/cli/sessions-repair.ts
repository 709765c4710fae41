import { basename, join } from "node:path";
import { createError, defineCommand } from "svc/sdk";
import { storeErrors } from "../errors.ts";
import { restoredFigures, restoredNotice } from "../incidents.ts";
import { Refusal } from "../refusal.ts";
import { repairDatabase } from "../repair.ts";
import { expectEmbedded } from "./embedded-only.ts";

/** `svc sessions repair`: the state database is checked in full and made whole. */
export default defineCommand({
  path: ["sessions", "repair"],
  summary: "Check the state database, and repair what is damaged",
  details:
    "The gateway must not run. A damaged database is kept aside; the newest snapshot and what can still be read take its place.\n" +
    "Rows that do not parse are moved to a file beside it. A start repairs a damaged database as well; this also looks into one that was closed cleanly.",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  run: async (cli) => {
    await expectEmbedded(cli, "sessions repair");
    const owner = await cli.lockOwner();
    if (owner) throw storeErrors.repairRunning({ pid: owner.pid });
    const path = join(cli.paths.stateDir, "state.sqlite");
    const now = Date.now();
    const done = await cli
      .holdState(() => repairDatabase(path, { now }))
      .catch((error: unknown) => {
        throw error instanceof Refusal ? createError(storeErrors, error.code, error.fields) : error;
      });
    const { restored, keptRows } = done ?? {};
    if (cli.json) {
      const figures = restored && { ...restoredFigures(restored), damaged: restored.damaged ?? null, fault: restored.fault };
      cli.stdout.json({ ok: true, path, exists: done !== undefined, restored: figures ?? null, unreadable: keptRows ?? null });
      return 0;
    }
    if (!done) cli.stdout.line("There is no state database yet.");
    else if (!restored && !keptRows) cli.stdout.line("Nothing to repair: the state database is whole.");
    if (restored) cli.stdout.line(`Repaired: ${restoredNotice(restored, { path, now }).message}`);
    if (keptRows) cli.stdout.line(`Taken out: ${keptRows.count} rows that cannot be read; they are kept in ${basename(keptRows.path)}`);
    return 0;
  },
});
