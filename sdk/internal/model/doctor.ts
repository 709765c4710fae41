import type { PluginContext } from "../../types/context.ts";
import type { ModelProviders } from "./providers.ts";

/** Reports entries of `models.providers` that bring no language model, each with its fix (`svc doctor`), under a finding id that the plugin's manifest declares. */
export function reportSkippedProviders(ctx: Pick<PluginContext, "on">, providers: ModelProviders, id: string): void {
  ctx.on("doctor.collect", (_event, meta) => {
    for (const { id: provider, reason } of providers.skipped()) {
      meta.report({
        id,
        severity: "error",
        path: `models.providers.${provider}`,
        message: `this provider is not used: ${reason}`,
        fix: `set what is missing in models.providers.${provider}, or remove the entry`,
      });
    }
  });
}
