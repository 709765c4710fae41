import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Base of the `Dockerfile`. */
const BASE = "docker.io/library/node:22-bookworm-slim";

/**
 * Makes sure that podman has the base image, which a machine without a way to the image registry cannot fetch: Debian, with the Node of this machine and a
 * compiler in place of SQLite's prebuilt archive. Takes minutes once; the image stays.
 *
 * @returns whether it is such a stand-in, made now or before
 */
export async function haveNodeImage(): Promise<boolean> {
  const known = await run("podman", ["image", "inspect", "--format", '{{index .Labels "stand-in"}}', BASE]).catch(() => undefined);
  if (known) return known.stdout.trim() === "yes";
  if (await run("podman", ["pull", "--quiet", BASE], { timeout: 60_000 }).catch(() => undefined)) return false;
  const root = await mkdtemp(join(tmpdir(), "svc-image-"));
  try {
    await fillRoot(root);
    const changes = Object.entries(environment).map(([name, value]) => `ENV ${name}=${value}`);
    const args = [...changes, "LABEL stand-in=yes"].flatMap((change) => ["--change", change]);
    await run("sh", ["-c", 'tar -C "$0" -c . | podman import --quiet "$@"', root, ...args, "-", BASE]);
    return true;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const certificates = "/etc/ssl/certs/ca-certificates.crt";
const environment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  NODE_EXTRA_CA_CERTS: certificates,
  npm_config_cafile: certificates,
  npm_config_nodedir: "/usr/local",
};

async function fillRoot(root: string): Promise<void> {
  const packages = ["ca-certificates", "libstdc++6", "libatomic1", "g++", "make", "python3"];
  await run("debootstrap", ["--variant=minbase", `--include=${packages.join(",")}`, "bookworm", root], { maxBuffer: 64 * 1024 * 1024 });
  const local = (...path: string[]) => join(root, "usr/local", ...path);
  const node = dirname(dirname(process.execPath));
  await cp(process.execPath, local("bin/node"));
  await cp(join(node, "include/node"), local("include/node"), { recursive: true });
  await cp(join(node, "lib/node_modules/npm"), local("lib/node_modules/npm"), { recursive: true });
  await symlink("../lib/node_modules/npm/bin/npm-cli.js", local("bin/npm"));
  await cp(certificates, join(root, certificates));
  await run("chroot", [root, "useradd", "--uid", "1000", "--create-home", "node"]);
}
