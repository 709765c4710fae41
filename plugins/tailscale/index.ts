import { definePlugin } from "svc/sdk";

/** `gateway.tailscale.*`: the port in the tailnet or on the internet. With mode `off` nothing of it is loaded. */
export default definePlugin({
  id: "tailscale",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  async setup(ctx) {
    const { tailscale, tls } = ctx.snapshot().gateway;
    const gateway = ctx.service("gateway@1");
    const { port } = gateway.info();
    if (tailscale.mode === "off" || port === 0) return;
    const { publish } = await import("./publish.ts");
    const target = `${tls.enabled ? "https+insecure" : "http"}://127.0.0.1:${port}`;
    await publish(ctx, { mode: tailscale.mode, resetOnExit: tailscale.resetOnExit, target });
  },
});
