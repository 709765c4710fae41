import type { JsonObject } from "./common.ts";

/** Named webhook mappings of a plugin, switched on by `hooks.presets`. */
export interface HookPreset {
  /** Name in `hooks.presets`. */
  id: string;
  /**
   * Entries as in `hooks.mappings`, at most 256 KiB each template; asked after the operator's own. `verify` is the operator's, whose
   * secrets it needs: an entry that has one is broken, answers 500 and is reported.
   */
  mappings: readonly JsonObject[];
  /**
   * Transforms by the name that stands in `transform.module` of an entry: code of the plugin, because transform files stay below the transforms folder. Each is given a
   * {@link HookTransformContext} and returns what any transform does, within 5 s.
   */
  transforms?: Readonly<Record<string, (context: JsonObject) => unknown>>;
}
