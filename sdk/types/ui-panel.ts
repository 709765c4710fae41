import type { JsonObject } from "./common.ts";

/** One block of a data panel; the page draws it. */
export type UiBlock =
  | { kind: "status"; label: string; value: string; level?: "ok" | "warning" | "error" }
  | { kind: "keyValue"; rows: Array<{ key: string; value: string }> }
  | { kind: "table"; columns: string[]; rows: string[][] }
  | { kind: "markdown"; text: string }
  | {
      kind: "form";
      /** A method of the same plugin, called with the fields as its parameters. */
      method: string;
      fields: Array<{ name: string; label: string; type: "text" | "number" | "boolean" | "select"; options?: string[]; value?: unknown }>;
      submit: string;
    }
  /** A button that calls a method of the same plugin. */
  | { kind: "command"; label: string; method: string; params?: JsonObject };

/** Subject of a panel at `session`, `tool` or `run`, as far as there is one. */
export interface UiSubject {
  sessionKey?: string;
  runId?: string;
  tool?: string;
  toolCallId?: string;
}

/** A panel of the control UI: data drawn by the page, or a sandboxed frame. */
export interface UiPanel {
  id: string;
  label: string;
  surface: "tab" | "widget" | "settings" | "session" | "tool" | "run";
  /** Name of one of the page's icons, such as `chart`, `list` or `clock`. */
  icon?: string;
  kind: "data" | "frame";
  /** Kind `data`: called as RPC `<pluginId>.ui.<id>`; it has 10 s, and its answer 256 KiB. */
  load?(call: { signal: AbortSignal; subject: UiSubject }): Promise<{ title: string; blocks: UiBlock[] }>;
  /** Kind `frame`: entry file below the plugin's `panel/` folder, `index.html` by default. */
  src?: string;
  /** Kind `frame`: methods the frame may call within its user's scopes. */
  methods?: string[];
}
