import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

const root = join(import.meta.dirname, "..");

/** Projects whose tests start `bin/svc.mjs` or serve `dist/sdk/client`; the meta tests read sources only. */
const needsDist = new Set(["unit", "gateway", "e2e", "storms"]);

/**
 * Builds once before the tests. A type error does not stop them (`npm run types` and the install report those, and the compiler emits all
 * the same); a build that leaves no program does.
 */
export function setup(project: TestProject): void {
  if (!project.vitest.projects.some((p) => needsDist.has(p.name))) return;
  build();
  // Threads and child processes of the tests run compiled (test/setup.ts), so a watching run builds again, too.
  project.onTestsRerun(build);
}

function build(): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin/build.mjs"), "--if-needed"], { encoding: "utf8" });
  if (status === 0) return;
  process.stderr.write(`the build reported problems:\n${stdout}${stderr}\n`);
  if (!existsSync(join(root, "dist/sdk/index.js"))) throw new Error("the build left no dist/sdk/index.js; run: npm run build");
}
