import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Disposable } from "../../sdk/types/common.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import { watchTree } from "../process/watch-tree.ts";

const DEBOUNCE_MS = 300;

export interface PluginWatchHost {
  config(): SvcConfig;
  candidates(): readonly PluginCandidate[];
  reload(id: string): Promise<unknown>;
}

/** Reloads plugins whose files change while `plugins.reload.watch` is true. */
export interface PluginWatch extends Disposable {
  /** Follows the present config and the present set of plugins. */
  sync(): void;
}

/** Bundled plugins are part of the program and not watched; neither is one without a folder of its own, nor one that is off. */
export function createPluginWatch(host: PluginWatchHost): PluginWatch {
  const watched = new Map<string, { root: string; watcher: Disposable }>();
  /** Plugins whose reload is under way, and whether their files have changed since it began. */
  const reloading = new Map<string, { isStale: boolean }>();
  /** However often files change while a reload takes its time, one more follows it. */
  const reload = (id: string): void => {
    const underWay = reloading.get(id);
    if (underWay) {
      underWay.isStale = true;
      return;
    }
    const begun = { isStale: false };
    reloading.set(id, begun);
    const done = () => {
      reloading.delete(id);
      if (begun.isStale && watched.has(id)) reload(id);
    };
    void host.reload(id).then(done, done);
  };
  const drop = (id: string) => {
    void watched.get(id)?.watcher.dispose();
    watched.delete(id);
  };
  const wanted = () => {
    const { enabled, reload } = host.config().plugins;
    if (!enabled || !reload.watch) return [];
    return host.candidates().filter((c) => c.origin !== "bundled" && c.manifest && c.problem?.state !== "disabled");
  };
  return {
    sync() {
      const roots = new Map(wanted().map(({ id, root }) => [id, root]));
      for (const [id, { root }] of watched) if (roots.get(id) !== root) drop(id);
      for (const [id, root] of roots) {
        if (!watched.has(id)) watched.set(id, { root, watcher: watchTree(root, DEBOUNCE_MS, () => reload(id)) });
      }
    },
    dispose() {
      for (const id of [...watched.keys()]) drop(id);
    },
  };
}
