import type { ResultOf } from "svc/sdk";

type Status = ResultOf<"memory.dreaming.status">;
type Row = [name: string, value: string];
type Candidate = ResultOf<"memory.dreaming.candidates">["candidates"][number];
type Swept = Extract<ResultOf<"memory.dreaming.run">, { workspaces: Array<{ agentIds: string[] }> }>["workspaces"][number];

/** Rows of `svc memory dream status`, without colour. Pure. */
export function dreamRows({ enabled, frequency, timezone, job, workspaces }: Status): Row[] {
  const when = `${frequency}${timezone === undefined ? "" : ` (${timezone})`}`;
  const rows: Row[] = [
    ["Dreaming", enabled ? `on, sweeps at ${when}` : "off; plugins.entries.memory-core.config.dreaming.enabled switches it on"],
  ];
  if (job.state === "scheduled" && job.nextRunAt !== undefined) rows.push(["Next", localTime(job.nextRunAt)]);
  if (job.state === "missing") rows.push(["Problem", `no sweep will run by itself: ${job.problem ?? "unknown reason"}`]);
  return [...rows, ...workspaces.flatMap(workspaceRows)];
}

function workspaceRows({
  agentIds,
  workspace,
  entries,
  promoted,
  untrusted,
  invalid,
  diary,
  lastSweep,
  staleLock,
  problem,
  running,
}: Status["workspaces"][number]): Row[] {
  const outside = untrusted > 0 ? `, ${untrusted} from groups or outside` : "";
  const rows: Row[] = [
    ["Workspace", `${workspace} (${agentIds.join(", ")})`],
    ["Short-term", `${count(entries, "statement")}, ${promoted} promoted${outside}`],
    ["Last sweep", running ? "one is running" : lastSweep ? sweepText(lastSweep) : "none yet"],
  ];
  if (lastSweep && lastSweep.diary !== "none") rows.push(["Diary", diary]);
  if (staleLock !== undefined) rows.push(["Problem", `process ${staleLock} left its lock behind; svc memory status --fix removes it`]);
  if (invalid > 0) rows.push(["Problem", `${count(invalid, "entry", "entries")} cannot be read; svc memory status --fix removes them`]);
  const trouble = problem ?? lastSweep?.problem;
  return trouble === undefined ? rows : [...rows, ["Problem", trouble]];
}

function sweepText({ at, staged, themes, promoted, ms }: NonNullable<Status["workspaces"][number]["lastSweep"]>): string {
  return `${localTime(at)}: ${staged} staged, ${count(themes, "theme")}, ${promoted} promoted, ${(ms / 1000).toFixed(1)} s`;
}

/** True when something keeps dreaming from working. */
export function hasDreamProblem({ enabled, job, workspaces }: Status): boolean {
  return (
    (enabled && job.state === "missing") ||
    workspaces.some(
      ({ problem, lastSweep, staleLock, invalid }) => (problem ?? lastSweep?.problem ?? staleLock) !== undefined || invalid > 0,
    )
  );
}

/** Lines about the sweep of one workspace. Pure. */
export function sweptLines({ workspace, agentIds, result, error }: Swept): string[] {
  const head = `${agentIds.join(", ")} (${workspace})`;
  if (!result) return [`${head}: failed: ${error ?? "unknown reason"}`];
  const { ingested, staged, themes, promoted, skipped, diary, problem, ms } = result;
  const read = `${count(ingested.notes, "note")} and ${count(ingested.messages, "message")} read`;
  return [
    `${head}: ${read}, ${staged} staged, ${count(themes.length, "theme")}, ${promoted.length} promoted, ${(ms / 1000).toFixed(1)} s`,
    ...promoted.map(({ text, score, source }) => `  promoted ${score.toFixed(3)} ${source}: ${text}`),
    ...skipped.map(({ key, reason }) => `  left ${key}: ${reason}`),
    ...(diary === "none" ? [] : [`  the diary has a new entry, ${diary === "model" ? "written by the model" : "in the plain form"}`]),
    ...(problem === undefined ? [] : [`  problem: ${problem}`]),
  ];
}

/** Lines about one candidate; with `all` every part of its score. Pure. */
export function candidateLines(
  { key, path, startLine, endLine, snippet, score, components, signals, variety, days, blockedBy, promotedAt, conceptTags }: Candidate,
  all = false,
): string[] {
  const mark = blockedBy.length === 0 ? "promotable" : promotedAt === undefined ? "not yet" : "promoted";
  const head = `${score.toFixed(3)} ${mark.padEnd(10)} ${path}:${startLine}-${endLine}  ${snippet}`;
  if (!all) return [head];
  const weights: Row[] = [
    ["relevance", "0.30"],
    ["frequency", "0.24"],
    ["diversity", "0.15"],
    ["recency", "0.15"],
    ["consolidation", "0.10"],
    ["richness", "0.06"],
  ];
  return [
    head,
    `  key            ${key}`,
    `  evidence       ${count(signals, "signal")}, ${variety} different queries or days (${days.join(", ") || "none"})`,
    ...weights.map(([name, weight]) => `  ${name.padEnd(14)} ${components[name as keyof typeof components].toFixed(3)} × ${weight}`),
    `  ${"phase boost".padEnd(14)} + ${components.phaseBoost.toFixed(3)}`,
    `  ${"tags".padEnd(14)} ${conceptTags.join(", ") || "none"}`,
    ...blockedBy.map((reason) => `  ${"against it".padEnd(14)} ${reason}`),
  ];
}

function localTime(at: number): string {
  return new Date(at).toLocaleString("sv-SE");
}

function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}
