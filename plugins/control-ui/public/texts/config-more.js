/** Texts of config, of parts that are opened. */
export const texts = {
  writeName: "Write a name.",
  /** @param {string} message */
  notName: (message) => `Not a name for this: ${message}.`,
  /** @param {string} pattern */
  expected: (pattern) => `expected ${pattern}`,
  hiddenSecretWould: "A hidden secret would have to travel with this. Write it in full, or change it in the file.",
  /** @param {string | undefined} what */
  holdsSecretPage: (what) => `${what}: it holds a secret that this page does not know.`,
  /** @param {string} id */
  environmentVariable: (id) => `the environment variable ${id}`,
  /** @param {string} id */
  inFile: (id) => `a file (${id})`,
  command: "a command",
  changes: { one: "# change", other: "# changes" },
  /** @param {string} edits */
  notSaved: (edits) => `${edits} not saved`,
  discard: "Discard",
  reviewChanges: "Review changes",
  reviewCouldNot: "The review could not be fetched. Try again when the gateway is there.",
  /** @param {string} edits */
  discardOf: (edits) => `Discard ${edits}?`,
  leaveUnsavedChanges: "Leave with unsaved changes?",
  /** @param {string} edits */
  configNotSaved: (edits) => `${edits} of the config not saved. They stay in this tab until you save or discard them.`,
  leave: "Leave",
  /** @param {string} message */
  notJsonYet: (message) => `Not JSON yet: ${message}`,
  /** @param {{ shown: string, all: string }} of */
  someOf: ({ shown, all }) => `${shown} of ${all}`,
  showMore: "Show more",
  name: "Name",
  add: "Add",
  thereOneName: "There is one of this name.",
  writeValue: "Write its value.",
  /** @param {string} label */
  nameOneMore: (label) => `Name of one more of ${label}`,
  /** @param {string} label */
  addOf: (label) => `Add to ${label}`,
  /** @param {string} noAdminReason */
  settingsCanRead: (noAdminReason) => `${noAdminReason}: settings can be read, not changed.`,
  somebodyElseChanged: "Somebody else has changed the config. Nothing of yours was overwritten.",
  showTheirsUnder: "Show theirs under my changes",
  fileNotValid: "The file is not valid.",
  restartGateway: "Restart the gateway",
  restartLabel: "Restart",
  restartTheGateway: "Restart the gateway?",
  answersBeingWritten: "Answers that are being written end first. Everybody is disconnected for a moment; this page comes back by itself.",
  gatewayRestarts: "The gateway restarts.",
  theFile: "The file",
  jsonSecretShown:
    "JSON5. A secret is shown as __SVC_REDACTED__ and stays what it is where that is left alone. What is typed here is not kept when the page is left.",
  textConfigFile: "Text of the config file",
  changesFile: "Changes of the file",
  difference: "Difference",
  cancel: "Cancel",
  notSavedSomebody:
    "Not saved: somebody else has changed the file meanwhile. This is your text against theirs; saving it takes theirs out where the two differ.",
  /** @param {string} error */
  notSavedOf: (error) => `Not saved: ${error}`,
  discardYouTyped: "Discard what you typed?",
  textFileShown: "The text of the file is shown as it is stored.",
  nothingChanged: "Nothing was changed",
  saving: "Saving…",
  saveApply: "Save and apply",
  /** @param {string} q */
  noSettingMatches: (q) => `No setting matches “${q}”`,
  searchCoversNames: "The search covers names, paths and explanations.",
  foundSettings: "Found settings",
  /** @param {{ min: string, found: string }} of */
  foundOf: ({ min, found }) => `${min} of ${found}`,
  moreChanges: { one: "# more change", other: "# more changes" },
  notSavedSomebodyElse: "Not saved: somebody else has changed the config meanwhile. These are your changes on top of theirs.",
  /** @param {string} shown */
  andMore: (shown) => `and ${shown}`,
  nothingLeftSave: "Nothing is left to save",
  save: "Save",
  /** @param {string} subject */
  oldValueStays: (subject) => `${subject} The old value stays in force until somebody restarts the gateway.`,
  /** @param {string} subject */
  gatewayRestartsItself: (subject) => `${subject} The gateway restarts by itself once what it does has ended, with all of these changes.`,
  /** @param {string} place */
  fromPlace: (place) => `from ${place}`,
  notSet: "not set",
  newValue: "a new value",
  set: "set",
  addRow: "Add row",
  /** @param {{ label: string, i: number }} of */
  rowOf: ({ label, i }) => `${label}, row ${i}`,
  /** @param {{ i: number, label: string }} of */
  removeRow: ({ i, label }) => `Remove row ${i} of ${label}`,
  /** @param {string} label */
  addRowOf: (label) => `Add row: ${label}`,
  willTakenOut: "Will be taken out",
  replace: "Replace",
  setLabel: "Set",
  newValueLabel: "New value",
  value: "Value",
  /** @param {string} label */
  cancelOf: (label) => `Cancel: ${label}`,
  changesWait: { one: "# saved change waits for a restart:", other: "# saved changes wait for a restart:" },
  changesNeedRestart: { one: "# change needs a restart.", other: "# changes need a restart." },
  /** @param {string} place */
  setFrom: (place) => `Set, from ${place}`,
  isSet: "Set",
  setOutside: "Set outside of the file",
  notSetYet: "Not set",
};
