import { resolve } from "node:path";
import { type CliContext, type CliValues, commonErrors, defineCommand, type JsonObject, type ResultOf } from "svc/sdk";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;

const list = defineCommand({
  path: ["agents", "list"],
  summary: "List agents with their workspaces and models",
  options: { json },
  rpc: true,
  run: (cli) =>
    cli.withClient(async (client) => {
      const answer = await client.request("agents.list", {});
      if (cli.json) cli.stdout.json(answer);
      else printList(cli, answer);
      return 0;
    }),
});

const add = defineCommand({
  path: ["agents", "add"],
  summary: "Add an agent",
  details: "The id is derived from the name: Helper Two becomes helper-two. The config is changed, and the agent is available at once.",
  examples: [["With a model of its own", "svc agents add helper --model openai/gpt-x"]],
  positionals: [{ name: "id", required: true }],
  options: {
    workspace: { kind: "string", description: "Folder of its files (default: one in the state directory)", placeholder: "path" },
    adopt: { kind: "flag", description: "Use a workspace that already contains files; svc will never move it" },
    model: { kind: "string", description: "Its model; default: the default model", placeholder: "provider/model" },
    emoji: { kind: "string", description: "Emoji beside the agent's name", placeholder: "sign" },
    avatar: { kind: "string", description: "Picture: a URL, or a file in the workspace", placeholder: "address" },
    json,
  },
  rpc: true,
  run: (cli, values, [id]) =>
    cli.withClient(async (client) => {
      const params = { name: required(id), ...given(values, ["adopt", "model", "emoji", "avatar"]), ...workspaceOf(values) };
      const answer = await client.request("agents.create", params);
      if (cli.json) cli.stdout.json(answer);
      else cli.stdout.line(`${answer.agentId}: added, workspace ${answer.workspace}`);
      return 0;
    }),
});

const remove = defineCommand({
  path: ["agents", "delete"],
  summary: "Delete an agent; folders that svc made for it go to the trash",
  details:
    "Nothing is erased: a workspace that svc created goes to the folder trash of the state directory, one that was there before stays in place, and the sessions stay in the store.",
  positionals: [{ name: "id", required: true }],
  options: { "keep-files": { kind: "flag", description: "Leave its files where they are" }, json },
  rpc: true,
  run: (cli, values, [id]) =>
    cli.withClient(async (client) => {
      const params = { agentId: required(id), deleteFiles: values["keep-files"] !== true };
      const answer = await client.request("agents.delete", params);
      if (cli.json) cli.stdout.json(answer);
      else {
        cli.stdout.line(`${answer.agentId}: deleted${answer.trash ? `, files moved to ${answer.trash}` : ""}`);
        for (const reason of answer.kept ?? []) cli.stdout.line(`Left in place: ${reason}`);
      }
      return 0;
    }),
});

export default [list, add, remove];

function printList(cli: CliContext, { defaultId, agents }: ResultOf<"agents.list">): void {
  const rows = agents.map(({ id, name, identity, model, workspace }) => [
    `${id}${id === defaultId ? " (default)" : ""}`,
    [identity?.emoji, name ?? identity?.name].filter(Boolean).join(" ") || "-",
    model?.primary ?? "-",
    workspace,
  ]);
  const head = ["ID", "NAME", "MODEL", "WORKSPACE"];
  cli.stdout.table(head, rows);
}

/** A relative path is meant from where the command runs; a gateway elsewhere knows it by its own folders. */
function workspaceOf({ workspace, url }: CliValues): { workspace?: string } {
  if (typeof workspace !== "string") return {};
  const isHere = url === undefined && !workspace.startsWith("~");
  return { workspace: isHere ? resolve(workspace) : workspace };
}

function given(values: CliValues, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
}

function required(id: string | undefined): string {
  if (!id) throw commonErrors.usage({ message: "agents: an agent id is required" });
  return id;
}
