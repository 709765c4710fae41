import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import type { CliContext } from "svc/sdk";

const WAIT_MS = 300_000;
const CALLBACK = "/callback";

/** Logs in: the browser comes back to a port of this command, or a person pastes the address it ended at. */
export async function logIn(cli: CliContext, server: string, port = 0): Promise<number> {
  const listener = createServer();
  try {
    await listening(listener, port);
    const redirectUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}${CALLBACK}`;
    const begun = await cli.withClient((client) => client.request("mcp.login.start", { server, redirectUrl }));
    if (begun.authorizationUrl === undefined) {
      if (cli.json) cli.stdout.json({ ok: true, loggedIn: false });
      else cli.stdout.line(`${server} asks for no login.`);
      return 0;
    }
    cli.stderr.line(`Open this address in a browser:\n\n  ${begun.authorizationUrl}\n`);
    cli.stderr.line("Waiting for the browser to come back; or paste the address that it ends at.");
    const query = await answerOf(cli, listener);
    await cli.withClient((client) => client.request("mcp.login.finish", { server, query }, { timeoutMs: 60_000 }));
    if (cli.json) cli.stdout.json({ ok: true, loggedIn: true });
    else cli.stdout.line(`Logged in at ${server}.`);
    return 0;
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
}

function listening(listener: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port, "127.0.0.1", resolve);
  });
}

/** The query that the authorization server sent the browser back with. */
async function answerOf(cli: CliContext, listener: Server): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  try {
    return await new Promise((resolve, reject) => {
      const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(WAIT_MS)]);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      listener.on("request", (request, response) => {
        const { pathname, search } = new URL(request.url ?? "/", "http://127.0.0.1");
        const isAnswer = pathname === CALLBACK && search.length > 1;
        response.writeHead(isAnswer ? 200 : 404, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
        response.end(isAnswer ? "svc has the answer. This page can be closed.\n" : "Nothing here.\n");
        if (isAnswer) resolve(search.slice(1));
      });
      lines.on("line", (line) => {
        const { search } = URL.canParse(line.trim()) ? new URL(line.trim()) : { search: "" };
        if (search.length > 1) resolve(search.slice(1));
      });
    });
  } finally {
    lines.close();
  }
}
