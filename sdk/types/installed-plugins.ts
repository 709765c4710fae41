import type { PluginVendor } from "./vendor.ts";

/** Record of how one plugin was installed. */
export interface InstallRecord {
  version: string;
  source: {
    kind: "folder" | "archive" | "npm";
    /** As the operator gave it; for npm the exact `name@version` that came of it. */
    spec: string;
    /** Integrity of the unpacked archive. */
    integrity?: string | undefined;
  };
  /** Integrity of the installed tree, checked before each load. */
  integrity: string;
  installedAt: string;
  /** Commands its manifest lists, for help without reading every manifest. */
  cli: Array<{ name: string; description: string; module: string }>;
}

/** Plugins that a command installed in one profile. */
export interface InstalledPlugins {
  /** Folder that holds them and their records. */
  readonly root: string;
  /** Folder of one plugin. @throws {SvcError} `invalid-plugin-id` */
  folder(id: string): string;
  /** Reads the records by id; empty when nothing was installed. @throws {SvcError} `install-index-invalid` */
  read(): Promise<{ version: 1; plugins: Record<string, InstallRecord> }>;
  /** Replaces the record of one plugin; undefined removes it. One writer at a time: the command that installs holds a lock. */
  write(id: string, record: InstallRecord | undefined): Promise<void>;
  /** Hash over names, kinds and contents of everything below a folder. @throws {SvcError} `unsafe-file` above 100,000 entries */
  integrityOf(folder: string, options?: { signal?: AbortSignal }): Promise<string>;
}

/** A plugin as far as its packages are concerned. */
export interface VendorOwner {
  id: string;
  /** Folder of the plugin. */
  root: string;
  /** Channels that it contributes, by the manifest. */
  channels?: readonly string[] | undefined;
}

/** Packages that plugins lock in their `vendor/` folders. */
export interface VendorPackages {
  /**
   * Reads what a plugin has locked: each package that it depends on itself with its version, the number of all, and a hash of everything that decides what is
   * installed. Undefined for a plugin without packages of its own.
   * @throws for files that are there and cannot be read or are no JSON objects
   */
  locked(root: string): Promise<{ direct: ReadonlyMap<string, string | undefined>; count: number; hash: string } | undefined>;
  /** Names of the packages that are not installed in the locked version. `isOwnOnly`: only the folder of the plugin counts, not the state directory. */
  missing(owner: VendorOwner, options?: { isOwnOnly?: boolean }): Promise<string[]>;
  /** Folder in the state directory of the packages of all versions of one plugin. @throws {SvcError} `invalid-plugin-id` */
  folder(id: string): string;
  /** The packages of a plugin as `ctx.vendor` has them, for a command of that plugin. */
  of(owner: VendorOwner): PluginVendor;
  /** Command that installs the packages of a plugin. */
  command(owner: Pick<VendorOwner, "id" | "channels">): string;
}
