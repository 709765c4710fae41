import { join } from "node:path";
import type { Disposable } from "../../sdk/types/common.ts";
import type { RpcMethod } from "../../sdk/types/rpc.ts";
import type { UiPanel, UiSubject } from "../../sdk/types/ui-panel.ts";
import { kernelErrors } from "../errors.ts";
import type { Host } from "./instance.ts";
import { loadPanel } from "./load-panel.ts";
import type { Registrar } from "./registrar.ts";
import { panelSubject } from "./ui-blocks.ts";

/** Panels that one plugin may have at a time. */
const MAX_PANELS = 32;

/** A panel as `plugins.uiDescriptors` lists it: everything but its code. */
export interface UiDescriptor {
  id: string;
  pluginId: string;
  surface: UiPanel["surface"];
  label: string;
  kind: UiPanel["kind"];
  icon?: string;
  /** Kind `data`: the method that loads it. */
  method?: string;
  /** Kind `frame`: its entry below the plugin's `panel/` folder. */
  src?: string;
  /** Kind `frame`: what it may call. */
  methods?: string[];
}

/** A panel at its contribution point, for whoever serves the files of frames. */
export interface ListedPanel extends UiPanel {
  /** Kind `frame`: absolute path of the folder that holds its files. */
  folder?: string;
}

/** Method that loads a data panel. */
function panelMethod(pluginId: string, panelId: string): string {
  return `${pluginId}.ui.${panelId}`;
}

export function toUiDescriptor(pluginId: string, panel: UiPanel): UiDescriptor {
  const { id, surface, label, kind, icon, src, methods } = panel;
  return {
    id,
    pluginId,
    surface,
    label,
    kind,
    ...(icon === undefined ? {} : { icon }),
    ...(kind === "data" ? { method: panelMethod(pluginId, id) } : {}),
    ...(kind === "frame" ? { src: src ?? "index.html", methods: methods ?? [] } : {}),
  };
}

/** A panel as it is now: what its plugin does to the object later changes nothing. @param root folder of the plugin */
function copyPanel(panel: UiPanel, root: string): ListedPanel {
  const { id, surface, label, kind, icon, src, methods, load } = panel;
  return {
    id,
    surface,
    label,
    kind,
    ...(icon === undefined ? {} : { icon }),
    ...(src === undefined ? {} : { src }),
    ...(methods === undefined ? {} : { methods: [...methods] }),
    ...(load === undefined ? {} : { load: (call) => load.call(panel, call) }),
    ...(kind === "frame" ? { folder: join(root, "panel") } : {}),
  };
}

/** Lists a panel of one instance, and adds the method that loads it. @param own ids of the panels that it has */
export function addPanel(registrar: Registrar, host: Host, { given, own }: { given: UiPanel; own: Set<string> }): Disposable {
  const { id: plugin, root } = registrar.identity;
  const panel = copyPanel(given, root);
  const { id, load } = panel;
  const assertFree = () => {
    if (own.has(id)) throw kernelErrors.contributionConflict({ point: "uiPanel", id, plugin, owner: plugin });
    if (own.size >= MAX_PANELS) throw kernelErrors.tooManyPanels({ plugin, panel: id, limit: MAX_PANELS });
  };
  if (own.has(id) || own.size >= MAX_PANELS) return registrar.register(assertFree, () => ({ dispose: () => undefined }));
  own.add(id);
  const listed = registrar.contribute("uiPanel", `${plugin}/${id}`, panel);
  const loader = load && registrar.addMethod(loaderOf({ plugin, panel: id, load }, host), panelMethod(plugin, id));
  return {
    dispose() {
      own.delete(id);
      void listed.dispose();
      void loader?.dispose();
    },
  };
}

function loaderOf(of: { plugin: string; panel: string; load: NonNullable<UiPanel["load"]> }, host: Host): RpcMethod {
  const serves = (name: string) => host.methods.ownerOf(name) === of.plugin;
  return {
    method: panelMethod(of.plugin, of.panel),
    scope: "read",
    params: panelSubject,
    handler: (subject, { signal }) => loadPanel({ ...of, serves }, { signal, subject: subject as UiSubject }),
  };
}
