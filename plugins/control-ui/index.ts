import { definePlugin, type HttpCall, type PluginContext } from "svc/sdk";
import { bootstrapConfig } from "./bootstrap.ts";
import { createPanelFiles, type ListedPanel, tabsOf } from "./panels.ts";
import { createUi, type Ui } from "./serve.ts";

/** The page on the gateway's own port. It has no data of its own: everything it shows comes over the public protocol. */
export default definePlugin({
  id: "control-ui",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { enabled, basePath } = ctx.snapshot().gateway.controlUi;
    if (!enabled) return;
    const panels = createPanelFiles(
      () => panelsOf(ctx),
      (message) => ctx.logger.warn(message),
    );
    const ui = createUi(ctx.root, basePath, panels);
    const base = basePath === "/" ? "" : basePath;
    for (const path of [`${base}/control-ui-config.json`, `${base}/__svc/control-ui-config.json`]) {
      ctx.registerHttpRoute({ method: ["GET", "HEAD"], path, match: "exact", auth: "gateway", handler: (call) => config(ctx, ui, call) });
    }
    // Public on purpose: the page carries no secret, and asks for one itself.
    ctx.registerHttpRoute({
      method: ["GET", "HEAD"],
      path: basePath,
      match: "prefix",
      auth: "plugin",
      fallback: true,
      handler: (call) => ui.answer(call),
    });
  },
});

/** Panels that plugins show now. */
function panelsOf(ctx: PluginContext<unknown>) {
  return ctx.contributions<ListedPanel>("uiPanel");
}

async function config(ctx: PluginContext<unknown>, ui: Ui, call: HttpCall): Promise<Response> {
  const { stateDir, version, authMode } = ctx.service("gateway@1").info();
  const facts = { stateDir, version, authMode, buildId: await ui.buildId(), pluginTabs: tabsOf(panelsOf(ctx)) };
  const body = JSON.stringify(bootstrapConfig(ctx.snapshot(), facts));
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-cache",
  };
  return new Response(call.req.method === "HEAD" ? null : body, { headers });
}
