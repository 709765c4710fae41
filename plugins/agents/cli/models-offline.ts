import type { CliContext, ModelProvider, SvcConfig } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { createDirectory } from "../directory.ts";
import type { Catalog } from "../models/catalog.ts";
import { createModelChoice } from "../models/choice.ts";
import { Cooldown } from "../models/cooldown.ts";
import type { ModelParts } from "../models/list.ts";
import { createModelStates } from "../models/states.ts";

/** Looks at models without a gateway: the plugins of providers run in this process, and no server is asked. */
export async function withOfflineModels<T>(cli: CliContext, work: (parts: ModelParts) => Promise<T>): Promise<T> {
  const { config: written } = await cli.config();
  const config = (written as SvcConfig | undefined) ?? parseSharedConfig({});
  const bringers = (await cli.candidates()).filter(
    ({ manifest, problem }) => !problem && (manifest?.contributes?.modelProviders ?? []).length > 0,
  );
  const local = await cli.local(
    bringers.map(({ id }) => id),
    { quiet: true },
  );
  try {
    const view = local.contributions<ModelProvider>("modelProvider");
    await view.ready();
    return await work(
      partsFor(
        config,
        cli.paths.stateDir,
        [...view].map(({ value }) => unasked(value, config)),
      ),
    );
  } finally {
    await local.close();
  }
}

function partsFor(config: SvcConfig, stateDir: string, providers: ModelProvider[]): ModelParts {
  const list = (provider: ModelProvider) => provider.models() as ReturnType<Catalog["known"]>;
  const catalog: Catalog = {
    providers: () => providers,
    provider: (id) => providers.find((one) => one.id === id),
    ready: async () => undefined,
    models: async (provider) => list(provider),
    known: list,
  };
  const models = createModelChoice(config, catalog);
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const cooldown = new Cooldown(clock.monotonic);
  const modelStates = createModelStates({
    catalog,
    cooldown,
    config: () => config,
    models: () => models,
    clock,
    onChange: () => undefined,
  });
  return { config, directory: createDirectory(config, stateDir), catalog, models, modelStates };
}

/** The provider with the models that the config names; its server's own list would be asked for over the network. */
function unasked(provider: ModelProvider, config: SvcConfig): ModelProvider {
  const { id, name, defaultModel, embedded, keySource } = provider;
  const entry = Object.hasOwn(config.models.providers, id) ? config.models.providers[id] : undefined;
  const models = (entry?.models ?? []).map((model) => model as ReturnType<Catalog["known"]>[number]);
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...(embedded === undefined ? {} : { embedded }),
    ...(keySource === undefined ? {} : { keySource }),
    models: () => models,
    available: () => provider.available(),
    stream: (request, options) => provider.stream(request, options),
  };
}
