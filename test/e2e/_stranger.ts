import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { arch, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { c as createTar } from "tar";
import { registryEnv } from "../servers/registry.ts";
import { removeLater, root } from "./_cli.ts";
import { type Finished, type Home, svcCommand } from "./_process.ts";

const run = promisify(execFile);
const npm = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
const limits = { timeout: 280_000, maxBuffer: 64 * 1024 * 1024 };

/** Somebody with a machine of their own: a home, a prefix for global packages, and nothing of this checkout. */
export interface Stranger {
  folder: string;
  home: Home;
  /** Installs a tarball globally, over what is there. */
  install(tarball: string): Promise<void>;
  /** Runs one command that has to succeed. @returns what it printed */
  svc(...args: string[]): Promise<string>;
  /** The same for another state directory or port. */
  svcWith(env: Record<string, string>, ...args: string[]): Promise<Finished>;
}

/** Removed by `stopAll`. */
export async function createStranger(): Promise<Stranger> {
  const folder = await mkdtemp(join(tmpdir(), "svc-stranger-"));
  removeLater({ remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }) });
  for (const name of ["home", "prefix"]) await mkdir(join(folder, name));
  const env = {
    HOME: join(folder, "home"),
    PATH: `${folder}/prefix/bin:${dirname(process.execPath)}:/usr/bin:/bin`,
    SVC_GATEWAY_PORT: "0",
    NO_COLOR: "1",
  };
  const program = join(folder, "prefix/lib/node_modules/svc/bin/svc.mjs");
  const home: Home = { stateDir: join(folder, "home/.svc"), env, program, remove: async () => undefined };
  const svcWith = (own: Record<string, string>, ...args: string[]) => svcCommand({ ...home, cwd: join(folder, "home") }, args, own);
  return {
    folder,
    home,
    svcWith,
    async svc(...args) {
      const { code, stdout, stderr } = await svcWith({}, ...args);
      if (code !== 0) throw new Error(`svc ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
      return stdout;
    },
    async install(tarball) {
      const sqlite = await serveSqlite(folder);
      try {
        const args = [
          "install",
          "-g",
          "--prefix",
          join(folder, "prefix"),
          "--no-audit",
          "--no-fund",
          "--allow-scripts=better-sqlite3",
          tarball,
        ];
        const hosts = { npm_config_better_sqlite3_binary_host: sqlite.url };
        await run(process.execPath, [npm, ...args], { env: { ...registryEnv(), ...env, ...hosts }, cwd: folder, ...limits });
      } finally {
        sqlite.close();
      }
    },
  };
}

/** Serves the archive of SQLite's binding, made of the binary that this checkout runs with; what is asked for besides is not there. */
async function serveSqlite(folder: string): Promise<{ url: string; close(): void }> {
  const binding = join(root, "node_modules/better-sqlite3");
  const archive = join(folder, "prebuilt.tar.gz");
  await createTar({ gzip: true, file: archive, cwd: binding }, ["build/Release/better_sqlite3.node"]);
  const { version } = JSON.parse(await readFile(join(binding, "package.json"), "utf8")) as { version: string };
  const name = `/v${version}/better-sqlite3-v${version}-node-v${process.versions.modules}-linux-${arch()}.tar.gz`;
  const server = createServer(async (req, res) => {
    if (req.url === name) res.end(await readFile(archive));
    else res.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** Last commit whose database has an older schema than this one; undefined without the history. */
export async function commitBeforeSchema(): Promise<string | undefined> {
  const log = ["log", "-1", "--format=%H", "-G", "^  \\{ version: [0-9]+,", "--", "plugins/store/schema.ts"];
  try {
    const changed = (await run("git", log, { cwd: root })).stdout.trim();
    return changed === "" ? undefined : (await run("git", ["rev-parse", "--verify", `${changed}^`], { cwd: root })).stdout.trim();
  } catch {
    return undefined;
  }
}

/** Packs the product as it was at a commit, with the packages that it had then. @returns the tarball */
export async function packOld(commit: string, folder: string): Promise<string> {
  const old = join(folder, "old");
  await mkdir(old);
  await run("git", ["archive", "--format=tar", "-o", join(folder, "old.tar"), commit], { cwd: root, ...limits });
  await run("tar", ["xf", join(folder, "old.tar"), "-C", old], limits);
  const env = { ...process.env, ...registryEnv() };
  await run(process.execPath, [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: old, env, ...limits });
  await run(process.execPath, ["bin/build.mjs"], { cwd: old, env, ...limits });
  const packing = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run(process.execPath, [npm, ...packing], { cwd: old, env, ...limits });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await rm(old, { recursive: true, force: true });
  return join(folder, filename);
}
