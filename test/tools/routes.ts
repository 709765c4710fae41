import { createRouteTable, type RouteTable } from "../../kernel/port/routes.ts";
import type { HttpRoute } from "../../sdk/types/http.ts";

/** A route of one exact path for `GET`, unless it is changed. */
export const route = (path: string, change: Partial<HttpRoute> = {}): HttpRoute => ({
  method: "GET",
  path,
  match: "exact",
  auth: "gateway",
  handler: () => new Response(),
  ...change,
});

/** Makes a route cover what is below its path, too. */
export const prefix = { match: "prefix" } as const;

/** A table of routes, each with the plugin that registers it. */
export function tableOf(...routes: Array<[HttpRoute, string]>): RouteTable {
  const table = createRouteTable();
  for (const [one, owner] of routes) table.add(one, owner);
  return table;
}
