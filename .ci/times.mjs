/**
 * Prints the wall and CPU seconds of the last `npm test`, by project: `node .ci/times.mjs <folder>`. Exits 1 when a project used more than twice its
 * budget of CPU seconds: wall time says how busy the machine was, CPU time how much work the tests are. Files are run in parallel, so walls overlap.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** CPU seconds on the machine they were measured on (two cores, Node 20). A project that needs more for good gets a larger budget, with its reason. */
const budgets = { unit: 300, gateway: 450, meta: 90, e2e: 750, storms: 90, all: 1_650 };

const folder = process.argv[2];
const rows = Object.entries(budgets).flatMap(([project, budget]) => rowOf(project, budget) ?? []);
if (rows.length > 0) {
  console.log(`\n${"project".padEnd(10)}${["wall s", "CPU s", "budget"].map((name) => name.padStart(9)).join("")}`);
  for (const { project, numbers } of rows) console.log(project.padEnd(10) + numbers.map((n) => String(Math.round(n)).padStart(9)).join(""));
}
const over = rows.filter(({ numbers: [, cpu, budget] }) => cpu > 2 * budget).map(({ project }) => project);
if (over.length > 0) console.log(`more than twice the budget of CPU seconds: ${over.join(", ")}`);
process.exitCode = over.length > 0 ? 1 : 0;

function rowOf(project, budget) {
  const own = processes().filter((one) => one.project === project);
  if (own.length === 0) return undefined;
  const wall = (Math.max(...own.map((one) => one.ended)) - Math.min(...own.map((one) => one.begun))) / 1_000;
  const cpu = own.reduce((sum, one) => sum + one.cpuSeconds, 0);
  return { project, numbers: [wall, cpu, budget] };
}

function processes() {
  try {
    return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
  } catch {
    return [];
  }
}
