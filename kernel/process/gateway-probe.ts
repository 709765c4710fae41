import { get } from "node:http";
import { createServer } from "node:net";

/** Does a gateway answer `/healthz` there, plain or over TLS? Bounded to half a second each; a wildcard address is asked on loopback. */
export async function answersAsGateway(host: string, port: number): Promise<boolean> {
  const target = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const answer = await askHealth(get, target, port);
  if (answer !== "no HTTP") return answer === "live";
  const { get: secureGet } = await import("node:https");
  return (await askHealth(secureGet, target, port)) === "live";
}

type Answer = "live" | "something else" | "nobody" | "no HTTP";

/** Nothing secret is asked or told, so any certificate will do. */
function askHealth(ask: typeof get, host: string, port: number): Promise<Answer> {
  const options = { host, port, path: "/healthz", signal: AbortSignal.timeout(500), agent: false, rejectUnauthorized: false };
  return new Promise((resolve) => {
    const req = ask(options, (res) => {
      let body = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => {
        body = (body + chunk).slice(0, 1_000);
      });
      res.on("end", () => resolve(/"status"\s*:\s*"live"/.test(body) ? "live" : "something else"));
      res.on("error", () => resolve("something else"));
    });
    req.on("error", ({ code = "" }: NodeJS.ErrnoException) => resolve(/^(ECONNRESET|EPIPE|HPE_)/.test(code) ? "no HTTP" : "nobody"));
  });
}

/** Can a server listen on this address at all? Tries a port that the system chooses. */
export async function isBindable(host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ host, port: 0, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
