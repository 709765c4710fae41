import type { JsonObject } from "svc/sdk";

interface ControlUi {
  enabled?: boolean;
  basePath?: string;
}

/** Address of the control UI behind a gateway's WebSocket address; undefined when it is switched off. */
export function pageUrl(wsUrl: string, config: JsonObject | undefined): string | undefined {
  const ui = ((config?.gateway as { controlUi?: ControlUi } | undefined)?.controlUi ?? {}) as ControlUi;
  if (ui.enabled === false) return undefined;
  return new URL(ui.basePath ?? "/", wsUrl.replace(/^ws/, "http")).href;
}
