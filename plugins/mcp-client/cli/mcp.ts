import { type CliContext, defineCommand } from "svc/sdk";
import { logIn } from "./log-in.ts";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const positionals = [{ name: "server", required: true }];

const status = defineCommand({
  path: ["mcp", "status"],
  summary: "Show the MCP servers of the config and their tools",
  details: "Servers are set in mcp.servers of the config. Exit code 1: one of them is not available.",
  examples: [["See what each server brings", "svc mcp status"]],
  options: { json },
  rpc: true,
  run: showStatus,
});

const login = defineCommand({
  path: ["mcp", "login"],
  summary: "Log in at an MCP server",
  details:
    "Prints an address to open in a browser, and waits five minutes for the browser to come back to this machine. From another machine, paste the address that the browser ends at.",
  examples: [
    ["Log in at the server that the config calls tracker", "svc mcp login tracker"],
    ["Come back to the port that a client was registered with", "svc mcp login tracker --port 8976"],
  ],
  positionals,
  options: {
    json,
    port: {
      kind: "integer",
      description: "Port of this machine that the browser comes back to; default any",
      min: 1,
      max: 65_535,
      placeholder: "n",
    },
  },
  rpc: true,
  run: (cli, { port }, [server = ""]) => logIn(cli, server, typeof port === "number" ? port : 0),
});

const logout = defineCommand({
  path: ["mcp", "logout"],
  summary: "Forget the login at an MCP server",
  positionals,
  options: { json },
  rpc: true,
  async run(cli, _values, [server = ""]) {
    const { removed } = await cli.withClient((client) => client.request("mcp.logout", { server }));
    if (cli.json) cli.stdout.json({ ok: true, removed });
    else cli.stdout.line(removed ? `The login at ${server} is forgotten.` : `There was no login at ${server}.`);
    return 0;
  },
});

const revoke = defineCommand({
  path: ["mcp", "revoke"],
  summary: "Take back approvals given for always to tools of an MCP server",
  positionals,
  options: { json },
  rpc: true,
  async run(cli, _values, [server = ""]) {
    const { removed } = await cli.withClient((client) => client.request("mcp.revoke", { server }));
    if (cli.json) cli.stdout.json({ ok: true, removed });
    else cli.stdout.line(`${removed} approvals taken back.`);
    return 0;
  },
});

export default [status, login, logout, revoke];

async function showStatus(cli: CliContext): Promise<number> {
  const { servers } = await cli.withClient((client) => client.request("mcp.status", {}));
  const isFine = servers.every(({ state }) => state === "ready" || state === "connecting");
  if (cli.json) cli.stdout.json({ ok: true, servers });
  else if (servers.length === 0) cli.stdout.line("No MCP servers; add one to mcp.servers in the config.");
  else {
    const rows = servers.map(({ name, transport, state, tools, problem }) => [
      name,
      transport,
      state,
      `${tools.length}`,
      problem ?? tools.join(", "),
    ]);
    cli.stdout.table(["SERVER", "BY", "STATE", "TOOLS", ""], rows);
  }
  return isFine ? 0 : 1;
}
