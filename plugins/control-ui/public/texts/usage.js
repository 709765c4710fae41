/** Texts of usage. */
export const texts = {
  tokens: { one: "# token", other: "# tokens" },
  tokensDay: "Tokens by day",
  replays: { one: "# replay", other: "# replays" },
  usage: "Usage",
  sums: "Sums",
  time: "Time",
  usageFigures: "usage figures",
  /** @param {number} span */
  spanDays: (span) => `${span} days`,
  nothingUsed: "Nothing was used",
  eachRunEnds: "Each run that ends is added here.",
  runs: "Runs",
  in: "In",
  out: "Out",
  cache: "Cache",
  cost: "Cost",
  /** @param {string} errors */
  failed: (errors) => `${errors} failed`,
  sessionsUsedLast: "Sessions used last",
  /** @param {string} input */
  tokensIn: (input) => `${input} in`,
  /** @param {string} output */
  tokensOut: (output) => `${output} out`,
  /** @param {string} context */
  context: (context) => `${context} in the context`,
  day: "By day",
  agent: "By agent",
  model: "By model",
  /** @param {string} name */
  tokensOf: (name) => `Tokens of ${name}`,
  columns: { day: "Day", agent: "Agent", model: "Model" },
};
