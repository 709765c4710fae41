import { get } from "node:http";
import { createServer } from "node:net";

/** Does a gateway answer `/healthz` there? Bounded to half a second; a wildcard address is asked on loopback. */
export async function answersAsGateway(host: string, port: number): Promise<boolean> {
  const target = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return new Promise((resolve) => {
    const req = get({ host: target, port, path: "/healthz", signal: AbortSignal.timeout(500), agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => {
        body = (body + chunk).slice(0, 1_000);
      });
      res.on("end", () => resolve(/"status"\s*:\s*"live"/.test(body)));
      res.on("error", () => resolve(false));
    });
    req.on("error", () => resolve(false));
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
