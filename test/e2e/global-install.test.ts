import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { c as createTar } from "tar";
import { afterAll, beforeAll, expect } from "vitest";
import { commandPath, needs, skippedFor } from "../servers/needs.ts";
import { isRegistryThere, registryEnv } from "../servers/registry.ts";
import { gatewayIn, root, stopAll } from "./_cli.ts";
import { packProduct } from "./_packed.ts";
import type { Home } from "./_process.ts";

const run = promisify(execFile);
const isGlibc = platform() === "linux" && !(await readdir("/lib")).some((name) => name.startsWith("ld-musl"));
const { describe, test } = !isGlibc
  ? skippedFor("Linux with glibc")
  : (await isRegistryThere())
    ? needs("npm", "sh", "tar", "gzip")
    : skippedFor("the npm registry");

/** Removes an archive from npm's cache, where it is kept by its address: that of this test is of no use to anybody else. */
async function forgetArchive(url: string): Promise<void> {
  const digest = createHash("sha512").update(url).digest("hex").slice(0, 6);
  const file = `${digest}-${basename(url).replace(/[^a-zA-Z0-9.]+/g, "-")}`;
  await rm(join(registryEnv().npm_config_cache ?? "", "_prebuilds", file));
}

/** Everything that the machine has: no compiler, no make, no Python. */
const programs = ["node", "sh", "env", "tar", "gzip"];

describe("on a machine without compilers", () => {
  let folder: string;
  let server: Server;
  let home: Home;
  const asked: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-install-"));
    for (const name of ["bin", "prefix", "home"]) await mkdir(join(folder, name));
    for (const name of programs) await symlink(name === "node" ? process.execPath : (commandPath(name) ?? ""), join(folder, "bin", name));
    // As the project of SQLite's binding serves it, made of the binary that this checkout runs with.
    const archive = join(folder, "prebuilt.tar.gz");
    const binding = "build/Release/better_sqlite3.node";
    await createTar({ gzip: true, file: archive, cwd: join(root, "node_modules/better-sqlite3") }, [binding]);
    server = createServer(async (req, res) => {
      asked.push(req.url ?? "");
      res.end(await readFile(archive));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const env = { HOME: join(folder, "home"), PATH: `${folder}/prefix/bin:${folder}/bin`, SVC_GATEWAY_PORT: "0", NO_COLOR: "1" };
    home = {
      stateDir: join(folder, "home/.svc"),
      env,
      program: join(folder, "prefix/lib/node_modules/svc/bin/svc.mjs"),
      remove: async () => undefined,
    };
  });

  afterAll(async () => {
    await stopAll();
    server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("the tarball installs globally with a prebuilt SQLite, runs, and goes without its state", { timeout: 300_000 }, async () => {
    const { tarball } = await packProduct();
    const { port } = server.address() as AddressInfo;
    const env = { ...registryEnv(), ...home.env, npm_config_better_sqlite3_binary_host: `http://127.0.0.1:${port}` };
    const npm = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
    const args = [
      "install",
      "-g",
      "--allow-scripts=better-sqlite3",
      "--prefix",
      join(folder, "prefix"),
      "--no-audit",
      "--no-fund",
      tarball,
    ];
    await run(process.execPath, [npm, ...args], { env, cwd: folder, timeout: 280_000, maxBuffer: 16 * 1024 * 1024 });

    const { version } = JSON.parse(await readFile(join(root, "node_modules/better-sqlite3/package.json"), "utf8")) as { version: string };
    const name = `better-sqlite3-v${version}-node-v${process.versions.modules}-linux-${arch()}.tar.gz`;
    expect(asked).toEqual([`/v${version}/${name}`]);
    await forgetArchive(`${env.npm_config_better_sqlite3_binary_host}/v${version}/${name}`);
    const svc = async (...words: string[]) => (await run(join(folder, "prefix/bin/svc"), words, { env: home.env })).stdout;
    expect(await svc("setup", "--non-interactive")).toContain("svc.json");
    await gatewayIn(home);
    expect(JSON.parse(await svc("health", "--json"))).toMatchObject({ ok: true });
    expect(await readdir(join(home.stateDir))).toContain("state.sqlite");
    expect(await svc("completion", "bash")).toContain("complete -o default -F _svc svc");
    expect(await readdir(join(folder, "prefix/share/man/man1"))).toEqual(["svc.1"]);

    await svc("gateway", "stop");
    await run(process.execPath, [npm, "uninstall", "-g", "--prefix", join(folder, "prefix"), "svc"], { env, cwd: folder });
    expect([await readdir(join(folder, "prefix/bin")), await readdir(join(folder, "prefix/share/man/man1"))]).toEqual([[], []]);
    expect(await readdir(home.stateDir)).toContain("svc.json");
  });
});
