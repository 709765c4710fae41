import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Spreads the files of each project over the whole run, its longest first: stories that wait for programs share the cores with files that compute. Files
 * without isolation come last and together, because a process that runs many of them ends when another kind is next. Groups stay apart.
 */
export class SpreadSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map<TestSpecification, number>();
    for (const own of byProject(await super.sort(files))) {
      for (const [i, file] of own.entries()) places.set(file, placeOf(file, (i + 0.5) / own.length));
    }
    return [...files].sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
  }
}

/** Whole numbers keep groups apart, and within one the files that share a process from the others. */
function placeOf({ project: { config } }: TestSpecification, share: number): number {
  return config.sequence.groupOrder * 2 + (config.isolate ? 0 : 1) + share;
}

function byProject(files: TestSpecification[]): TestSpecification[][] {
  const found = new Map<string, TestSpecification[]>();
  for (const file of files) found.set(file.project.name, [...(found.get(file.project.name) ?? []), file]);
  return [...found.values()];
}
