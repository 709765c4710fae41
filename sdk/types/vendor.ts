/**
 * Packages that a plugin owns: locked by `vendor/package.json` and `vendor/package-lock.json` in its folder, installed apart from svc. A package is looked for
 * at each call, so one that is installed later is found without a restart.
 */
export interface PluginVendor {
  /**
   * Imports one of them.
   * @param name name of the package with its scope; not a path inside it
   * @throws {SvcError} `missing-dependency` that names the command that installs it
   */
  load<T = unknown>(name: string): Promise<T>;
  /**
   * Finds its entry, for a worker or a child process.
   * @returns `file:` URL
   * @throws {SvcError} as `load`
   */
  resolve(name: string): Promise<string>;
}
