/**
 * `npm run bench -- [--only=start,ws] [--quick] [--files=10000] [--embedded=3100] [--chunks=5000,50000,200000] [--compare=FILE] [--save]`
 * Every row is a ratio of two things measured in the same run; see README.md beside this file.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { disposeEmbeddedHome } from "./lib/embedded-home.mjs";
import { disposeIndexedHome } from "./lib/indexed-home.mjs";
import { describeMachine } from "./lib/machine.mjs";
import { finishRow, formatTable, regressions, resultsPage } from "./lib/report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const suiteNames = [
  "start",
  "ws",
  "fanout",
  "http",
  "chat",
  "queue",
  "hooks",
  "channels",
  "hostile",
  "agents",
  "index",
  "search",
  "plugins",
  "page",
];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    files: { type: "string" },
    chunks: { type: "string" },
    embedded: { type: "string" },
    compare: { type: "string" },
    save: { type: "boolean", default: false },
  },
});
const chosen = values.only ? values.only.split(",") : suiteNames;
const unknown = chosen.filter((name) => !suiteNames.includes(name));
if (unknown.length > 0) {
  console.error(`bench: no suite "${unknown.join('", "')}"; there are ${suiteNames.join(", ")}`);
  process.exit(2);
}

const started = performance.now();
const report = { machine: describeMachine(), quick: values.quick, rows: [], notes: [], failures: [] };
for (const name of chosen) await runSuite(name);
await disposeIndexedHome();
await disposeEmbeddedHome();
report.seconds = Math.round((performance.now() - started) / 1_000);

console.log(`\n${formatTable(report.rows)}`);
for (const note of report.notes) console.log(`- ${note}`);
for (const failure of report.failures) console.log(`! ${failure}`);
compareWith(values.compare ?? join(here, "last.json"));
console.log(`${report.seconds} s on ${report.machine.cpu}, ${report.machine.cores} cores, load ${report.machine.load}`);
// A part of the rows would hide that the others are older, so only a whole run is kept; `--save` keeps a quick one too.
if (!values.only && (!values.quick || values.save)) save();
process.exitCode = report.failures.length > 0 ? 1 : 0;

async function runSuite(name) {
  console.log(`${name} …`);
  const { run } = await import(`./suites/${name}.mjs`);
  try {
    await run({
      quick: values.quick,
      files: Number(values.files ?? (values.quick ? 1_000 : 10_000)),
      embeddedFiles: Number(values.embedded ?? (values.quick ? 620 : 3_100)),
      chunks: (values.chunks ?? (values.quick ? "5000" : "50000")).split(",").map(Number),
      row: (row) => {
        const done = finishRow({ suite: name, ...row });
        report.rows.push(done);
        console.log(formatTable([done], { head: false }));
      },
      note: (text) => report.notes.push(text),
    });
  } catch (error) {
    report.failures.push(`${name}: ${error.stack ?? error}`);
  }
}

function compareWith(path) {
  if (!existsSync(path)) return;
  const earlier = JSON.parse(readFileSync(path, "utf8"));
  for (const line of regressions(report.rows, earlier.rows)) console.log(`worse than ${earlier.machine.date.slice(0, 10)}: ${line}`);
}

function save() {
  writeFileSync(join(here, "last.json"), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(here, "RESULTS.md"), resultsPage(report));
}
