import { type ChatCommand, type ConfigService, messageOf } from "svc/sdk";
import type { DreamingStatus } from "./dreaming-types.ts";

const HELP = "Expected /dreaming status, on, off or help.";
const ABOUT =
  "At night I go through what was noted, said and searched for lately. What was asked for again and again goes into MEMORY.md with its evidence; DREAMS.md tells of it. " +
  "Notes are never changed. /dreaming status says how things stand; on and off change the config.";

export interface DreamingCommandDeps {
  status(): Promise<DreamingStatus>;
  /** The one writer of the config. */
  config(): ConfigService;
}

/** `/dreaming`: how things stand, for everybody who may write; on and off for administrators. */
export function dreamingCommand({ status, config }: DreamingCommandDeps): ChatCommand {
  return {
    name: "dreaming",
    help: "status, on, off or help: sweeps of the short-term memory at night",
    scope: "write",
    scopeFor: (argument) => (isSwitch(argument) ? "admin" : undefined),
    isForOwners: true,
    async run({ argument, by }) {
      const word = argument.trim().toLowerCase();
      if (word === "help") return `${ABOUT} ${HELP}`;
      if (word === "" || word === "status") return statusText(await status());
      if (!isSwitch(word)) return HELP;
      const enabled = word === "on";
      const entries = { "memory-core": { config: { dreaming: { enabled } } } };
      try {
        await config().patch({ plugins: { entries } }, { note: `/dreaming ${word} by ${by}` });
      } catch (error) {
        return `Dreaming was not switched ${word}: ${messageOf(error)}`;
      }
      const after = await status();
      return enabled ? `Dreaming is on. ${jobText(after)}` : "Dreaming is off. What was promoted, the diary and the notes stay.";
    },
  };
}

function isSwitch(argument: string): boolean {
  return /^\s{0,8}(?:on|off)\s{0,8}$/i.test(argument);
}

/** State of dreaming in a few lines. Pure. */
export function statusText(status: DreamingStatus): string {
  const first = status.enabled ? `Dreaming is on. ${jobText(status)}` : "Dreaming is off; /dreaming on switches it on.";
  const rows = status.workspaces.map(({ agentIds, entries, promoted, lastSweep, problem, running }) => {
    const counts = `${agentIds.join(", ")}: ${entries} statements, ${promoted} promoted`;
    const last = lastSweep
      ? `; last sweep ${new Date(lastSweep.at).toISOString().slice(0, 16).replace("T", " ")} UTC, ${lastSweep.promoted} promoted`
      : "; not swept yet";
    return `${counts}${running ? "; a sweep is running" : last}${problem === undefined ? "" : `; problem: ${problem}`}`;
  });
  return [first, ...rows].join("\n");
}

function jobText({ job, frequency, timezone }: DreamingStatus): string {
  const when = `${frequency}${timezone === undefined ? "" : ` (${timezone})`}`;
  if (job.state === "missing") return `But no sweep will run by itself: ${job.problem}.`;
  const next =
    job.state === "scheduled" && job.nextRunAt !== undefined
      ? `, next at ${new Date(job.nextRunAt).toISOString().slice(0, 16).replace("T", " ")} UTC`
      : "";
  return `Sweeps at ${when}${next}.`;
}
