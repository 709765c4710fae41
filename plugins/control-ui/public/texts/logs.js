/** Texts of logs. */
export const texts = {
  lines: { one: "# line", other: "# lines" },
  /** @param {string} file */
  logContinues: (file) => `The log continues in ${file}.`,
  logFilePut: "The log file was put aside. These are the newest lines of the next one.",
  /** @param {string} more */
  linesWereSkipped: (more) => `Lines were skipped here${more}: the log grows faster than this page reads it.`,
  /** @param {string} skipped */
  about: (skipped) => `, about ${skipped}`,
  /** @param {{ shown: string, total: string }} of */
  someOf: ({ shown, total }) => `${shown} of ${total}`,
  /** @param {string} bytes */
  mb: (bytes) => `${bytes} MB`,
  /** @param {number} max */
  kb: (max) => `${max} kB`,
  copyLine: "Copy line",
  logs: "Logs",
  whatLogs: "logs",
  /** @param {string} fresh */
  newLines: (fresh) => `${fresh} new`,
  text: "Text",
  searchLog: "Search the log",
  level: "Level",
  allLevels: "All levels",
  partGateway: "Part of the gateway",
  allParts: "All parts",
  wrapLines: "Wrap lines",
  logEmpty: "The log is empty",
  linesAppearHere: "Lines appear here as the gateway writes them.",
  noLinesMatch: "No lines match",
  showAllLines: "Show all lines",
  logLines: "Log lines",
  /** @param {string} sentence */
  inView: (sentence) => `${sentence} in view.`,
  paused: "Paused",
  following: "Following",
  resume: "Resume",
  pause: "Pause",
  /** @param {string} name */
  worse: (name) => `${name} and worse`,
  /** @param {string} at */
  olderThan: (at) => ` than ${at}`,
  /** @param {{ since: string, file: string }} of */
  linesOlderFile: ({ since, file }) => `Lines older${since} are in the file only: ${file}`,
};
