/** Shares of a CPU profile of V8, by what the time was spent on. Idle time is left out. */

const outside = new Set(["(root)", "(program)", "(idle)"]);

/** The share of each file or package, the largest first. */
export function bySubject(profile) {
  return table(
    shares(profile, ({ functionName, url }) => subjectOf(functionName, url)),
    16,
  );
}

/** The share of each function by itself, the largest first. */
export function byFunction(profile, top) {
  return table(
    shares(
      profile,
      ({ functionName, url, lineNumber }) => `${functionName || "(anonymous)"}  ${subjectOf(functionName, url)}:${lineNumber + 1}`,
    ),
    top,
  );
}

function shares(profile, nameOf) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const sums = new Map();
  profile.samples.forEach((id, i) => {
    const frame = nodes.get(id);
    if (frame.functionName === "(idle)" || frame.functionName === "(root)") return;
    const name = nameOf(frame);
    sums.set(name, (sums.get(name) ?? 0) + profile.timeDeltas[i]);
  });
  return sums;
}

function subjectOf(functionName, url) {
  if (functionName === "(garbage collector)") return "garbage collection";
  if (outside.has(functionName)) return "outside of JavaScript";
  if (url === "") return "built into V8";
  if (url.startsWith("node:")) return url;
  const vendor = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  return vendor ? vendor[1] : url.replace(/^.*\/(dist|test|bin)\//, "$1/");
}

function table(sums, top) {
  const total = [...sums.values()].reduce((sum, one) => sum + one, 0);
  const rows = [...sums].sort(([, a], [, b]) => b - a).slice(0, top);
  return rows.map(([name, time]) => `${((time * 100) / total).toFixed(1).padStart(5)} %  ${name}`).join("\n");
}
