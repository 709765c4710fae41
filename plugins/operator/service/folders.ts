import { join } from "node:path";
import type { ServicePlatform } from "./definition.ts";

/** Facts that decide where definitions are. */
export interface FolderQuestion {
  platform: ServicePlatform;
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  root: string;
}

/** Folders where definitions of this user and of the whole system are, on systems that have such folders. */
export function definitionFolders({ platform, env, home, root }: FolderQuestion): { user: string; system: string[] } {
  if (platform === "linux") {
    const config = env.XDG_CONFIG_HOME || join(home, ".config");
    return { user: join(config, "systemd", "user"), system: [join(root, "etc/systemd/system")] };
  }
  if (platform === "darwin") {
    return { user: join(home, "Library/LaunchAgents"), system: [join(root, "Library/LaunchAgents"), join(root, "Library/LaunchDaemons")] };
  }
  const roaming = env.APPDATA || join(home, "AppData", "Roaming");
  return { user: join(roaming, "Microsoft", "Windows", "Start Menu", "Programs", "Startup"), system: [] };
}
