import { definePlugin } from "svc/sdk";
import { createChatHandler } from "./chat.ts";
import { errorResponse, toProblem } from "./error-body.ts";
import { createModels } from "./models.ts";
import "./errors.ts";

export default definePlugin({
  id: "openai-http",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { endpoints, maxBodyBytes } = ctx.snapshot().gateway.http;
    const common = { auth: "gateway", onError: (fault: Parameters<typeof toProblem>[0]) => errorResponse(toProblem(fault)) } as const;
    if (endpoints.models.enabled) {
      const models = createModels(() => ctx.snapshot());
      const route = { ...common, method: "GET", path: "/v1/models", scope: "operator.read" } as const;
      ctx.registerHttpRoute({ ...route, match: "exact", handler: models.list });
      ctx.registerHttpRoute({ ...route, match: "prefix", handler: models.get });
    }
    if (endpoints.chatCompletions.enabled) {
      ctx.registerHttpRoute({
        ...common,
        method: "POST",
        path: "/v1/chat/completions",
        match: "exact",
        scope: "operator.write",
        maxBodyBytes,
        handler: createChatHandler(ctx),
      });
    }
  },
});
