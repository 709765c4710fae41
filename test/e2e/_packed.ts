import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { x as extract } from "tar";
import { root } from "./_cli.ts";
import { madeOnce } from "./_made-once.ts";
import { createHome, type Home } from "./_process.ts";

const run = promisify(execFile);

/** The product as its users get it: packed, extracted into `node_modules` of a folder outside the checkout, with its dependencies beside it. */
export interface PackedProduct {
  /** Folder with `node_modules/svc`; several test files read it, so what one adds has a name of its own. */
  consumer: string;
  /** As `npm pack` wrote it. */
  tarball: string;
  /** Root of the extracted package. */
  packageRoot: string;
  /** A home whose commands are those of the packed product. */
  home(): Promise<Home>;
}

export async function packProduct(): Promise<PackedProduct> {
  const folder = await madeOnce("packed", pack);
  const consumer = join(folder, "consumer");
  const packageRoot = join(consumer, "node_modules/svc");
  const name = (await readdir(folder)).find((file) => file.endsWith(".tgz")) ?? "";
  return {
    tarball: join(folder, name),
    consumer,
    packageRoot,
    async home() {
      return { ...(await createHome()), program: join(packageRoot, "bin/svc.mjs") };
    },
  };
}

async function pack(folder: string): Promise<void> {
  const env = { ...process.env, npm_config_cache: join(folder, "npm-cache"), npm_config_offline: "true" };
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    cwd: root,
    env,
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const consumer = join(folder, "consumer");
  const packages = join(consumer, "node_modules");
  await mkdir(packages, { recursive: true });
  await extract({ file: join(folder, filename), cwd: packages });
  await rename(join(packages, "package"), join(packages, "svc"));
  const { dependencies } = JSON.parse(await readFile(join(packages, "svc/package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), "@types/node", "@types/ws"]) await linkPackage(consumer, name);
}

/** Makes a package of the checkout available in a folder, as an installation would. */
export async function linkPackage(folder: string, name: string): Promise<void> {
  await linkFolder(folder, name, join(root, "node_modules", name));
}

export async function linkFolder(folder: string, name: string, target: string): Promise<void> {
  const link = join(folder, "node_modules", name);
  await mkdir(dirname(link), { recursive: true });
  await symlink(target, link, "junction");
}

/** Runs a program of a folder's packages, or else of the checkout's, in the folder; resolves with its exit code and all it printed. */
export async function runTool(
  tool: "typescript/bin/tsc" | "vitest/vitest.mjs",
  args: string[],
  cwd: string,
): Promise<{ code: number; text: string }> {
  const own = join(cwd, "node_modules", tool);
  // The runner of this test must not be taken for that of the folder.
  const { VITEST: _, VITEST_WORKER_ID: __, VITEST_POOL_ID: ___, NODE_ENV: ____, ...env } = process.env;
  try {
    const { stdout, stderr } = await run(process.execPath, [existsSync(own) ? own : join(root, "node_modules", tool), ...args], {
      cwd,
      env: { ...env, NO_COLOR: "1" },
    });
    return { code: 0, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, text: `${stdout}${stderr}` };
  }
}
