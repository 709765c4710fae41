import { readFile, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { type CliContext, commonErrors } from "svc/sdk";
import type { ServiceFile, ServiceSpec } from "./definition.ts";
import { errors } from "./errors.ts";
import type { ServiceHost } from "./host.ts";
import type { ServiceManager } from "./manager.ts";
import { metadataPath, readMetadata, type ServiceMetadata, sha256 } from "./metadata.ts";
import { chooseNode, isVersioned, NODE_FLOOR } from "./node-choice.ts";
import { searchPath } from "./search-path.ts";
import { serviceEnv } from "./service-env.ts";

/** Files that an installation would write. */
export interface InstallPlan {
  spec: ServiceSpec;
  /** The definition first; then variables and the record of the installation. */
  files: ServiceFile[];
  portSource: string;
  warnings: string[];
}

/** Choices of the command line. */
export interface InstallWish {
  port?: number | undefined;
  node?: string | undefined;
}

/**
 * Works out an installation; changes nothing.
 * @throws {SvcError} `service-node` for a node that was named and cannot be used, `service-value-unusable`
 */
export async function planInstall(
  cli: CliContext,
  host: ServiceHost,
  manager: ServiceManager,
  wish: InstallWish = {},
): Promise<InstallPlan> {
  const { stateDir } = cli.paths;
  const recorded = await readMetadata(stateDir);
  const { port, source: portSource } = await cli.ports.ofNextStart(wish.port);
  if (port === 0)
    throw commonErrors.usage({ message: "gateway install: a service needs a port of its own; set gateway.port, or give --port" });
  const node = await chooseNode({
    platform: host.platform,
    home: host.home,
    asked: wish.node === undefined ? undefined : resolve(wish.node),
    recorded: recorded?.nodePath,
    own: process.execPath,
    versionOf: (path) => nodeVersion(host, path),
  });
  if ("problem" in node) throw errors.serviceNode({ path: node.path, reason: node.problem, floor: NODE_FLOOR });
  const spec = await specFor(cli, host, { nodePath: node.path, port });
  const { source } = await (await cli.configFile()).load();
  const env = serviceEnv({ env: cli.env, source, known: await ownEnvNames(stateDir), pathEnv: spec.pathEnv });
  const definitions = manager.files(spec);
  const warnings = [
    ...(node.warning === undefined ? [] : [node.warning]),
    ...(isVersioned(spec.entryPath)
      ? [`${spec.entryPath} goes when the version of its folder does; after an update run svc gateway install --force`]
      : []),
    ...env.unusable.map((name) => `${name}: its value cannot stand in a file of variables; put it into ${join(stateDir, ".env")}`),
  ];
  return {
    spec,
    files: [...definitions, ...ownFiles(cli, { spec, env: env.text, definition: definitions[0]?.content ?? "" })],
    portSource,
    warnings,
  };
}

/** Specification of this profile's service, for a node and a port. */
export async function specFor(
  cli: CliContext,
  host: ServiceHost,
  { nodePath, port }: Pick<ServiceSpec, "nodePath" | "port">,
): Promise<ServiceSpec> {
  const { stateDir, profile } = cli.paths;
  const path = await searchPath({ platform: host.platform, home: host.home, isFolder });
  return { profile, nodePath, entryPath: entryPath(cli), port, stateDir, home: host.home, searchPath: path, pathEnv: pathVariables(cli) };
}

function ownFiles(
  { paths, version }: CliContext,
  { spec, env, definition }: { spec: ServiceSpec; env: string; definition: string },
): ServiceFile[] {
  const { port, nodePath, entryPath } = spec;
  const metadata: ServiceMetadata = { version, port, nodePath, entryPath, definitionSha256: sha256(definition) };
  return [
    { path: join(paths.stateDir, "service", "gateway.env"), mode: 0o600, content: env },
    { path: metadataPath(paths.stateDir), mode: 0o600, content: `${JSON.stringify(metadata, null, 2)}\n` },
  ];
}

/** The program of this installation, by the path it was called by where that is stable: a link of a package manager stays when the package moves. */
export function entryPath({ paths }: Pick<CliContext, "paths">): string {
  return join(paths.packageRoot, "bin", "svc.mjs");
}

/** Variables that lead a process without this command line to the same state and config. */
export function pathVariables({ env, paths }: Pick<CliContext, "env" | "paths">): Record<string, string> {
  const home = env.SVC_HOME?.trim();
  return {
    ...(home ? { SVC_HOME: isAbsolute(home) ? home : resolve(home) } : {}),
    ...(paths.profile === "" ? {} : { SVC_PROFILE: paths.profile }),
    ...(paths.stateDirSource === "SVC_STATE_DIR" ? { SVC_STATE_DIR: paths.stateDir } : {}),
    ...(paths.configPathSource === "SVC_CONFIG_PATH" ? { SVC_CONFIG_PATH: paths.configPath } : {}),
  };
}

/** `v22.1.0`; undefined when the program at this path is no Node that runs. */
export async function nodeVersion(host: Pick<ServiceHost, "run">, path: string): Promise<string | undefined> {
  if (path === process.execPath) return process.version;
  if (!(await stat(path).catch(() => undefined))?.isFile()) return undefined;
  const { code, stdout } = await host.run([path, "--version"], { timeoutMs: 5_000 });
  return code === 0 ? /^v\d+\.\d+\.\d+/.exec(stdout.trim())?.[0] : undefined;
}

async function ownEnvNames(stateDir: string): Promise<string[]> {
  const text = await readFile(join(stateDir, ".env"), "utf8").catch(() => "");
  return Object.entries(parseEnv(text)).flatMap(([name, value]) => (value === "" ? [] : [name]));
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
