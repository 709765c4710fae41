import type { ResultOf } from "svc/sdk";
import { expect, test } from "vitest";
import { listRows, statusLines } from "./models-text.ts";

const plain = (text: string) => text;
const color = { bold: plain, green: plain, yellow: plain, red: plain };

test("a list shows the window, what a model reads, and the rest in words", () => {
  const model = { id: "m", name: "M", provider: "lab" };
  expect(
    listRows([
      { ...model, contextWindow: 1_048_576, input: ["text", "image"], reasoning: true, tags: ["default"], alias: "big", available: true },
      { ...model, contextWindow: 128_000, tags: ["fallback"], available: false, unavailableReason: "auth-failed" },
      { ...model, contextWindow: 512, tags: ["embedded"] },
    ]),
  ).toEqual([
    ["lab/m", "1M", "text image", "default, alias big, reasons"],
    ["lab/m", "128k", "", "fallback, key rejected"],
    ["lab/m", "512", "", "no language model"],
  ]);
});

test("a status is aligned, wrapped to 80 columns, and printable", () => {
  const reason = "no API key; set models.providers.mistral.apiKey in the config file or MISTRAL_API_KEY in the environment";
  const status: ResultOf<"models.status"> = {
    agents: [
      {
        ...{ agentId: "main", isDefault: true, setBy: "agents.defaults.model" },
        models: [
          { provider: "lab", model: "m", state: "ready" },
          { provider: "mistral", model: "small", state: "unavailable", reason },
        ],
      },
      { agentId: "work", isDefault: false, models: [{ provider: "", model: "\u001b[2Jx", state: "unknown", reason: "nobody lists it" }] },
    ],
    providers: [
      { id: "lab", state: "ready", keySource: "LAB_API_KEY", isConfigured: true },
      { id: "mistral", state: "unavailable", reason, isConfigured: true },
    ],
    skipped: [
      { provider: "mistral", reason },
      { provider: "other", reason: "no active plugin knows an address for it; set its baseUrl" },
    ],
  };

  expect(statusLines(status, color)).toEqual([
    "Agents",
    "  main (default)  lab/m               ready",
    "                  then mistral/small  not usable",
    "  work            \\u001b[2Jx          not known",
    "                  nobody lists it",
    "",
    "Providers",
    "  lab      ready       key from LAB_API_KEY",
    "  mistral  not usable  no key",
    "           no API key; set models.providers.mistral.apiKey in the config file or",
    "           MISTRAL_API_KEY in the environment",
    "",
    "Not used",
    "  other  no active plugin knows an address for it; set its baseUrl",
  ]);
});

test("a provider that rests says until when, and without providers there is advice", () => {
  const rest = { id: "lab", state: "cooldown" as const, reason: "slow down", until: 0, isConfigured: true };
  expect(statusLines({ agents: [], providers: [rest], skipped: [] }, color).at(3)).toMatch(
    /^ {2}lab {2}rests until \d\d:\d\d:\d\d {2}no key$/,
  );
  expect(statusLines({ agents: [], providers: [], skipped: [] }, color).at(-1)).toBe(
    "  none: set a key such as OPENAI_API_KEY, or models.providers.<vendor>",
  );
});
