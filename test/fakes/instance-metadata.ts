import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AwsIdentity } from "./aws-signature.ts";

export interface FakeMetadata {
  url: string;
  /** `METHOD path` of everything that arrived. */
  requests: string[];
  close(): Promise<void>;
}

/**
 * The metadata address of a cloud machine, second version, with one role; at `/container` what a container's address answers.
 * @param identity whom it gives; undefined: it takes every request and never answers
 */
export async function startFakeMetadata(identity: AwsIdentity | undefined): Promise<FakeMetadata> {
  const requests: string[] = [];
  const role = "/latest/meta-data/iam/security-credentials/";
  const server = createServer((req, res) => {
    req.resume();
    requests.push(`${req.method} ${req.url}`);
    if (!identity) return;
    const credentials = JSON.stringify({
      Code: "Success",
      AccessKeyId: identity.accessKeyId,
      SecretAccessKey: identity.secretAccessKey,
      Token: identity.sessionToken ?? "",
      Expiration: new Date(Date.now() + 6 * 3_600_000).toISOString(),
    });
    if (req.method === "PUT" && req.url === "/latest/api/token") return void res.end("token-of-metadata");
    if (req.url === "/container") return void res.end(credentials);
    if (req.headers["x-aws-ec2-metadata-token"] !== "token-of-metadata") return void res.writeHead(401).end();
    if (req.url === role) return void res.end("a-role");
    res.writeHead(req.url === `${role}a-role` ? 200 : 404).end(credentials);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
