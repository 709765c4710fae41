/** Texts of sessions. */
export const texts = {
  messages: { one: "# message", other: "# messages" },
  rename: "Rename",
  unpin: "Unpin",
  pin: "Pin",
  takeOutArchive: "Take out of the archive",
  archive: "Archive",
  reset: "Reset",
  /** @param {string} title */
  actions: (title) => `Actions for ${title}`,
  renameSession: "Rename session",
  nameEmptyFirst: "Name, empty for the first question",
  saved: "Saved",
  /** @param {string} title */
  archived: (title) => `Archived “${title}”`,
  /** @param {string} title */
  backList: (title) => `“${title}” is back in the list`,
  /** @param {string} message */
  notSaved: (message) => `Not saved: ${message}`,
  sessionContinuesUnder: "The session continues under the same name with an empty history. This cannot be undone here.",
  answeringNowWill: "It is answering now; that will be stopped. This cannot be undone.",
  cannotUndone: "This cannot be undone.",
  sessions: "Sessions",
  newSession: "New session",
  searchTitleLabel: "Search title, label or key",
  searchSessions: "Search sessions",
  show: "Show",
  sessionsCouldNot: "The sessions could not be read.",
  sessionList: "Session list",
  /** @param {{ shown: string, total: string }} of */
  someOf: ({ shown, total }) => `${shown} of ${total}`,
  /** @param {string} lastOnlineAt */
  asOf: (lastOnlineAt) => `As of ${lastOnlineAt}.`,
  showMore: "Show more",
  unread: "unread",
  pinned: "Pinned",
  isPinned: "pinned",
  /** @param {string} totalTokens */
  tokens: (totalTokens) => `${totalTokens} tokens`,
  answering: "answering",
  failed: "failed",
  outTime: "out of time",
  interrupted: "interrupted",
  /** @param {string} search */
  noSessionMatches: (search) => `No session matches “${search}”`,
  searchCoversTitle: "The search covers title, label and key.",
  noSessionsYet: "No sessions yet",
  sessionBeginsFirst: "A session begins with its first message.",
  notConnected: "Not connected",
  noAnswerYet: "No answer yet",
  filters: { all: "All", running: "Running", unread: "Unread", archived: "Archived" },
  noneOf: { running: "No running sessions", unread: "No unread sessions", archived: "No archived sessions" },
  delete: "Delete",
  /** @param {{ title: string, loss: string | undefined }} of */
  resetQuestion: ({ title, loss }) => (loss === undefined ? `Reset “${title}”?` : `Reset “${title}”, ${loss}?`),
  /** @param {{ title: string, loss: string | undefined }} of */
  deleteQuestion: ({ title, loss }) => (loss === undefined ? `Delete “${title}”?` : `Delete “${title}”, ${loss}?`),
};
