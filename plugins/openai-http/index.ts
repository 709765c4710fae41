import { type Disposable, definePlugin, type PluginContext } from "svc/sdk";
import { createChatHandler } from "./chat.ts";
import { createEmbeddingsHandler } from "./embeddings.ts";
import { errorResponse, toProblem } from "./error-body.ts";
import { createModels } from "./models.ts";

/** Maximum size of a request body of `/v1/embeddings`. */
const MAX_EMBEDDINGS_BODY_BYTES = 5 * 1024 * 1024;

export default definePlugin({
  id: "openai-http",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    let routes = openRoutes(ctx);
    // Requests under way finish on the route they came by.
    const apply = () => {
      for (const route of routes) void route.dispose();
      routes = openRoutes(ctx);
    };
    ctx.onReload({
      prefixes: ["gateway.http.endpoints", "gateway.http.maxBodyBytes"],
      prepare: async () => ({ apply, discard: () => undefined }),
    });
  },
});

function openRoutes(ctx: PluginContext<unknown>): Disposable[] {
  const { endpoints, maxBodyBytes } = ctx.snapshot().gateway.http;
  const common = { auth: "gateway", onError: (fault: Parameters<typeof toProblem>[0]) => errorResponse(toProblem(fault)) } as const;
  const routes: Disposable[] = [];
  if (endpoints.models.enabled) {
    const models = createModels(() => ctx.snapshot());
    const route = { ...common, method: "GET", path: "/v1/models", scope: "operator.read" } as const;
    routes.push(ctx.registerHttpRoute({ ...route, match: "exact", handler: models.list }));
    routes.push(ctx.registerHttpRoute({ ...route, match: "prefix", handler: models.get }));
  }
  if (endpoints.embeddings.enabled) {
    const route = { ...common, method: "POST", path: "/v1/embeddings", match: "exact", scope: "operator.write" } as const;
    const maxBytes = Math.min(maxBodyBytes, MAX_EMBEDDINGS_BODY_BYTES);
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes: maxBytes, handler: createEmbeddingsHandler(ctx as PluginContext) }));
  }
  if (endpoints.chatCompletions.enabled) {
    const route = { ...common, method: "POST", path: "/v1/chat/completions", match: "exact", scope: "operator.write" } as const;
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes, handler: createChatHandler(ctx as PluginContext) }));
  }
  return routes;
}
