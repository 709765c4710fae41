import { type CliContext, printableLine, type ResultOf } from "svc/sdk";

type Model = ResultOf<"models.list">["models"][number];
type Status = ResultOf<"models.status">;
type State = Status["agents"][number]["models"][number]["state"];
type Color = Pick<CliContext["color"], "bold" | "green" | "yellow" | "red">;

/** Columns that texts are wrapped to. */
const WIDTH = 80;

const unavailable: Record<NonNullable<Model["unavailableReason"]>, string> = {
  "missing-auth": "no key",
  "auth-failed": "key rejected",
  cooldown: "rests after failures",
};

/** Rows of `svc models list`: name, size of the window, what it reads, and the rest in words. */
export function listRows(models: readonly Model[]): string[][] {
  return models.map(({ id, provider, contextWindow, input, reasoning, alias, tags = [], unavailableReason }) => {
    const notes = [
      ...tags.map((tag) => (tag === "embedded" ? "no language model" : tag)),
      ...(alias === undefined ? [] : [`alias ${alias}`]),
      ...(reasoning ? ["reasons"] : []),
      ...(unavailableReason === undefined ? [] : [unavailable[unavailableReason]]),
    ];
    return [`${provider}/${id}`, tokens(contextWindow), input?.join(" ") ?? "", notes.join(", ")];
  });
}

/** `128k`, `1M`; empty where nobody knows. */
function tokens(count: number | undefined): string {
  if (count === undefined) return "";
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${Number((count / 1_000_000).toFixed(1))}M`;
}

const states: Record<State, string> = {
  ready: "ready",
  embedded: "no language model; notes are quoted",
  unknown: "not known",
  unavailable: "not usable",
  "key-rejected": "key rejected",
  unreachable: "does not answer",
  cooldown: "rests",
  none: "no plugin offers a model",
};

/** Lines of `svc models status`: agents, providers, and what cannot be used. Texts of others are printable, and wrapped to 80 columns. */
export function statusLines({ agents, providers, skipped }: Status, color: Color): string[] {
  const others = skipped.filter(({ provider }) => !providers.some(({ id }) => id === provider));
  return [
    color.bold("Agents"),
    ...agentLines(agents, color),
    "",
    color.bold("Providers"),
    ...(providers.length === 0
      ? ["  none: set a key such as OPENAI_API_KEY, or models.providers.<vendor>"]
      : providerLines(providers, color)),
    ...(others.length === 0 ? [] : ["", color.bold("Not used"), ...skippedLines(others)]),
  ];
}

function agentLines(agents: Status["agents"], color: Color): string[] {
  const rows = agents.flatMap(({ agentId, isDefault, models }) =>
    models.map((one, i) => {
      const ref = one.provider === "" ? one.model : `${one.provider}/${one.model}`;
      return { name: i === 0 ? `${agentId}${isDefault ? " (default)" : ""}` : "", ref: i === 0 ? ref : `then ${ref}`, one };
    }),
  );
  const [names, refs] = [widthOf(rows.map(({ name }) => name)), widthOf(rows.map(({ ref }) => ref))];
  return rows.flatMap(({ name, ref, one }) => [
    `  ${cell(name, names)}  ${cell(ref, refs)}  ${stateOf(one, color)}`.trimEnd(),
    // Problems of a provider stand with the provider.
    ...(one.state === "unknown" || one.state === "none" ? whyLines(one, names + 4) : []),
  ]);
}

function providerLines(providers: Status["providers"], color: Color): string[] {
  const ids = widthOf(providers.map(({ id }) => id));
  const words = widthOf(providers.map((one) => wordOf(one)));
  return providers.flatMap((one) => [
    `  ${cell(one.id, ids)}  ${stateOf(one, color, words)}  ${one.keySource === undefined ? "no key" : `key from ${printableLine(one.keySource)}`}`,
    ...whyLines(one, ids + 4),
  ]);
}

function skippedLines(skipped: Status["skipped"]): string[] {
  const ids = widthOf(skipped.map(({ provider }) => provider));
  return skipped.flatMap(({ provider, reason }) => {
    const [first = "", ...rest] = wrapped(reason, ids + 4);
    return [`  ${cell(provider, ids)}  ${first.trimStart()}`, ...rest];
  });
}

interface Judged {
  state: State;
  reason?: string | undefined;
  until?: number | undefined;
}

function wordOf({ state, until }: Judged): string {
  return `${states[state]}${until === undefined ? "" : ` until ${new Date(until).toLocaleTimeString("sv-SE")}`}`;
}

function stateOf(one: Judged, color: Color, width = 0): string {
  const paint = one.state === "ready" ? color.green : one.state === "cooldown" || one.state === "embedded" ? color.yellow : color.red;
  return paint(wordOf(one).padEnd(width));
}

function whyLines({ reason }: Judged, indent: number): string[] {
  return reason === undefined ? [] : wrapped(reason, indent);
}

function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  for (const word of printableLine(text).split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(" ".repeat(indent) + word);
  }
  return lines;
}

function widthOf(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, printableLine(text).length), 0);
}

function cell(text: string, width: number): string {
  return printableLine(text).padEnd(width);
}
