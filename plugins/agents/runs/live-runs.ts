import type { Run } from "./run.ts";

/** Runs that are not settled, in order of acceptance; `version` says whether anything was read of another set. */
export class LiveRuns extends Map<string, Run> {
  version = 0;

  override set(id: string, run: Run): this {
    this.version += 1;
    return super.set(id, run);
  }

  override delete(id: string): boolean {
    this.version += 1;
    return super.delete(id);
  }
}
