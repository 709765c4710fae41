import { type HttpCall, type HttpReply, resolveAgents, type SvcConfig } from "svc/sdk";
import { badRequest, openAiHttpErrors } from "./errors.ts";

const headers = { "Content-Type": "application/json; charset=utf-8" };

interface Prebuilt {
  config: SvcConfig;
  list: string;
  byId: Map<string, string>;
}

/** Agents as models: `svc`, `svc/default`, `svc/<agentId>`. The answers are built once per config, as strings. */
export function createModels(snapshot: () => SvcConfig): { list(): HttpReply; get(call: HttpCall): HttpReply } {
  let prebuilt: Prebuilt | undefined;
  const current = (): Prebuilt => {
    const config = snapshot();
    if (prebuilt?.config !== config) prebuilt = build(config);
    return prebuilt;
  };
  return {
    list: () => ({ headers, body: current().list }),
    get({ rest: id, url }) {
      if (isMalformed(url.pathname)) throw badRequest("Invalid model id encoding.");
      if (id === "") throw badRequest("Missing model id.");
      const found = current().byId.get(id);
      if (found === undefined) throw openAiHttpErrors.v1ModelNotFound({ model: id });
      return { headers, body: found };
    },
  };
}

function build(config: SvcConfig): Prebuilt {
  // Only ids are used, so the folder that workspaces are resolved against does not matter.
  const ids = new Set(["svc", "svc/default", ...resolveAgents(config, "/").map((agent) => `svc/${agent.id}`)]);
  const byId = new Map([...ids].map((id) => [id, JSON.stringify({ id, object: "model", created: 0, owned_by: "svc", permission: [] })]));
  return { config, list: `{"object":"list","data":[${[...byId.values()].join(",")}]}`, byId };
}

function isMalformed(path: string): boolean {
  try {
    // The value is used: the build takes a bare call for one without effect, and drops it.
    return decodeURIComponent(path) === "";
  } catch {
    return true;
  }
}
