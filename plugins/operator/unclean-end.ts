import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CliContext } from "svc/sdk";

/** The last gateway, when it is gone although nobody had asked it to end; undefined while one runs. It keeps the file while it runs. */
export async function uncleanEnd(cli: Pick<CliContext, "paths" | "lockOwner">): Promise<{ startedAt: number } | undefined> {
  if (await cli.lockOwner()) return undefined;
  try {
    const { running } = JSON.parse(await readFile(join(cli.paths.stateDir, "gateway", "boots.json"), "utf8")) as {
      running?: { startedAt?: unknown };
    };
    return typeof running?.startedAt === "number" ? { startedAt: running.startedAt } : undefined;
  } catch {
    return undefined; // never started, or not readable
  }
}
