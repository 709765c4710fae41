import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { CliContext } from "svc/sdk";
import { definitionFolders } from "./folders.ts";
import type { ServiceHost } from "./host.ts";
import { parsePlist } from "./launchd-plist.ts";
import { entryPath } from "./plan.ts";
import type { Supervision } from "./supervision.ts";
import { parseUnit } from "./systemd-unit.ts";
import { parseTask } from "./windows-task.ts";

/** A service that looks like a gateway and is not the one of this profile. */
export interface OtherService {
  manager: "systemd-user" | "systemd-system" | "launchd" | "schtasks" | "startup-folder";
  label: string;
  path: string | null;
  /** Command that takes it away. */
  cleanup: string;
}

const MAX_DEFINITIONS = 2_000;
const MAX_BYTES = 100_000;

/** Looks through the definitions of user and system for others that start a gateway. Best effort: what cannot be read is passed over. */
export async function findOtherServices(cli: CliContext, { host, found, manager }: Supervision): Promise<OtherService[]> {
  const own = new Set(found.map(({ path }) => path));
  const entry = entryPath(cli);
  if (host.platform === "win32") return windowsServices(host, { entry, ownLabel: manager.label, stateDir: cli.paths.stateDir });
  const folders = definitionFolders(host);
  const suffix = host.platform === "linux" ? ".service" : ".plist";
  const lists = await Promise.all(
    [folders.user, ...folders.system].map(async (folder) => {
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(suffix)).slice(0, MAX_DEFINITIONS);
      return Promise.all(names.map(async (name) => ({ folder, path: join(folder, name), text: await readText(join(folder, name)) })));
    }),
  );
  return lists
    .flat()
    .filter(({ path, text }) => !own.has(path) && isGatewayLike(basename(path), text, entry))
    .map(({ folder, path }) => toOther(host, path, folder === folders.user));
}

/** By its name, by the program that it starts, or by the mark that definitions of svc carry. Pure. */
export function isGatewayLike(name: string, text: string, entry: string): boolean {
  if (/^(?:svc-gateway(?:-|\.)|ai\.svc\.)/.test(name)) return true;
  if (!text.includes(entry) && !text.includes("SVC_SERVICE_KIND")) return false;
  const program = name.endsWith(".plist") ? parsePlist(text) : parseUnit(text);
  return program !== undefined && (program.entryPath === entry || program.env.SVC_SERVICE_KIND === "gateway");
}

function toOther(host: ServiceHost, path: string, isOfUser: boolean): OtherService {
  const name = basename(path);
  if (host.platform === "linux") {
    const systemctl = isOfUser ? "systemctl --user" : "sudo systemctl";
    const cleanup = `${systemctl} disable --now ${name} && ${isOfUser ? "" : "sudo "}rm ${path}`;
    return { manager: isOfUser ? "systemd-user" : "systemd-system", label: name, path, cleanup };
  }
  const label = name.slice(0, -".plist".length);
  const isDaemon = path.includes("LaunchDaemons");
  const bootout = isDaemon ? `sudo launchctl bootout system/${label}` : `launchctl bootout gui/${host.uid}/${label}`;
  return { manager: "launchd", label, path, cleanup: `${bootout}; ${isOfUser ? "" : "sudo "}rm ${path}` };
}

async function windowsServices(
  host: ServiceHost,
  { entry, ownLabel, stateDir }: { entry: string; ownLabel: string; stateDir: string },
): Promise<OtherService[]> {
  const all = await host.run(["schtasks", "/Query", "/XML"]);
  const own = join(stateDir, "gateway.cmd");
  const found = namedTasks(all.stdout).flatMap(({ name, xml }): OtherService[] => {
    const command = parseTask(xml)?.command ?? "";
    const isLike = name.startsWith("Svc Gateway") || xml.includes(entry) || basename(command.replaceAll("\\", "/")) === "gateway.cmd";
    if (!isLike || name === ownLabel || command === own) return [];
    return [{ manager: "schtasks", label: name, path: null, cleanup: `schtasks /Delete /F /TN "${name}"` }];
  });
  const folder = definitionFolders(host).user;
  const launchers = (await readdir(folder).catch(() => [])).filter(
    (name) => /^Svc Gateway.*\.cmd$/.test(name) && name !== `${ownLabel}.cmd`,
  );
  return [
    ...found,
    ...launchers.map((name): OtherService => {
      const path = join(folder, name);
      return { manager: "startup-folder", label: name.slice(0, -".cmd".length), path, cleanup: `del "${path}"` };
    }),
  ];
}

async function readText(path: string): Promise<string> {
  return (await readFile(path, "utf8").catch(() => "")).slice(0, MAX_BYTES);
}

/** Tasks of the whole list: before each stands a comment with its name, `<!-- \Name -->`. Pure. */
export function namedTasks(xml: string): Array<{ name: string; xml: string }> {
  return xml
    .split("<!--")
    .slice(1)
    .map((part) => {
      const end = part.indexOf("-->");
      return { name: part.slice(0, Math.max(0, end)).trim().replace(/^\\/, ""), xml: part.slice(end + 3) };
    });
}
