import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type CliContext, type CliTarget, defineCommand, type PluginVendor } from "svc/sdk";
import { mcpCliErrors } from "../errors.ts";
import { type PumpEnd, pump } from "../pump.ts";

const MCP_PATH = "/mcp";

interface ClientLibrary {
  StreamableHTTPClientTransport: new (url: URL, options: { requestInit: RequestInit }) => PumpEnd;
}

interface StdioLibrary {
  StdioServerTransport: new () => PumpEnd;
}

export default defineCommand({
  path: ["mcp"],
  summary: "Serve notes, sessions and agents to an MCP client over standard input and output",
  details:
    "For MCP clients that start a program: it hands each message on to /mcp of the running gateway, with this profile's token, and ends with its input. Servers whose tools agents use are another matter: svc mcp status.",
  examples: [["What a client that starts programs is given", "svc mcp"]],
  rpc: true,
  run: serve,
});

async function serve(cli: CliContext): Promise<number> {
  const target = await cli.target();
  const vendor = (await cli.vendorPackages()).of({ id: "mcp-server", root: join(cli.paths.packageRoot, "plugins/mcp-server") });
  const { server, client } = await loadTransports(vendor);
  const gateway = new client.StreamableHTTPClientTransport(endpointOf(target), { requestInit: { headers: headersOf(target) } });
  await pump(new server.StdioServerTransport(), gateway, {
    signal: cli.signal,
    report: (message) => cli.stderr.line(`svc mcp: ${message}`),
  });
  return 0;
}

/** @throws {SvcError} `mcp-unreachable` for a gateway that is not reached by HTTP from here */
function endpointOf({ url, ssh, tlsFingerprint }: CliTarget): URL {
  if (ssh) throw mcpCliErrors.mcpUnreachable({ reason: `it is reached by SSH; run svc mcp there: ssh ${ssh.target} svc mcp` });
  if (tlsFingerprint !== undefined)
    throw mcpCliErrors.mcpUnreachable({
      reason:
        "its certificate is known by its fingerprint only, which MCP clients cannot check; use gateway.tls with a certificate of a known authority",
    });
  const address = new URL(url);
  address.protocol = address.protocol === "wss:" ? "https:" : "http:";
  address.pathname = MCP_PATH;
  address.search = "";
  return address;
}

function headersOf({ token, password }: CliTarget): Record<string, string> {
  const secret = token ?? password;
  // Clients number their calls from 1: this tells those of two processes apart.
  return { "x-svc-mcp-client": randomUUID(), ...(secret === undefined ? {} : { Authorization: `Bearer ${secret}` }) };
}

async function loadTransports(vendor: PluginVendor): Promise<{ server: StdioLibrary; client: ClientLibrary }> {
  const entry = await vendor.resolve("@modelcontextprotocol/server");
  // The package offers its transport for programs beside its entry; the version is locked, and so is the place.
  const [server, client] = await Promise.all([
    import(new URL("stdio.mjs", entry).href) as Promise<StdioLibrary>,
    vendor.load<ClientLibrary>("@modelcontextprotocol/client"),
  ]);
  return { server, client };
}
