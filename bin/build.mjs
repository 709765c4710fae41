#!/usr/bin/env node
/**
 * Builds `dist/`: declarations by the compiler, code by `join.mjs`; is `prepare`, `build` and `prestart`. Silent when there was nothing to do.
 * `--failpoints=<folder>` writes the code alone, with the failpoints that a release lacks, into another folder.
 * Without a compiler (an install without dev dependencies) the product runs from its sources, and that is no failure.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const layers = ["kernel", "sdk", "plugins"];
const notes = join(dist, "tsconfig.tsbuildinfo");
/** Dated with the beginning of the last good build. The compiler's own notes do not tell: `npm run types` writes them, and joins nothing. */
const stamp = join(dist, ".built");

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  const folder = args.find((arg) => arg.startsWith("--failpoints="))?.slice("--failpoints=".length);
  if (folder) {
    // The folder is cleared of every other file of code.
    if (isWithin(root, resolve(folder)) || isWithin(resolve(folder), dist)) {
      throw new Error(`--failpoints: expected a folder of its own, got ${folder}`);
    }
    return joinCode({ dist: folder, clean: true, failpoints: true });
  }
  const tsc = compilerPath();
  if (!tsc) {
    if (!existsSync(join(dist, "kernel/bin.js"))) console.log("svc: no TypeScript compiler installed, running from sources");
    return 0;
  }
  if (isOthersInstall() || (args.includes("--if-needed") && isFresh())) return 0;
  const release = await lock();
  // Files that change while the compiler reads are not in this build, so its date is that of its beginning.
  const begun = new Date();
  try {
    removeOrphans();
    const code = Math.max(compile(tsc), await joinCode({ clean: !args.includes("--if-needed") }));
    rmSync(stamp, { force: true });
    if (code === 0) {
      writeFileSync(stamp, "");
      utimesSync(stamp, begun, begun);
    }
    return code;
  } finally {
    release();
  }
}

function isWithin(path, folder) {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** npm runs `prepare` of a linked folder with each install of the package that links it: a plugin's, whose author did not mean to build its host. */
function isOthersInstall() {
  const { npm_lifecycle_event: event, npm_config_local_prefix: prefix, npm_config_global: isGlobal } = process.env;
  return event === "prepare" && isGlobal !== "true" && prefix !== undefined && resolve(prefix) !== root;
}

function compilerPath() {
  const path = join(root, "node_modules/typescript/bin/tsc");
  return existsSync(path) ? path : undefined;
}

/** `tsc -b` trusts its own notes, so outputs that somebody deleted are only made again by force. */
function compile(tsc) {
  const force = sources().some((file) => !existsSync(outputOf(file))) && existsSync(notes) ? ["--force"] : [];
  const { status, error } = spawnSync(process.execPath, [tsc, "-b", ...force], { cwd: root, stdio: "inherit" });
  if (error) throw error;
  return status ?? 1;
}

/** A type error keeps nobody from running the code; it is reported all the same. */
async function joinCode(options) {
  const { joinProduct } = await import("./join.mjs");
  try {
    await joinProduct({ sources: sources(), dist, ...options });
    return 0;
  } catch (error) {
    console.error(`svc: the code could not be joined: ${error.message}`);
    return 1;
  }
}

/** Nothing in the source tree (files, or folders that lost or gained one) is younger than the last good build. */
function isFresh() {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return false;
  const tools = ["tsconfig.json", "package.json", "bin/build.mjs", "bin/join.mjs"].map((name) => join(root, name));
  const inputs = [...tools, ...layers.flatMap((layer) => walk(join(root, layer), { folders: true }))];
  if (!existsSync(join(dist, "kernel/bin.js"))) return false;
  return inputs.every((path) => statSync(path).mtimeMs <= built) && sources().every((file) => existsSync(outputOf(file)));
}

/** Lists the files that `include` and `exclude` of tsconfig.json select. */
function sources() {
  const excluded = /\.test\.ts$|\.d\.ts$|^plugins[\\/][^\\/]+[\\/](public|vendor)[\\/]|^sdk[\\/]testing[\\/]fixtures[\\/]/;
  return layers
    .flatMap((layer) => walk(join(root, layer)))
    .map((path) => relative(root, path))
    .filter((path) => path.endsWith(".ts") && !excluded.test(path));
}

function outputOf(source) {
  return join(dist, source.replace(/\.ts$/, ".d.ts"));
}

/** `tsc` never deletes; what a removed source left behind would still be importable. */
function removeOrphans() {
  const wanted = new Set(sources().map((path) => path.replace(/\.ts$/, "")));
  for (const path of layers.flatMap((layer) => walk(join(dist, layer)))) {
    if (path.endsWith(".d.ts") && !wanted.has(relative(dist, path).slice(0, -5))) rmSync(path);
  }
  for (const layer of layers) pruneEmpty(join(dist, layer));
}

function pruneEmpty(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) pruneEmpty(join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

function walk(folder, { folders = false } = {}) {
  if (!existsSync(folder)) return [];
  const found = folders ? [folder] : [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || (folders && ["public", "vendor"].includes(entry.name))) continue;
    const path = folder + sep + entry.name;
    if (entry.isDirectory()) found.push(...walk(path, { folders }));
    else found.push(path);
  }
  return found;
}

/** Two builds at once (a test run beside `npm start`) would read each other's half-written files. */
async function lock() {
  mkdirSync(dist, { recursive: true });
  const path = join(dist, ".building");
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx" });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!isAlive(path)) rmSync(path, { force: true });
    else if (Date.now() > deadline) throw new Error(`another build still holds ${relative(root, path)}; stop it or delete that file`);
    else await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function isAlive(path) {
  try {
    process.kill(Number(readFileSync(path, "utf8")), 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
