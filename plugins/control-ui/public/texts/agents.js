/** Texts of agents. */
export const texts = {
  bytes: { one: "# byte", other: "# bytes" },
  agents: { one: "# agent", other: "# agents" },
  noModel: "no model",
  ready: "ready",
  quotesNotes: "quotes notes",
  cooldown: "in cooldown",
  notOffered: "not offered",
  keyRejected: "key rejected",
  notThereYet: "not there yet",
  /** @param {string} round */
  kb: (round) => `${round} kB`,
  /** @param {string} updatedAtMs */
  changed: (updatedAtMs) => `changed ${updatedAtMs}`,
  rulesWork: "Rules for its work",
  characterTone: "Character and tone",
  notesAboutTools: "Notes about its tools",
  nameLooks: "Name and looks",
  aboutPeopleWorks: "About the people it works for",
  looksItself: "What it looks at by itself",
  readFirstConversation: "Read in its first conversation",
  keepsMind: "What it keeps in mind",
  /** @param {{ agents: string, defaultId: string }} of */
  defaultOne: ({ agents, defaultId }) => `${agents}, the default one is ${defaultId}.`,
  rename: "Rename",
  setModel: "Set model",
  default: "default",
  models: "Models",
  filesToolsCould: "Files and tools could not be read.",
  loadingFilesTools: "Loading files and tools",
  files: "Files",
  tools: "Tools",
  /** @param {{ profile: string, what: string }} of */
  profile: ({ profile, what }) => `Profile ${profile}${what}`,
  /** @param {string} name */
  renameAgent: (name) => `Rename ${name}`,
  /** @param {string} name */
  setModelOf: (name) => `Set model of ${name}`,
  /** @param {string} until */
  triedAgain: (until) => ` It is tried again in ${until}.`,
  firstProviderReady: "The first provider that is ready answers.",
  /** @param {string} setBy */
  set: (setBy) => `Set by ${setBy}.`,
  noTools: ": no tools.",
  nameConfigId: "The name in the config. Its id, its sessions and its workspace stay.",
  name: "Name",
  nameLeastOne: "A name has at least one character.",
  agentRenamed: "The agent was renamed.",
  /** @param {string} name */
  model: (name) => `Model of ${name}`,
  providerModelEmpty: "As provider/model. Empty: the default of the gateway. It answers from the next message on.",
  setLabel: "Set",
  modelLabel: "Model",
  defaultModelAnswers: "The default model answers now.",
  /** @param {string} model */
  answersNow: (model) => `${model} answers now.`,
  agentsLabel: "Agents",
  /** @param {{ name: string, agentId: string }} of */
  fileOfAgent: ({ name, agentId }) => `${name} of ${agentId}`,
  discardChanges: "Discard changes",
  fileCouldNot: "The file could not be read.",
  /** @param {string} failed */
  notSaved: (failed) => `Not saved: ${failed}`,
  notSavedSomebody: "Not saved: somebody has changed the file since you opened it. Your text is still here.",
  saveMineOver: "Save mine over theirs",
  takeTheirsDrop: "Take theirs, drop mine",
  nothingChanged: "Nothing was changed",
  /** @param {string} name */
  saved: (name) => `${name} was saved.`,
  notThereYetSaving: ". It is not there yet: saving makes it.",
  saving: "Saving…",
  save: "Save",
  whatAgents: "agents",
  agentList: "Agent list",
  anotherAgent: "Another agent",
  workspaceNotesSessions: "It has a workspace, notes and sessions of its own.",
  /** @param {string} time */
  asOf: (time) => `As of ${time}.`,
};
