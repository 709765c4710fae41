import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Folder of this run of the tests, for what several test files use and one of them makes (`test/e2e/_made-once.ts`). */
    madeOnce: string;
  }
}

const root = join(import.meta.dirname, "..");

/** Projects whose tests start `bin/svc.mjs` or serve `dist/sdk/client`; the meta tests read sources only. */
const needsDist = new Set(["unit", "gateway", "e2e", "storms"]);

/**
 * Builds once before the tests. A type error does not stop them (`npm run types` and the install report those, and the compiler emits all
 * the same); a build that leaves no program does.
 */
export function setup(project: TestProject): (() => void) | undefined {
  if (!project.vitest.projects.some((p) => needsDist.has(p.name))) return undefined;
  build();
  const madeOnce = mkdtempSync(join(tmpdir(), "svc-made-once-"));
  project.provide("madeOnce", madeOnce);
  const forget = () => rmSync(madeOnce, { recursive: true, force: true });
  // Threads and child processes of the tests run compiled (test/setup.ts), so a watching run builds again, too.
  project.onTestsRerun(() => {
    forget();
    build();
  });
  return forget;
}

function build(): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin/build.mjs"), "--if-needed"], { encoding: "utf8" });
  if (status === 0) return;
  process.stderr.write(`the build reported problems:\n${stdout}${stderr}\n`);
  if (!existsSync(join(root, "dist/sdk/index.js"))) throw new Error("the build left no dist/sdk/index.js; run: npm run build");
}
