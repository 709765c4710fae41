import type { ServicePlatform } from "./definition.ts";

const systemFolders: Readonly<Record<ServicePlatform, readonly string[]>> = {
  linux: ["/usr/local/bin", "/usr/bin", "/bin"],
  darwin: ["/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"],
  // A task gets the PATH of its user.
  win32: [],
};

/** Folders of a user's own programs, below the home. */
const userFolders = [".local/bin", "bin", ".npm-global/bin"];

/** Input for the `PATH` of a service. */
export interface SearchPathQuestion {
  platform: ServicePlatform;
  home: string;
  isFolder(path: string): Promise<boolean>;
}

/** A minimal `PATH`: the system's folders and those of the user that exist. What else a shell adds changes from day to day, and so would the definition. */
export async function searchPath({ platform, home, isFolder }: SearchPathQuestion): Promise<string> {
  if (platform === "win32") return "";
  const found: string[] = [];
  for (const folder of userFolders) if (await isFolder(`${home}/${folder}`)) found.push(`${home}/${folder}`);
  return [...systemFolders[platform], ...found].join(":");
}
