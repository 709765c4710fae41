import type { Env } from "svc/sdk";
import type { EngineHome } from "./engine-home.ts";
import type { ModelNames } from "./index-yml.ts";

/** Variables of the gateway that name models, and those of the engine that they become. */
const modelVariables = {
  embed: ["SIDECAR_EMBED_MODEL", "QMD_EMBED_MODEL"],
  rerank: ["SIDECAR_RERANK_MODEL", "QMD_RERANK_MODEL"],
  generate: ["SIDECAR_GENERATE_MODEL", "QMD_GENERATE_MODEL"],
} as const satisfies Record<keyof ModelNames, readonly [string, string]>;

/** Models that the gateway's environment asks for. Pure. */
export function modelNames(env: Env): ModelNames {
  const names: ModelNames = {};
  for (const use of Object.keys(modelVariables) as Array<keyof ModelNames>) {
    const value = env[modelVariables[use][0]]?.trim();
    if (value !== undefined && value !== "") names[use] = value;
  }
  return names;
}

/**
 * Environment of the engine: the gateway's without its own variables, which may hold its secrets, and with the folders of this agent's engine. Pure.
 */
export function engineEnv(env: Env, home: EngineHome): Record<string, string> {
  const own = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !/^SVC_/i.test(entry[0]));
  const models = modelNames(env);
  const named = (Object.keys(models) as Array<keyof ModelNames>).map((use) => [modelVariables[use][1], models[use] as string]);
  return {
    ...Object.fromEntries([...own, ...named]),
    XDG_CONFIG_HOME: home.config,
    XDG_CACHE_HOME: home.cache,
    QMD_CONFIG_DIR: home.engineConfig,
    NO_COLOR: "1",
  };
}
