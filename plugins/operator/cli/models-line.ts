import type { ResultOf } from "svc/sdk";

type Models = NonNullable<ResultOf<"health">["models"]>;

const states: Record<Models[number]["state"], string> = {
  ready: "ready",
  embedded: "no language model; notes are quoted",
  unknown: "not known",
  unavailable: "not usable",
  "key-rejected": "key rejected",
  unreachable: "server does not answer",
  cooldown: "rests after failures",
  none: "none",
};

/**
 * `openai/gpt-5.4-mini (ready)`, with the agent's name in front where they differ; undefined without a plugin for agents. Reasons stand among the issues
 * and in `svc models status`. Pure.
 */
export function modelsLine(models: Models | undefined): string | undefined {
  if (!models || models.length === 0) return undefined;
  const texts = models.map((row) => ({ agentId: row.agentId, text: textOf(row) }));
  const [first] = texts;
  if (texts.every(({ text }) => text === first?.text)) return first?.text;
  return texts.map(({ agentId, text }) => `${agentId}: ${text}`).join("; ");
}

function textOf({ provider, model, state, until }: Models[number]): string {
  if (state === "none") return "none";
  const rest = until === undefined ? "" : ` until ${new Date(until).toLocaleTimeString("sv-SE")}`;
  return `${provider === "" ? model : `${provider}/${model}`} (${states[state]}${rest})`;
}
