import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { setCompiledModules } from "../sdk/worker.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Name of the project that a test file belongs to. */
    project: string;
  }
}

// `global-setup.ts` has built it.
setCompiledModules(join(import.meta.dirname, "../dist"));

/** Set by `test/run.mjs`. */
const folder = process.env.SVC_TEST_TIMES;
const begun = Math.round(performance.timeOrigin);

/** Notes after each file what this process has used so far, with its threads and the children that ended. `.ci/times.mjs` adds the processes up. */
if (folder) {
  // biome-ignore lint/correctness/noEmptyPattern: the runner takes nothing but a pattern for fixtures, of which there are none
  afterAll(({}, { name }) => {
    const { user, system } = process.cpuUsage();
    const spent = { project: inject("project"), file: name, begun, ended: Date.now(), cpuSeconds: (user + system) / 1e6 + childSeconds() };
    appendFileSync(join(folder, `${process.pid}-${begun}.jsonl`), `${JSON.stringify(spent)}\n`);
  });
}

/** CPU time of children that have ended, and of theirs, in ticks of 1/100 s; only Linux tells. */
function childSeconds(): number {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}
