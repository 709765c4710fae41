import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HttpReply, SvcConfig } from "svc/sdk";

type Endpoints = SvcConfig["gateway"]["http"]["endpoints"];
type Operations = Record<string, { "x-svc-endpoint"?: keyof Endpoints }>;

/**
 * `GET /openapi.json`: the document that `npm run docs` wrote, without the endpoints that are off.
 * @param root folder of the plugin
 */
export function createDocumentHandler(root: string, endpoints: () => Endpoints): () => Promise<HttpReply> {
  return async () => {
    const { paths, ...rest } = JSON.parse(await readFile(join(root, "svc.openapi.json"), "utf8")) as { paths: Record<string, Operations> };
    const isOn = (operations: Operations) =>
      Object.values(operations).every(({ "x-svc-endpoint": endpoint }) => endpoint === undefined || endpoints()[endpoint].enabled);
    const served = Object.fromEntries(Object.entries(paths).filter(([, operations]) => isOn(operations)));
    return { headers: { "Content-Type": "application/json; charset=utf-8" }, body: JSON.stringify({ ...rest, paths: served }) };
  };
}
