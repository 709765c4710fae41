import { definePlugin, z } from "svc/sdk";

/** Requests and calls its handlers have seen. */
export const seen = { requests: [] as string[], calls: [] as string[] };

/** A plugin whose routes and methods tell who called, and remember that they ran. */
export const door = definePlugin<unknown>({
  id: "door",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    for (const [path, auth] of [
      ["/door", "gateway"],
      ["/ingress", "plugin"],
    ] as const) {
      ctx.registerHttpRoute({
        method: ["GET", "POST"],
        path,
        match: "exact",
        auth,
        maxBodyBytes: 60_000_000,
        handler: async (call) => {
          seen.requests.push(path);
          const body = call.req.method === "POST" ? await call.json() : undefined;
          return Response.json({ remote: call.remote, scopes: call.scopes, body });
        },
      });
    }
    ctx.registerHttpRoute({
      method: "POST",
      path: "/door/write",
      match: "exact",
      auth: "gateway",
      scope: "operator.write",
      handler: () => Response.json({ ok: true }),
    });
    ctx.registerRpc({
      method: "door.touch",
      scope: "write",
      params: z.strictObject({ value: z.unknown().optional() }),
      handler: ({ value }, call) => {
        seen.calls.push(call.client.connId);
        return { value: value ?? null, client: { remote: call.client.remote, scopes: call.client.scopes } };
      },
    });
  },
});
