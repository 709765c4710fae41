/** Texts of panels of plugins. */
export const texts = {
  panels: "Panels",
  /** @param {string} plugin */
  ofPlugin: (plugin) => `Shown by the plugin ${plugin}.`,
  /** @param {{ plugin: string, at: string }} of */
  asOf: ({ plugin, at }) => `Shown by the plugin ${plugin}. As of ${at}.`,
  back: "Back to the conversation",
  /** @param {string} label */
  refreshOf: (label) => `Refresh ${label}`,
  loading: "Loading the panel",
  notShown: "The panel could not be shown.",
  notRead: "The list of panels could not be read.",
  notAllowed: "This sign-in is not allowed to see this panel.",
  nothing: "It has nothing to show now.",
  gone: "This panel is not here now",
  /** @param {string} plugin */
  goneWhy: (plugin) =>
    `The plugin ${plugin} was stopped or changed, or it never had such a panel. It comes back by itself with its plugin.`,
  toPlugins: "See the plugin",
  offline: "Not connected to the gateway",
  works: "works",
  warning: "needs attention",
  error: "does not work",
  table: "Table",
  working: "Working…",
  done: "Done.",
  result: "Result",
  failed: "It was not done:",
  choose: "Choose",
  /** @param {string} label */
  notANumber: (label) => `${label}: expected a number.`,
  starting: "The panel is starting",
  silent: "The panel did not start within 10 seconds. Its files may be missing, or its script failed.",
  left: "The panel went to another page, so it was cut off.",
  flooded: "The panel sent far too many messages, so it was cut off.",
  again: "Start it again",
  noMethod: "this panel may not call this method; its plugin has to list it in methods",
  badCall: "expected {id, method, params}: an id, the name of a method, and an object",
  tooLarge: "a message has more than 64 KiB",
  answerTooLarge: "the answer has more than 64 KiB; ask for less of it",
  tooMany: "more than 10 calls a second, or 10 calls that are not answered yet",
};
