import type { ReferenceInput } from "../pages.ts";
import { code, page, table } from "../table.ts";
import type { Said } from "./said.ts";
import { type Check, type Symptom, symptoms } from "./symptoms.ts";

export interface TroubleshootingInput {
  said: ReadonlyMap<string, Said>;
  errors: ReferenceInput["errors"];
}

/** The operators' page of symptoms, `sdk/docs/guide/troubleshooting.md`. */
export function troubleshootingPage({ said, errors }: TroubleshootingInput): string {
  return page("Troubleshooting", intro, ...symptoms.map((symptom) => symptomPart(symptom, said)), errorsPart(errors));
}

const intro = `Find what you see, run what stands behind it. The words are those of the program; \`<…>\` stands for what differs from case to case.

## Look here first

These work with a gateway that is down, too:

\`\`\`sh
svc gateway status
svc doctor
svc logs --level warn --limit 20
\`\`\`

\`svc doctor\` changes nothing. \`svc doctor --fix\` repairs what needs no decision, lists what it changed, and keeps the config as it was in \`svc.json.bak\`. One check alone, by its name from the tables below:

\`\`\`sh
svc doctor --only config/perms,state/perms
svc doctor --only config/perms,state/perms --fix
\`\`\`

\`\`\`text
Nothing found.
\`\`\`

With a running gateway, its parts say how they are:

\`\`\`sh
svc health --verbose
\`\`\``;

function symptomPart({ title, look, checks }: Symptom, said: ReadonlyMap<string, Said>): string {
  const rows = Object.entries(checks).map(([id, check]) => [
    code(id),
    escaped(saidOf(id, check, said)),
    outsideCode(check.cause),
    outsideCode(repairOf(id, check, said)),
  ]);
  return [`## ${title}`, `Look: ${outsideCode(look)}.`, table(["Check", "svc says", "Cause", "Repair"], merged(rows))].join("\n\n");
}

/** Checks that differ in nothing but their names share a row. */
function merged(rows: readonly string[][]): string[][] {
  const byRest = new Map<string, string[]>();
  for (const [id = "", ...rest] of rows) byRest.set(JSON.stringify(rest), [...(byRest.get(JSON.stringify(rest)) ?? []), id]);
  return [...byRest].map(([rest, ids]) => [ids.join(", "), ...(JSON.parse(rest) as string[])]);
}

/** The words of the code where it has them in one piece, else those of the table. */
export function saidOf(id: string, { says }: Check, said: ReadonlyMap<string, Said>): string {
  return says ?? said.get(id)?.message ?? "";
}

export function repairOf(id: string, { repair }: Check, said: ReadonlyMap<string, Said>): string {
  return repair ?? said.get(id)?.fix ?? "";
}

/** Errors that an operator meets: those that refuse a start, and those that name a command. */
export function operatorErrors(errors: ReferenceInput["errors"]): ReferenceInput["errors"][number][] {
  return errors
    .filter(({ exit, message }) => (exit === 78 && message !== "{message}") || /\bsvc [a-z]+ ?[a-z]*/.test(message))
    .filter((error, at, all) => all.findIndex((other) => other.code === error.code) === at)
    .sort((a, b) => (a.code < b.code ? -1 : 1));
}

function errorsPart(errors: ReferenceInput["errors"]): string {
  const found = operatorErrors(errors);
  const rows = (list: typeof found) => list.map(({ code: name, message }) => [code(name), escaped(message)]);
  const head = ["Code", "svc says, and what to do"];
  return [
    "## Messages that refuse a start",
    "Exit code 78: a supervisor does not try again. `svc gateway status` repeats the message as `Last refusal:`.",
    table(head, rows(found.filter(({ exit }) => exit === 78))),
    "## Messages that name a command",
    "From commands, from the log, and in answers to clients. [Every error code](../reference/errors.md).",
    table(head, rows(found.filter(({ exit }) => exit !== 78))),
  ].join("\n\n");
}

/** Names in braces look like those of the other tables; nothing is taken for HTML. */
function escaped(text: string): string {
  return text.replaceAll(/\{(\w+)\??\}/g, "<$1>").replaceAll("<", "&lt;");
}

function outsideCode(text: string): string {
  return text
    .split("`")
    .map((part, i) => (i % 2 === 1 ? part : part.replaceAll("<", "&lt;")))
    .join("`");
}
