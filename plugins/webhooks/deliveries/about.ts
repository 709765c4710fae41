import type { JsonObject } from "svc/sdk";
import type { Action } from "../action.ts";

/** Facts about an action that remain when its payload is gone. */
export interface About {
  path: string;
  mapping?: string;
  name?: string;
  agentId: string;
}

export function aboutOf(action: Pick<Action, "path" | "mapping" | "agentId"> & { name?: string }): About {
  const { path, mapping, name, agentId } = action;
  return { path, ...(mapping === undefined ? {} : { mapping }), ...(name === undefined ? {} : { name }), agentId };
}

/** As it stands in a result; undefined for one that holds none. */
export function readAbout(result: JsonObject | undefined): About | undefined {
  const about = result?.about as Partial<About> | undefined;
  return typeof about?.path === "string" && typeof about.agentId === "string" ? (about as About) : undefined;
}
