import { type CliContext, type CliValues, defineCommand, type ParamsOf, type ResultOf } from "svc/sdk";
import { hasGateway } from "svc/sdk/internal";
import type { ModelParts } from "../models/list.ts";
import { listRows, statusLines } from "./models-text.ts";

type List = ResultOf<"models.list">;
type Status = ResultOf<"models.status">;

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const offline = "Without a running gateway, what config and environment say is shown.";

const list = defineCommand({
  path: ["models", "list"],
  summary: "List the models that agents can use",
  details: `Without --all, providers without a key are left out, and so is what agents.defaults.models does not list.\n${offline}`,
  examples: [["Everything one server offers", "svc models list --provider lab"]],
  options: {
    provider: { kind: "string", description: "Only models of this provider", placeholder: "id" },
    agent: { kind: "string", description: "Agent whose default and fallbacks are marked (default: the default agent)", placeholder: "id" },
    all: { kind: "flag", description: "Also models that cannot be used or chosen" },
    json,
  },
  rpc: true,
  run: async (cli, values) => {
    const { provider, agent } = values;
    const params: ParamsOf<"models.list"> = {
      view: values.all === true || typeof provider === "string" ? "all" : "default",
      ...(typeof provider === "string" ? { provider } : {}),
      ...(typeof agent === "string" ? { agentId: agent } : {}),
    };
    const { source, answer } = await answered<List>(cli, values, {
      live: (client) => client.request("models.list", params),
      local: async (parts) => (await import("../models/list.ts")).modelList(parts, params),
    });
    if (cli.json) cli.stdout.json({ ok: true, source, ...answer });
    else printList(cli, answer, provider);
    return 0;
  },
});

const status = defineCommand({
  path: ["models", "status"],
  summary: "Show providers, their keys and states, and the model of each agent",
  details: `Keys are named by where they come from, never shown.\n${offline}`,
  examples: [["Ask the servers first, at no cost", "svc models status --probe"]],
  options: { probe: { kind: "flag", description: "Ask each server whether it answers and takes the key" }, json },
  rpc: true,
  run: async (cli, values) => {
    const probe = values.probe === true;
    const { source, answer } = await answered<Status>(cli, values, {
      live: (client) => client.request("models.status", probe ? { probe } : {}),
      local: async (parts) => (await import("../models/report.ts")).modelReport(parts),
    });
    if (cli.json) cli.stdout.json({ ok: true, source, ...answer });
    else for (const line of statusLines(answer, cli.color)) cli.stdout.line(line);
    return 0;
  },
});

export default [list, status];

interface Ways<T> {
  live(client: Awaited<ReturnType<CliContext["connect"]>>): Promise<T>;
  local(parts: ModelParts): Promise<unknown>;
}

/** Asks the gateway, or without one the plugins of the models in this process. With an address that is named the gateway is asked in any case. */
async function answered<T>(cli: CliContext, values: CliValues, ways: Ways<T>): Promise<{ source: "gateway" | "config"; answer: T }> {
  if (typeof values.url === "string" || (await hasGateway(cli))) {
    return { source: "gateway", answer: await cli.withClient((client) => ways.live(client)) };
  }
  const { withOfflineModels } = await import("./models-offline.ts");
  const answer = (await withOfflineModels(cli, (parts) => ways.local(parts))) as T;
  if (!cli.json) cli.stderr.line("Gateway not reachable — showing config only.");
  return { source: "config", answer };
}

function printList(cli: CliContext, { models, skipped = [] }: List, provider: CliValues[string]): void {
  const reason = skipped.find((one) => one.provider === provider)?.reason;
  if (models.length > 0) cli.stdout.table(["MODEL", "CONTEXT", "READS", "NOTES"], listRows(models));
  else if (typeof provider === "string")
    cli.stdout.line(`No model of "${provider}": ${reason ?? "no plugin offers such a provider; see svc models status"}.`);
  else cli.stdout.line("No model can be used; svc models status shows why.");
}
