/** Texts of config. */
export const texts = {
  needsRestart: "needs a restart",
  /** @param {string} reload */
  appliedOnceStarts: (reload) => `applied at once, the ${reload} starts anew`,
  appliedOnce: "applied at once",
  number: "number",
  /** @param {{ number: string, min: number, max: number }} of */
  expectedBetween: ({ number, min, max }) => `Expected a ${number} from ${min} to ${max}.`,
  /** @param {{ number: string, min: number }} of */
  expectedFrom: ({ number, min }) => `Expected a ${number} of ${min} or more.`,
  /** @param {{ number: string, max: number }} of */
  expectedTo: ({ number, max }) => `Expected a ${number} of ${max} or less.`,
  /** @param {string} number */
  expected: (number) => `Expected a ${number}.`,
  wholeNumber: "whole number",
  notSet: "not set",
  on: "on",
  off: "off",
  empty: "empty",
  changed: "changed",
  set: "set",
  undo: "Undo",
  reset: "Reset",
  remove: "Remove",
  /** @param {string} value */
  default: (value) => `Default: ${value}. `,
  /** @param {string} label */
  undoOf: (label) => `Undo: ${label}`,
  /** @param {string} label */
  resetOf: (label) => `Reset: ${label}`,
  /** @param {string} label */
  removeOf: (label) => `Remove: ${label}`,
  onLabel: "On",
  offLabel: "Off",
  notSetLabel: "Not set",
  settings: { one: "# setting", other: "# settings" },
  advanced: "Advanced",
  noSettings: "It has no settings.",
  /** @param {string} changed */
  changedCount: (changed) => `${changed} changed`,
  refused: "refused",
  config: "Config",
  show: "Show",
  whatSettings: "settings",
  schemaConfig: "schema of the config",
  namePurposeSetting: "Name or purpose of a setting",
  searchSettings: "Search settings",
  thereNoSetting: "There is no setting at this address",
  showAllSections: "Show all sections",
  sections: "Sections",
  allSections: "All sections",
  form: "Form",
  raw: "Raw",
  notWrittenYet: "Not written yet: ",
  notValidGateway: ". It is not valid: the gateway runs with the last one that was.",
};
