import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One published version. */
export interface PublishedPackage {
  name: string;
  version: string;
  /** The archive as it is served. */
  tarball: Buffer;
  /** The hash that the registry tells; default: that of the archive. */
  integrity?: string;
  dependencies?: Record<string, string>;
}

export interface FakeRegistry {
  url: string;
  /** Paths that were asked for, in order. */
  requests: string[];
  close(): Promise<void>;
}

export function integrityOf(bytes: Buffer): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

/** A registry on loopback that speaks as much of npm's protocol as reading packages needs: packuments and archives. */
export async function startFakeRegistry(packages: readonly PublishedPackage[]): Promise<FakeRegistry> {
  const requests: string[] = [];
  const server = createServer((req, res) => {
    const path = decodeURIComponent(req.url ?? "/");
    requests.push(path);
    const archive = packages.find((p) => path === archivePath(p));
    if (archive) {
      res.writeHead(200, { "content-type": "application/octet-stream" }).end(archive.tarball);
      return;
    }
    const versions = packages.filter((p) => path === `/${p.name}`);
    if (versions.length === 0) {
      res.writeHead(404, { "content-type": "application/json" }).end('{"error":"Not found"}');
      return;
    }
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(packument(versions, `http://${req.headers.host}`)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function archivePath({ name, version }: PublishedPackage): string {
  return `/${name}/-/${name.split("/").at(-1)}-${version}.tgz`;
}

function packument(versions: readonly PublishedPackage[], host: string): Record<string, unknown> {
  const rows = versions.map((p) => {
    const dist = { tarball: host + archivePath(p), integrity: p.integrity ?? integrityOf(p.tarball) };
    return [p.version, { name: p.name, version: p.version, dependencies: p.dependencies ?? {}, dist }];
  });
  return { name: versions[0]?.name, "dist-tags": { latest: versions.at(-1)?.version }, versions: Object.fromEntries(rows) };
}
