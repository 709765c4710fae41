import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Clock, Logger } from "../../sdk/types/common.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord, PluginState } from "../../sdk/types/plugin-record.ts";
import type { Activation } from "./activation.ts";
import type { ImportOptions } from "./code.ts";
import type { Instance, InstanceIdentity } from "./instance.ts";

/** Services that the gateway gives to the loader. */
export interface LoaderHost {
  config(): SvcConfig;
  logger: Logger;
  clock: Clock;
  stateDir: string;
  activation: Activation;
  contributions: {
    /** Makes many changes of the registry in one turn. */
    batch(change: () => void): void;
    /** Contributions that a plugin still holds, as `point/id`. */
    ownedBy(owner: string): string[];
  };
  code: Pick<ImportOptions, "importModule" | "isCompiled">;
  /** @param onDiagnostic told of registrations refused after the instance was opened */
  createInstance(identity: InstanceIdentity, onDiagnostic: () => void): Instance;
  onState(record: PluginRecord, from: PluginState): void;
  /** Discovers the plugins on disk, by the present config. */
  discover(): Promise<PluginCandidate[]>;
  /** The same of one id. */
  discoverOne(id: string): Promise<PluginCandidate | undefined>;
  /** Boot waits no longer for plugins of third parties once the bundled and the required ones have settled; default 3 s. */
  stragglerMs?: number | undefined;
  /** First pause of a plugin that asks to be tried later; default 5 s. */
  retryMs?: number | undefined;
}
