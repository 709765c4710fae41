import type { JsonObject } from "./common.ts";

/** One block of a data panel; the page draws it. */
export type UiBlock =
  | { kind: "status"; label: string; value: string; level?: "ok" | "warning" | "error" }
  | { kind: "keyValue"; rows: Array<{ key: string; value: string }> }
  | { kind: "table"; columns: string[]; rows: string[][] }
  | { kind: "markdown"; text: string }
  | {
      kind: "form";
      method: string;
      fields: Array<{ name: string; label: string; type: "text" | "number" | "boolean" | "select"; options?: string[]; value?: unknown }>;
      submit: string;
    }
  | { kind: "command"; label: string; method: string; params?: JsonObject };

/** A panel of the control UI: data drawn by the page, or a sandboxed frame. */
export interface UiPanel {
  id: string;
  label: string;
  surface: "tab" | "widget" | "settings" | "session" | "tool" | "run";
  icon?: string;
  kind: "data" | "frame";
  /** Kind `data`: called as RPC `<pluginId>.ui.<id>`. */
  load?(call: { signal: AbortSignal }): Promise<{ title: string; blocks: UiBlock[] }>;
  /** Kind `frame`: entry file below the plugin's `panel/` folder. */
  src?: string;
  /** Kind `frame`: methods the frame may call within its user's scopes. */
  methods?: string[];
}
