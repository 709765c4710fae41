/**
 * Prints the closing line of a run from vitest's JSON report: `node .ci/counts.mjs <report> <exit code so far>`.
 * A test file that could not be loaded has no test to count and is one failure; a run that failed elsewhere, or that ran nothing, is at
 * least one.
 */
import { readFileSync } from "node:fs";

const [reportPath, exitCode] = process.argv.slice(2);
const { passed, failed, skipped } = countsOf(readReport(reportPath));
const shown = exitCode === "0" && passed + skipped > 0 ? failed : Math.max(failed, 1);
console.log(`${passed} passed, ${shown} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = shown > 0 ? 1 : 0;

function countsOf(report) {
  const brokenFiles = (report.testResults ?? []).filter(
    (file) => file.status === "failed" && file.assertionResults.every((t) => t.status !== "failed"),
  );
  return {
    passed: report.numPassedTests ?? 0,
    failed: (report.numFailedTests ?? 0) + brokenFiles.length,
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
  };
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}
