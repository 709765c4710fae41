import { type Disposable, definePlugin, type PluginContext } from "svc/sdk";
import { createReplays } from "svc/sdk/internal";
import { createChatHandler } from "./chat.ts";
import { createEmbeddingsHandler } from "./embeddings.ts";
import { errorResponse, toProblem } from "./error-body.ts";
import { createModels } from "./models.ts";
import { createResponsesHandler } from "./responses/handler.ts";
import { createToolsHandler } from "./tools-invoke/handler.ts";

/** Maximum size of a request body of `/tools/invoke`. */
const MAX_TOOL_BODY_BYTES = 2 * 1024 * 1024;

export default definePlugin({
  id: "openai-http",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    // Outlives the routes: a reload of the config forgets no outcome.
    const replays = createReplays({ monotonic: () => ctx.clock.monotonic() });
    let routes = openRoutes(ctx, replays);
    // Requests under way finish on the route they came by.
    const apply = () => {
      for (const route of routes) void route.dispose();
      routes = openRoutes(ctx, replays);
    };
    ctx.onReload({
      prefixes: ["gateway.http.endpoints", "gateway.http.maxBodyBytes"],
      prepare: async () => ({ apply, discard: () => undefined }),
    });
  },
});

function openRoutes(ctx: PluginContext<unknown>, replays: ReturnType<typeof createReplays>): Disposable[] {
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
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes, handler: createEmbeddingsHandler(ctx as PluginContext) }));
  }
  if (endpoints.responses.enabled) {
    const route = { ...common, method: "POST", path: "/v1/responses", match: "exact", scope: "operator.write" } as const;
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes, handler: createResponsesHandler(ctx as PluginContext) }));
  }
  if (endpoints.toolsInvoke.enabled) {
    const route = { ...common, method: "POST", path: "/tools/invoke", match: "exact", scope: "operator.write" } as const;
    const maxBytes = Math.min(maxBodyBytes, MAX_TOOL_BODY_BYTES);
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes: maxBytes, handler: createToolsHandler(ctx as PluginContext, replays) }));
  }
  if (endpoints.chatCompletions.enabled) {
    const route = { ...common, method: "POST", path: "/v1/chat/completions", match: "exact", scope: "operator.write" } as const;
    routes.push(ctx.registerHttpRoute({ ...route, maxBodyBytes, handler: createChatHandler(ctx as PluginContext) }));
  }
  return routes;
}
