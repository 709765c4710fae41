import type { PluginContext } from "svc/sdk";

/** Greetings since the plugin was loaded, the newest first. */
export interface Greetings {
  readonly count: number;
  readonly latest: readonly string[];
}

/** Two panels in the control UI: one of data, which the page draws, and one that is a page of its own in a frame. */
export function registerPanels(ctx: PluginContext<unknown>, greetings: () => Greetings): void {
  ctx.registerUiPanel({
    id: "greetings",
    label: "Greetings",
    surface: "widget",
    icon: "chat",
    kind: "data",
    load: async () => {
      const { count, latest } = greetings();
      return {
        title: "Greetings",
        blocks: [
          { kind: "status", label: "Greeted", value: count === 1 ? "once" : `${count} times`, level: "ok" },
          { kind: "table", columns: ["Latest"], rows: latest.map((text) => [text]) },
          { kind: "form", method: "hello.greet", fields: [{ name: "name", label: "Name", type: "text" }], submit: "Greet" },
        ],
      };
    },
  });
  // Its files are in panel/; index.html comes first. It may call nothing but what is listed here.
  ctx.registerUiPanel({ id: "card", label: "Greeting card", surface: "tab", icon: "note", kind: "frame", methods: ["hello.greet"] });
}
