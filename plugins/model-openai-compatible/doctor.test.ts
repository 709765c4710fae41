import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { modelFindings } from "./doctor.ts";
import { servedKeys } from "./vendors.ts";

const isSet = (name: string) => name === "ANTHROPIC_API_KEY";

test("an entry that nothing can be done with is a finding that names it and says what to do", () => {
  const skipped = [{ id: "claude", reason: 'api "anthropic-messages" is not spoken here; expected openai-completions' }];

  expect(modelFindings({ skipped, ids: [], isSet: () => false })).toEqual([
    {
      id: "models/provider-skipped",
      severity: "error",
      path: "models.providers.claude",
      message: 'this provider is not used: api "anthropic-messages" is not spoken here; expected openai-completions',
      fix: "name a server with an OpenAI-compatible interface in models.providers.claude.baseUrl and leave api out, or remove the entry",
    },
  ]);
});

test("a key of a vendor that nobody talks to is told, with those that work, while there is no language model", () => {
  expect(modelFindings({ skipped: [], ids: [], isSet })).toEqual([
    {
      id: "models/key-unused",
      severity: "info",
      message: "ANTHROPIC_API_KEY is set, and no plugin of this release talks to Anthropic",
      fix: "set one of OPENAI_API_KEY, MISTRAL_API_KEY, OPENROUTER_API_KEY, GROQ_API_KEY, DEEPSEEK_API_KEY, or name any OpenAI-compatible server in models.providers.<vendor>.baseUrl",
    },
  ]);
  expect(modelFindings({ skipped: [], ids: ["openai"], isSet })).toEqual([]);
});

test("the README names every variable that brings a language model", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  expect(servedKeys.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
