import { describe, expect, test } from "vitest";
import type { ResolvedRef } from "../secrets/state.ts";
import { secretsForCommand } from "./secrets-for-command.ts";

const ref = (id: string) => ({ source: "env", id });
const source = {
  gateway: { auth: { mode: "token", token: ref("GATEWAY") } },
  hooks: { enabled: false, token: ref("HOOKS") },
  models: { providers: { lab: { apiKey: ref("LAB") }, gone: { apiKey: ref("GONE") }, plain: { apiKey: "sk-plain-0123456789" } } },
};
const refs = new Map<string, ResolvedRef>([
  ["gateway.auth.token", { owner: "gateway.auth", fingerprint: "a", value: "gateway-secret" }],
  ["models.providers.lab.apiKey", { owner: "models.providers.lab", fingerprint: "b", value: "sk-lab" }],
  ["models.providers.gone.apiKey", { owner: "models.providers.gone", fingerprint: "c" }],
]);
const gone = { path: "models.providers.gone.apiKey", owner: "models.providers.gone", reason: "variable GONE is not set" };
const loaded = { source, refs, secretState: { resolved: 2, stale: [], unavailable: [gone], changedOwners: [] } };
const ask = (...targetIds: string[]) => secretsForCommand(loaded, { commandName: "agent", targetIds }, []);

describe("a command is given", () => {
  test("the values at the paths it names, and no others", async () => {
    expect(await ask("models.providers.lab.apiKey")).toEqual({
      ok: true,
      assignments: [{ path: "models.providers.lab.apiKey", pathSegments: ["models", "providers", "lab", "apiKey"], value: "sk-lab" }],
      diagnostics: [],
      inactiveRefPaths: [],
    });
  });

  test("all that fit a path with an asterisk, and what could not be had with its reason; text in the config is not repeated", async () => {
    const answer = await ask("models.providers.*.apiKey");
    expect(answer.assignments.map(({ path }) => path)).toEqual(["models.providers.lab.apiKey"]);
    expect(answer.diagnostics).toEqual(["models.providers.gone.apiKey: variable GONE is not set"]);
    expect(JSON.stringify(answer)).not.toContain("sk-plain");
  });

  test("the paths of what is switched off, without a value", async () => {
    expect(await ask("hooks.token", "gateway.auth.token")).toMatchObject({
      assignments: [{ path: "gateway.auth.token", value: "gateway-secret" }],
      inactiveRefPaths: ["hooks.token"],
    });
  });
});

test.each(["gateway.port", "nothing", "*", "gateway.auth", "models.providers.lab"])(
  "no secret stands at %s: it is refused",
  async (target) => {
    const issues = expect.stringContaining(`no secret stands at "${target}"`);
    await expect(ask("gateway.auth.token", target)).rejects.toMatchObject({ code: "invalid-params", message: issues });
  },
);
