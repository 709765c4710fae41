import { definePlugin, isSvcError } from "svc/sdk";

/** Keeps the state in PostgreSQL with `store.backend: "postgres"`; with another backend nothing of it is loaded. */
export default definePlugin({
  id: "store-postgres",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  async setup(ctx) {
    if (ctx.snapshot().store.backend !== "postgres") return;
    const { serveStore } = await import("./serve.ts");
    await serveStore(ctx).catch((error: unknown) => {
      // Serving without the state would look like the loss of everything.
      if (isSvcError(error)) ctx.service("gateway@1").refuseStart(error);
      throw error;
    });
  },
});
