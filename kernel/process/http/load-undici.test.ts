import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { undiciFiles } from "./load-undici.ts";

const { cache, resolve } = createRequire(import.meta.url);

/** Makes a file of the package fail as one does for which no descriptor is left. @returns mends it */
function breakFile(file: string): () => void {
  const path = resolve(file);
  const whole = cache[path];
  const broken = Object.defineProperty({ id: path, loaded: true, children: [], paths: [] }, "exports", {
    get() {
      throw new Error("too many open files");
    },
  });
  cache[path] = broken as unknown as NodeJS.Module;
  return () => {
    if (whole) cache[path] = whole;
    else delete cache[path];
  };
}

test("a load that failed is tried again with the next request", async () => {
  const server = createServer((_req, res) => res.end("hello")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const life = new AbortController();
  vi.resetModules();
  const { createHttpPool } = await import("./pool.ts");
  const { createProxiedFetch } = await import("./proxied-fetch.ts");
  const { request } = createHttpPool({ env: {}, userAgent: "svc-plugin/acme", signal: life.signal });
  const fetching = createProxiedFetch({ env: { HTTP_PROXY: "http://proxy.example" }, signal: life.signal });

  const mend = breakFile(undiciFiles.connect);
  onTestFinished(mend);
  await expect(request(url)).rejects.toThrow("too many open files");
  await expect(fetching(url)).rejects.toThrow("too many open files");
  mend();

  expect(await text((await request(url)).body)).toBe("hello");
  expect(await (await fetching(url)).text()).toBe("hello");
  life.abort(new Error("over"));
});
