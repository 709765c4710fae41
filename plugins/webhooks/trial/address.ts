import { subPath } from "../endpoint/hook-request.ts";
import type { MappingView } from "../mapping-view.ts";

/** Returns where a trial would arrive: what is named may be the path with or without the base, or the id of a mapping. Pure. */
export function addressOf(
  name: string,
  base: string,
  mappings: ReadonlyArray<Pick<MappingView, "id" | "path">>,
): { path: string; url: URL } {
  const cut = name.indexOf("?");
  const [before, query] = cut < 0 ? [name, ""] : [name.slice(0, cut), name.slice(cut)];
  const root = `${base.replace(/(?<!\/)\/+$/, "")}/`;
  const named = subPath(before.startsWith(root) ? before.slice(root.length) : before);
  const isPath = named === "wake" || named === "agent" || mappings.some(({ path }) => path === named);
  const path = (isPath ? undefined : mappings.find(({ id }) => id === named)?.path) ?? named;
  const url = new URL("http://127.0.0.1/");
  url.pathname = `${root}${path}`;
  url.search = query;
  return { path, url };
}
