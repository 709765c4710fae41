import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createPluginVendor } from "../../kernel/process/plugin-vendor.ts";
import type { PluginVendor } from "../types/vendor.ts";

/** `ctx.vendor` of a plugin without a host, for its tests: finds the packages installed in its `vendor/` folder. */
export function vendorIn(pluginFolder: string | URL): PluginVendor {
  const root = typeof pluginFolder === "string" ? resolve(pluginFolder) : fileURLToPath(pluginFolder);
  return createPluginVendor({ id: basename(root), root, stateDir: undefined });
}
