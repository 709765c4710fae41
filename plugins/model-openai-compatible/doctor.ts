import { type DoctorFinding, type PluginContext, readEnv } from "svc/sdk";
import type { Providers } from "./providers.ts";
import { servedKeys, unservedKeys } from "./vendors.ts";

/** Findings about config and environment entries that bring no language model, each with its fix (`svc doctor`). */
export function registerModelDoctor(ctx: Pick<PluginContext, "on" | "env">, providers: Providers): void {
  ctx.on("doctor.collect", (_event, meta) => {
    const isSet = (name: string) => readEnv(ctx.env, name) !== undefined;
    for (const one of modelFindings({ skipped: providers.skipped(), ids: providers.ids(), isSet })) meta.report(one);
  });
}

interface Evidence {
  skipped: ReadonlyArray<{ id: string; reason: string }>;
  ids: readonly string[];
  isSet(variable: string): boolean;
}

/** Pure. */
export function modelFindings({ skipped, ids, isSet }: Evidence): DoctorFinding[] {
  const foreign = ids.length > 0 ? [] : unservedKeys.filter(({ keyEnv }) => isSet(keyEnv));
  return [
    ...skipped.map(
      ({ id, reason }): DoctorFinding => ({
        id: "models/provider-skipped",
        severity: "error",
        path: `models.providers.${id}`,
        message: `this provider is not used: ${reason}`,
        fix: `name a server with an OpenAI-compatible interface in models.providers.${id}.baseUrl and leave api out, or remove the entry`,
      }),
    ),
    ...foreign.map(
      ({ name, keyEnv }): DoctorFinding => ({
        id: "models/key-unused",
        severity: "info",
        message: `${keyEnv} is set, and no plugin of this release talks to ${name}`,
        fix: `set one of ${servedKeys.join(", ")}, or name any OpenAI-compatible server in models.providers.<vendor>.baseUrl`,
      }),
    ),
  ];
}
