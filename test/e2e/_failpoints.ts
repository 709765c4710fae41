import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "./_cli.ts";

/** The product built with failpoints, which a release lacks. */
export interface FailingProduct {
  /** Its `bin/svc.mjs`. */
  program: string;
  remove(): Promise<void>;
}

export async function buildFailing(): Promise<FailingProduct> {
  const folder = await mkdtemp(join(tmpdir(), "svc-failpoints-"));
  await promisify(execFile)(process.execPath, [join(root, "bin/build.mjs"), `--failpoints=${join(folder, "dist")}`]);
  for (const path of ["package.json", "bin"]) await cp(join(root, path), join(folder, path), { recursive: true });
  // Manifests and assets stay where they are; the code is in `dist`.
  const filter = (path: string) => !path.endsWith(".ts") && !path.includes("node_modules");
  await cp(join(root, "plugins"), join(folder, "plugins"), { recursive: true, filter });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  return { program: join(folder, "bin/svc.mjs"), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Environment of a process that ends or fails at named steps, as in `hooks.after-accept=kill`. */
export function failingAt(points: string): Record<string, string> {
  return { SVC_TEST: "1", SVC_FAILPOINT: points };
}
