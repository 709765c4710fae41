import type { SvcConfig } from "../../sdk/config/root.ts";
import type { ConfigWarning } from "../../sdk/types/config-file.ts";

type MemorySearch = NonNullable<SvcConfig["agents"]["defaults"]["memorySearch"]>;

/** One warning for each choice of `memorySearch` that is valid key by key and does not do what it says. Pure. */
export function memoryWarnings({ agents }: SvcConfig): ConfigWarning[] {
  const common = agents.defaults.memorySearch;
  const at = "agents.defaults.memorySearch";
  return [
    ...sourceWarnings(common, undefined, at),
    ...modelWarnings(common, undefined, at),
    ...agents.list.flatMap(({ memorySearch: own }, i) => {
      const here = `agents.list.${i}.memorySearch`;
      return [...sourceWarnings(own, common, here), ...modelWarnings(own, common, here)];
    }),
  ];
}

/** An agent that changes neither the sources nor the switch repeats no complaint about the defaults. */
function sourceWarnings(own: MemorySearch | undefined, base: MemorySearch | undefined, at: string): ConfigWarning[] {
  const ownSwitch = own?.experimental?.sessionMemory;
  if (own?.sources === undefined && ownSwitch === undefined) return [];
  const sources = own?.sources ?? base?.sources ?? [];
  if (!sources.includes("sessions") || (ownSwitch ?? base?.experimental?.sessionMemory)) return [];
  const message = '"sessions" has no effect while experimental.sessionMemory is off, so only "memory" is indexed; set it to true';
  return [{ path: `${at}.sources`, message }];
}

/** The name of a model means something to one vendor only. */
function modelWarnings(own: MemorySearch | undefined, base: MemorySearch | undefined, at: string): ConfigWarning[] {
  const provider = own?.provider ?? base?.provider ?? "auto";
  if (own?.model !== undefined && provider === "auto") {
    // A server with an address of its own is asked before any vendor.
    if ((own.remote?.baseUrl ?? base?.remote?.baseUrl) !== undefined) return [];
    const message = `"${own.model}" would be requested from whichever vendor is found first; name its vendor in memorySearch.provider`;
    return [{ path: `${at}.model`, message }];
  }
  const isInherited = own?.provider !== undefined && own.model === undefined && base?.model !== undefined;
  if (!isInherited || provider === "none" || provider === base.provider) return [];
  const message = `"${provider}" is asked for the model of the defaults, "${base.model}"; name a model of this vendor in memorySearch.model`;
  return [{ path: `${at}.provider`, message }];
}
