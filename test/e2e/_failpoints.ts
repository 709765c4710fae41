import { execFile } from "node:child_process";
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "./_cli.ts";
import { madeOnce } from "./_made-once.ts";

/** The product built with failpoints, which a release lacks. @returns its `bin/svc.mjs` */
export async function buildFailing(): Promise<string> {
  const folder = await madeOnce("failpoints", async (folder) => {
    await promisify(execFile)(process.execPath, [join(root, "bin/build.mjs"), `--failpoints=${join(folder, "dist")}`]);
    for (const path of ["package.json", "bin"]) await cp(join(root, path), join(folder, path), { recursive: true });
    // Manifests and assets stay where they are; the code is in `dist`.
    const filter = (path: string) => !path.endsWith(".ts") && !path.includes("node_modules");
    await cp(join(root, "plugins"), join(folder, "plugins"), { recursive: true, filter });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  });
  return join(folder, "bin/svc.mjs");
}

/** Environment of a process that ends or fails at named steps, as in `hooks.after-accept=kill`. */
export function failingAt(points: string): Record<string, string> {
  return { SVC_TEST: "1", SVC_FAILPOINT: points };
}
