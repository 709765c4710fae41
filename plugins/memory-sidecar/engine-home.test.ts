import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { applyModels, engineHome, prepareHome } from "./engine-home.ts";
import { engineEnv, modelNames } from "./environment.ts";
import { withModels } from "./index-yml.ts";
import { createTestState, type TestState } from "./test-sidecar.ts";

let state: TestState;
beforeEach(() => {
  state = createTestState();
});
afterEach(() => state.dispose());
const home = () => engineHome(join(state.stateDir, "agents/main/sidecar"));
const yml = 'collections:\n  models:\n    path: /x\nmodels:\n  embed: "hf:a"\n  rerank: hf:b # best\n\nother: 1\n';

test("the environment is the gateway's without its own variables, with the agent's folders and the named models", () => {
  const env = engineEnv(
    { PATH: "/bin", SVC_GATEWAY_TOKEN: "x", QMD_EMBED_MODEL: "old", SIDECAR_EMBED_MODEL: " hf:new ", SIDECAR_RERANK_MODEL: "" },
    home(),
  );
  expect(env).toEqual({
    PATH: "/bin",
    SIDECAR_EMBED_MODEL: " hf:new ",
    SIDECAR_RERANK_MODEL: "",
    QMD_EMBED_MODEL: "hf:new",
    XDG_CONFIG_HOME: home().config,
    XDG_CACHE_HOME: home().cache,
    QMD_CONFIG_DIR: join(home().config, "qmd"),
    NO_COLOR: "1",
  });
  expect(modelNames({ SIDECAR_GENERATE_MODEL: "g", SIDECAR_RERANK_MODEL: "r" })).toEqual({ generate: "g", rerank: "r" });
});

describe("the engine's config", () => {
  test("gets the models that differ, and keeps everything else", () => {
    expect(withModels(yml, { embed: "hf:a", rerank: "hf:c", generate: "hf:d" })).toEqual({
      text: yml.replace("  rerank: hf:b # best", '  rerank: "hf:c"').replace("models:\n  embed", 'models:\n  generate: "hf:d"\n  embed'),
      uses: ["rerank", "generate"],
    });
    expect(withModels(yml, { embed: "hf:a" })).toBeUndefined();
    expect(withModels("collections: {}\n", { embed: "hf:a" })).toBeUndefined();
  });

  test("is rewritten on disk, and says whether vectors are of another model", async () => {
    await prepareHome(home(), { workspace: state.workspace, userHome: state.stateDir });
    expect(await applyModels(home(), { embed: "hf:z" })).toBe(false);
    writeFileSync(home().indexYml, yml);
    expect(await applyModels(home(), { rerank: "hf:z" })).toBe(false);
    expect(await applyModels(home(), { embed: "hf:z" })).toBe(true);
    expect(readFileSync(home().indexYml, "utf8")).toContain('  embed: "hf:z"');
    expect(await applyModels(home(), { embed: "hf:z" })).toBe(false);
  });
});

test("models of the user are linked into the cache, once, and only where there are some", async () => {
  const link = join(home().engineCache, "models");
  await prepareHome(home(), { workspace: state.workspace, userHome: state.stateDir });
  expect(existsSync(link)).toBe(false);
  const models = join(state.stateDir, ".cache/qmd/models");
  mkdirSync(models, { recursive: true });
  await prepareHome(home(), { workspace: state.workspace, userHome: state.stateDir });
  await prepareHome(home(), { workspace: state.workspace, userHome: state.stateDir });
  expect(readlinkSync(link)).toBe(models);
});
