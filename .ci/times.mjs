/**
 * Prints the wall and CPU seconds of the last `npm test`, by project, and the files that used most CPU: `node .ci/times.mjs <folder> [number of files]`. Exits 1 when a project used more than twice its
 * budget of CPU seconds: wall time says how busy the machine was, CPU time how much work the tests are. Files are run in parallel, so walls overlap.
 * A second on a slow machine is less work than one on a fast machine: on one slower than that of the budgets, which `test/pace.mjs` tells, budgets are longer by as much.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** CPU seconds on the machine they were measured on (two cores, Node 20). A project that needs more for good gets a larger budget, with its reason. */
// e2e: the control UI's stories of access, a day, faults and panels, and a store on PostgreSQL took 86 in a busy run.
const budgets = { unit: 240, gateway: 205, meta: 16, alone: 13, e2e: 616, all: 1_116 };

const [folder, shown = 8] = process.argv.slice(2);
/**
 * Milliseconds that the work of `test/pace.mjs` takes on a machine where these budgets, doubled, held with 1,816 s in all: one that took 44.2 ms needed 2,970 s for the same tests.
 * A faster machine has the same budgets.
 */
const budgetPaceMs = 27;
const slowness = Math.max(1, (notes().find((one) => one.paceMs)?.paceMs ?? 0) / budgetPaceMs);

const rows = Object.entries(budgets).flatMap(([project, budget]) => rowOf(project, budget * slowness) ?? []);
if (rows.length > 0) {
  console.log(`\n${"project".padEnd(10)}${["wall s", "CPU s", "budget"].map((name) => name.padStart(9)).join("")}`);
  for (const { project, numbers } of rows) console.log(project.padEnd(10) + numbers.map((n) => String(Math.round(n)).padStart(9)).join(""));
}
if (slowness > 1) console.log(`the machine took ${slowness.toFixed(2)} times as long for its work as that of the budgets, and so do these`);
const costly = notes()
  .filter((one) => one.file)
  .sort((a, b) => b.cpuSeconds - a.cpuSeconds);
for (const { file, cpuSeconds } of costly.slice(0, shown)) console.log(`${String(Math.round(cpuSeconds)).padStart(28)}  ${file}`);
const over = rows.filter(({ numbers: [, cpu, budget] }) => cpu > 2 * budget).map(({ project }) => project);
if (over.length > 0) console.log(`more than twice the budget of CPU seconds: ${over.join(", ")}`);
process.exitCode = over.length > 0 ? 1 : 0;

function rowOf(project, budget) {
  const own = notes().filter((one) => one.project === project);
  if (own.length === 0) return undefined;
  const wall = (Math.max(...own.map((one) => one.ended)) - Math.min(...own.map((one) => one.begun))) / 1_000;
  const cpu = own.reduce((sum, one) => sum + one.cpuSeconds, 0);
  return { project, numbers: [wall, cpu, budget] };
}

/** One note for each file. A process that ran several has written what it had used by then; what the last of them added is that file's. */
function notes() {
  return names().flatMap((name) => {
    const lines = readFileSync(join(folder, name), "utf8").trim().split("\n");
    const sums = lines.map((line) => JSON.parse(line));
    return sums.map((one, i) => ({ ...one, cpuSeconds: one.cpuSeconds - (sums[i - 1]?.cpuSeconds ?? 0) }));
  });
}

function names() {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
