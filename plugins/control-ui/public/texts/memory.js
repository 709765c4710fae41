/** Texts of memory. */
export const texts = {
  files: { one: "# file", other: "# files" },
  conversations: { one: "# conversation", other: "# conversations" },
  passages: { one: "# passage", other: "# passages" },
  statements: { one: "# statement", other: "# statements" },
  searchMeaningWords: "Search by meaning and words",
  searchMeaning: "Search by meaning",
  searchWords: "Search by words",
  /** @param {string} nextRunAt */
  nextSweep: (nextRunAt) => ` Next sweep: ${nextRunAt}.`,
  /** @param {{ at: string, staged: string, promoted: string }} of */
  lastSweepStaged: ({ at, staged, promoted }) => `Last sweep: ${at}, ${staged} staged, ${promoted} kept for good.`,
  /** @param {{ from: string, provider: string }} of */
  doesNotAnswer: ({ from, provider }) => `${from} does not answer, ${provider} is used instead`,
  meaningOffOnly: "Meaning is off, only words are searched",
  embeddingProviderDoes: "The embedding provider does not answer",
  setKeyProvider: "Set the key of a provider, or name one in agents.defaults.memorySearch.provider.",
  keywordSearchOff: "Keyword search is off",
  indexNotUp: "The index is not up to date",
  vectorSearchRuns: "Vector search runs without the database extension",
  lookingChanges: "Looking for changes",
  embedding: "Embedding",
  writing: "Writing",
  puttingNewIndex: "Putting the new index in place",
  /** @param {{ word: string, done: string, total: string, left: string }} of */
  progress: ({ word, done, total, left }) => `${word} ${done} of ${total}${left}`,
  /** @param {string} left */
  about: (left) => `, about ${left}`,
  agent: "Agent",
  dreaming: "Dreaming",
  sweepNow: "Sweep now",
  openDiary: "Open the diary",
  shortTermMemory: "The short-term memory was swept",
  /** @param {string} message */
  notSwept: (message) => `Not swept: ${message}`,
  sweepRunning: "A sweep is running",
  discardChanges: "Discard changes",
  noteCouldNot: "The note could not be read.",
  thereNoSuch: "There is no such note any more. Saving makes it again.",
  /** @param {string} failed */
  notSaved: (failed) => `Not saved: ${failed}`,
  name: "Name",
  garden: "garden",
  closeEditor: "Close the editor",
  gardenRosesCut: "# Garden\n\nThe roses are cut in March.",
  newNote: "New note",
  /** @param {string} path */
  editFile: (path) => `Edit ${path}`,
  saving: "Saving…",
  save: "Save",
  textNote: "Text of the note",
  fileStandsBelow: "The file stands below memory/ in the agent's folder.",
  filesLabel: "Files",
  /** @param {{ min: string, total: string }} of */
  someOf: ({ min, total }) => `${min} of ${total}`,
  aNewNote: "A new note",
  notSavedYet: "is not saved yet.",
  showMore: "Show more",
  notSavedMark: "not saved",
  noNotesYet: "No notes yet",
  writeFirstOne: "Write the first one with New note, or put a Markdown file into this folder, such as",
  foundMomentLater: ". It is found a moment later.",
  workspace: "the workspace",
  searchFailed: "The search failed.",
  memoryCannotSearched: "Memory cannot be searched.",
  found: "Found",
  tryOtherFewer: "Try other or fewer words. Only the notes are searched, not the conversation.",
  score: "score",
  meaning: "meaning",
  words: "words",
  open: "Open",
  searching: "Searching…",
  /** @param {string} asked */
  nothingFound: (asked) => `Nothing found for “${asked}”`,
  /** @param {{ results: string, asked: string }} of */
  resultsFor: ({ results, asked }) => `${results} for “${asked}”`,
  conversation: "Conversation",
  openConversation: "Open the conversation",
  /** @param {string} place */
  openOf: (place) => `Open ${place}`,
  reindex: "Reindex",
  bringUpDate: "Bring up to date",
  rebuildAllNotes: "Rebuild from all notes",
  resetIndex: "Reset the index",
  rebuildingIndex: "Rebuilding the index",
  indexUpDate: "The index is up to date",
  /** @param {string} message */
  notIndexed: (message) => `Not indexed: ${message}`,
  /** @param {{ agentId: string, chunks: string, files: string }} of */
  resetMemoryIndex: ({ agentId, chunks, files }) => `Reset the memory index of “${agentId}”, ${chunks} of ${files}?`,
  notesStaySearches: "The notes stay. Searches find nothing until the index is rebuilt, which may cost calls to the embedding provider.",
  reset: "Reset",
  /** @param {string} agentId */
  typeContinue: (agentId) => `Type ${agentId} to continue`,
  /** @param {string} agentId */
  notNothingReset: (agentId) => `That is not “${agentId}”. Nothing was reset.`,
  indexReset: "The index was reset",
  thereNoIndex: "There was no index",
  memory: "Memory",
  stateMemoryCould: "The state of the memory could not be read.",
  index: "Index",
  /** @param {string} at */
  asOf: (at) => ` As of ${at}.`,
  /** @param {{ done: string, total: string }} of */
  doneOf: ({ done, total }) => `${done} of ${total}`,
  wordQuestion: "A word or a question",
  searchMemory: "Search memory",
  search: "Search",
  notConnectedGateway: "Not connected to the gateway",
  saveMineOver: "Save mine over theirs",
  takeTheirsDrop: "Take theirs, drop mine",
  theirText: "Their text",
  theirTextLines: "Their text; lines that differ from yours are marked.",
  /** @param {number} left */
  moreLines: (left) => `${left} more lines.`,
  notSavedThere: "Not saved: there is a note of this name already. Your text is still here; another name keeps both.",
  notSavedSomebody: "Not saved: somebody has deleted the note since you opened it. Your text is still here.",
  notSavedSomebodyChanged: "Not saved: somebody has changed the note since you opened it. Your text is still here.",
  why: "Why?",
  /** @param {number} ms */
  answersNowAfter: (ms) => `It answers now, after ${ms} ms.`,
  /** @param {string} error */
  stillDoesNot: (error) => `It still does not answer: ${error}`,
  noReasonGiven: "no reason given",
  asking: "Asking…",
  tryProvider: "Try the provider",
  beingSaved: "It is being saved",
  nothingChanged: "Nothing was changed",
  /** @param {{ path: string, what: string }} of */
  saved: ({ path, what }) => `${path} was saved.${what}`,
  searchFindsLittle: " The search finds it a little later.",
  filesLeftOut: { one: "# file is not in the index", other: "# files are not in the index" },
  /** @param {{ mode: string, by: string }} of */
  searchedBy: ({ mode, by }) => `${mode} (${by})`,
  /** @param {{ mode: string, held: string }} of */
  searchHolds: ({ mode, held }) => `${mode}: ${held}.`,
  /** @param {string} next */
  dreamingOn: (next) => `On.${next}`,
  dreamingOff: "Off.",
  isSweepRunning: "A sweep is running.",
};
