import { type CliContext, type PluginCandidate, printableLine } from "svc/sdk";
import { installPackages, type PackagesOutcome } from "./install-packages.ts";

/** Runs an install for a command: a line that is drawn over on a terminal, a line for every tenth elsewhere. */
export async function runInstall(cli: CliContext, candidate: PluginCandidate): Promise<PackagesOutcome> {
  let tenth = -1;
  let drawn = false;
  const progress = (done: number, total: number) => {
    const text = `packages of ${candidate.id}: ${done} of ${total}`;
    if (cli.stderr.isTTY) {
      drawn = true;
      cli.stderr.write(`\r${text}`);
      return;
    }
    const now = total === 0 ? 10 : Math.floor((done * 10) / total);
    if (now > tenth) cli.stderr.line(text);
    tenth = Math.max(tenth, now);
  };
  try {
    return await installPackages(candidate, {
      vendor: await cli.vendorPackages(),
      env: cli.env,
      signal: cli.signal,
      fileLock: cli.withFileLock,
      progress,
      isIdle: async () => (await cli.lockOwner()) === undefined,
    });
  } finally {
    if (drawn) cli.stderr.write("\n");
  }
}

/** Outcome in a sentence. */
export function outcomeText(id: string, outcome: PackagesOutcome): string {
  if (outcome.state === "none") return `${id} has no packages of its own; nothing is to be installed.`;
  if (outcome.state === "present") return `The packages of ${id} are installed.`;
  return printableLine(`Installed ${outcome.packages.join(", ")} for ${id}.`);
}
