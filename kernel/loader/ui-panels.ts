import type { UiPanel } from "../../sdk/types/ui-panel.ts";

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

/** Method that loads a data panel. */
export function panelMethod(pluginId: string, panelId: string): string {
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

/** A panel as it is now: what its plugin does to the object later changes nothing. */
export function copyPanel(panel: UiPanel): UiPanel {
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
  };
}
