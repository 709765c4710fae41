import { type CliCommand, type CliValues, defineCommand, printableLine } from "svc/sdk";
import { candidateLines } from "./dream-text.ts";
import { withDreams } from "./with-dreams.ts";

const agent = { kind: "string", description: "Agent whose memory it is; default: the default agent", placeholder: "id" } as const;
const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const agentOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/** `svc memory promote`: what would be promoted; with `--apply` it is. */
const promote = defineCommand({
  path: ["memory", "promote"],
  summary: "List statements of the short-term memory, or move them into MEMORY.md",
  details: "Changes nothing without --apply. The thresholds are lower than those of the sweep at night, and there is no limit of age.",
  examples: [
    ["Look first", "svc memory promote"],
    ["Move what is good enough", "svc memory promote --apply"],
  ],
  options: {
    apply: { kind: "flag", description: "Move what the thresholds let through into MEMORY.md" },
    limit: { kind: "integer", description: "Maximum number of statements (default 10)", min: 1, max: 200, placeholder: "n" },
    "min-score": { kind: "number", description: "Minimum score (default 0.75)", min: 0, max: 1, placeholder: "x" },
    "min-recall-count": { kind: "integer", description: "Minimum evidence (default 3)", min: 0, max: 1_000, placeholder: "n" },
    "min-unique-queries": {
      kind: "integer",
      description: "Minimum number of different queries or days (default 2)",
      min: 0,
      max: 1_000,
      placeholder: "n",
    },
    "include-promoted": { kind: "flag", description: "List promoted statements too" },
    agent,
    json,
  },
  rpc: true,
  run: (cli, values) =>
    withDreams(cli, async (access) => {
      const asked = thresholdsOf(values);
      if (values.apply === true) {
        const { agentId, applied, skipped } = await access.promote(agentOf(values.agent), asked);
        if (cli.json) cli.stdout.json({ ok: true, agentId, applied, skipped });
        else {
          for (const { score, source, text } of applied) cli.stdout.line(printableLine(`promoted ${score.toFixed(3)} ${source}: ${text}`));
          for (const { key, reason } of skipped) cli.stdout.line(printableLine(`left ${key}: ${reason}`));
          if (applied.length + skipped.length === 0)
            cli.stdout.line("Nothing is good enough; svc memory promote lists the best, and what stands against them.");
        }
        return 0;
      }
      const found = await access.candidates(agentOf(values.agent), {
        ...asked,
        ...(values["include-promoted"] === true ? { includePromoted: true } : {}),
      });
      if (cli.json) cli.stdout.json({ ok: true, ...found });
      else if (found.candidates.length === 0) cli.stdout.line("The short-term memory is empty.");
      else for (const line of found.candidates.flatMap((one) => candidateLines(one))) cli.stdout.line(printableLine(line));
      return 0;
    }),
});

/** `svc memory promote-explain`: every part of a score. */
const explain = defineCommand({
  path: ["memory", "promote-explain"],
  summary: "Explain the score of statements of the short-term memory",
  details: "The selector is a key, a path (with a line) or words of a statement.",
  examples: [["By words", "svc memory promote-explain boiler"]],
  positionals: [{ name: "selector", required: true, rest: true }],
  options: { agent, json },
  rpc: true,
  run: (cli, values, positionals) =>
    withDreams(cli, async (access) => {
      const found = await access.candidates(agentOf(values.agent), { selector: positionals.join(" ") });
      if (cli.json) cli.stdout.json({ ok: true, ...found });
      else for (const line of found.candidates.flatMap((one) => candidateLines(one, true))) cli.stdout.line(printableLine(line));
      return 0;
    }),
});

/** Only what was given, so that defaults stand in one place. */
function thresholdsOf(values: CliValues) {
  const names = {
    limit: "limit",
    "min-score": "minScore",
    "min-recall-count": "minRecallCount",
    "min-unique-queries": "minUniqueQueries",
  } as const;
  const given = Object.entries(names).flatMap(([option, name]) =>
    typeof values[option] === "number" ? [[name, values[option]] as const] : [],
  );
  return Object.fromEntries(given) as { [K in (typeof names)[keyof typeof names]]?: number };
}

export default [promote, explain] satisfies CliCommand[];
