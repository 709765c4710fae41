import type { JsonObject } from "./common.ts";

/** Named webhook mappings of a plugin, switched on by `hooks.presets`. */
export interface HookPreset {
  /** Name in `hooks.presets`. */
  id: string;
  /** Entries as in `hooks.mappings` (`hooks.md` 8); asked after the operator's own. */
  mappings: readonly JsonObject[];
  /** Transforms by name: code of the plugin, because transform files stay below the transforms folder. */
  transforms?: Readonly<Record<string, (context: JsonObject) => unknown>>;
}
