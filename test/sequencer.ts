import { createHash } from "node:crypto";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Stories that take minutes, the longest first: one that begins late is waited for when the rest is over. A fresh clone knows no durations, and sorts by size. */
export const longest = ["guides", "cli-start", "nine-faults", "authoring", "supervisors", "channels-crash"];

/**
 * Spreads the files of isolated projects over the whole run, their longest first: stories that wait for programs share the cores with files that compute. Then
 * come the projects without isolation, one after the other: a process that runs many files ends when a file of another project is next. Groups stay apart.
 * With `--sequence.seed=N` the files of each project run in the random order of that seed, which shows whether one depends on another.
 */
export class SpreadSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = byProject(longestFirst(await super.sort(files))).map((own) => this.#shuffled(own));
    const places = new Map<TestSpecification, number>();
    for (const [nth, own] of projects.entries()) {
      for (const [i, file] of own.entries()) places.set(file, placeOf(file, nth, projects.length) + (i + 0.5) / own.length);
    }
    return [...files].sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
  }

  #shuffled(files: TestSpecification[]): TestSpecification[] {
    const { seed } = this.ctx.config.sequence;
    if (seed === undefined) return files;
    const keyOf = ({ moduleId }: TestSpecification) => createHash("sha1").update(`${seed} ${moduleId}`).digest("hex");
    return files.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
}

function longestFirst(files: readonly TestSpecification[]): TestSpecification[] {
  const rank = ({ moduleId }: TestSpecification) => longest.findIndex((name) => moduleId.endsWith(`/test/e2e/${name}.test.ts`));
  const first = files.filter((file) => rank(file) >= 0).sort((a, b) => rank(a) - rank(b));
  return [...first, ...files.filter((file) => rank(file) < 0)];
}

/** Whole numbers: the first of each group is for all isolated projects, then there is one for each project. */
function placeOf({ project: { config } }: TestSpecification, nth: number, projects: number): number {
  return config.sequence.groupOrder * (projects + 1) + (config.isolate ? 0 : nth + 1);
}

function byProject(files: TestSpecification[]): TestSpecification[][] {
  const found = new Map<string, TestSpecification[]>();
  for (const file of files) found.set(file.project.name, [...(found.get(file.project.name) ?? []), file]);
  return [...found.values()];
}
