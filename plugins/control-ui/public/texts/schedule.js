/** Texts of schedule. */
export const texts = {
  morningSummary: "Morning summary",
  lookThroughMy: "Look through my notes of the last days and tell me in five sentences what is still open.",
  nameNeeded: "A name is needed.",
  /** @param {number} LONGEST_NAME */
  mostCharacters: (LONGEST_NAME) => `At most ${LONGEST_NAME} characters.`,
  textNeeded: "A text is needed.",
  atMostCharacters: "At most 32,768 characters.",
  fiveFieldsMinute: "Five fields: minute, hour, day, month, weekday.",
  numberOneSecond: "A number from one second to 366 days.",
  dateTimeNeeded: "A date and a time are needed.",
  jobs: { one: "# job", other: "# jobs" },
  sundays: "Sundays",
  mondays: "Mondays",
  tuesdays: "Tuesdays",
  wednesdays: "Wednesdays",
  thursdays: "Thursdays",
  fridays: "Fridays",
  saturdays: "Saturdays",
  running: "running",
  waitsRun: "waits to run",
  offFailed: "off, failed",
  off: "off",
  failed: "failed",
  interrupted: "interrupted",
  skipped: "skipped",
  ok: "ok",
  notRun: "has not run",
  /** @param {string} nextRunAtMs */
  nextIn: (nextRunAtMs) => `next in ${nextRunAtMs}`,
  dueNow: "due now",
  /** @param {string} lastDurationMs */
  took: (lastDurationMs) => `, took ${lastDurationMs}`,
  /** @param {{ lastRunAtMs: string, took: string }} of */
  lastRun: ({ lastRunAtMs, took }) => `last ${lastRunAtMs}${took}`,
  /** @param {string} consecutiveErrors */
  failuresRow: (consecutiveErrors) => `${consecutiveErrors} failures in a row`,
  /** @param {string} parse */
  once: (parse) => `once, ${parse}`,
  /** @param {string} interval */
  every: (interval) => `every ${interval}`,
  everyHour: "every hour",
  /** @param {string} minute */
  everyMin: (minute) => `every ${minute} min`,
  /** @param {{ days: string, hour: string, minute: string }} of */
  daysAt: ({ days, hour, minute }) => `${days} at ${hour}:${minute}`,
  daily: "daily",
  weekdays: "on weekdays",
  weekends: "at weekends",
  /** @param {string} name */
  onDays: (name) => `on ${name}`,
  tellsAnswer: ", and tells the answer",
  /** @param {string} tells */
  asksSessionOwn: (tells) => `Asks in a session of its own${tells}`,
  leavesLineMain: "Leaves a line in the main session",
  /** @param {string} jobs */
  noneRunCron: (jobs) => `${jobs}. None is run: cron is switched off, or the gateway is in safe mode.`,
  nothingDue: "nothing is due",
  /** @param {string} nextWakeAtMs */
  theNextIn: (nextWakeAtMs) => `the next in ${nextWakeAtMs}`,
  oneDueNow: "one is due now",
  /** @param {string} running */
  runningOf: (running) => `${running} running, `,
  notPlanned: "not planned",
  stateOn: "on",
  tellsNobody: "tells nobody",
  /** @param {string} target */
  tells: (target) => `tells ${target}`,
  /** @param {string} nextRunAt */
  nextWakeIn: (nextRunAt) => `next in ${nextRunAt}`,
  /** @param {string} lastRunAt */
  lastWake: (lastRunAt) => `last ${lastRunAt}`,
  hadSomethingSay: "had something to say",
  foundNothingSay: "found nothing to say",
  wasSkipped: "was skipped",
  /** @param {{ agent: string, outcome: string, time: string, words: string }} of */
  lastHeartbeat: ({ agent, outcome, time, words }) => `The last one${agent} ${outcome}, ${time}${words}`,
  name: "Name",
  cancel: "Cancel",
  continuedBefore: "Continued from before.",
  startOver: "Start over",
  when: "When",
  crontab: "Crontab",
  minuteHourDay: "minute hour day month weekday",
  timeZone: "Time zone",
  gatewayS: "the gateway's",
  everyLabel: "Every",
  unit: "Unit",
  dateTime: "Date and time",
  /** @param {string} when */
  runsWhen: (when) => `Runs ${when}.`,
  deleteJobOnce: "Delete the job once it has succeeded",
  what: "What",
  readsLineOnce: "It reads the line at once, not only with its next heartbeat",
  agent: "Agent",
  defaultAgent: "The default agent",
  model: "Model",
  agentSOwn: "the agent's own",
  answer: "The answer",
  tellChannel: "Tell it on a channel",
  channel: "Channel",
  whereYouWrote: "where you wrote last",
  recipient: "Recipient",
  byACrontab: "By a crontab",
  intervals: "At intervals",
  onceLabel: "Once",
  askSessionOwn: "Ask in a session of its own",
  leaveLineMain: "Leave a line in the main session",
  /** @param {string} name */
  edit: (name) => `Edit “${name}”`,
  newJob: "New job",
  notConnectedGateway: "Not connected to the gateway",
  saving: "Saving…",
  save: "Save",
  create: "Create",
  /** @param {string} name */
  created: (name) => `“${name}” was created.`,
  nothingChanged: "Nothing was changed.",
  /** @param {string} name */
  saved: (name) => `“${name}” was saved.`,
  messageAgent: "Message for the agent",
  lineAgent: "Line for the agent",
  heartbeats: "heartbeats",
  heartbeatsLabel: "Heartbeats",
  wake: "Wake",
  switchAllOff: "Switch all off",
  switchAll: "Switch all on",
  /** @param {string} agentId */
  wakeOf: (agentId) => `Wake ${agentId}`,
  readsLineMain: "It reads this line in its main session and acts on it at once, as with a heartbeat.",
  line: "Line",
  writeShouldLook: "Write what it should look at.",
  /** @param {string} agentId */
  woken: (agentId) => `${agentId} was woken.`,
  switchAllHeartbeats: "Switch all heartbeats off?",
  agentsDoNot:
    "Agents do not look around by themselves any more, until the heartbeats are switched on here or the gateway starts again. The config is not changed.",
  switchOff: "Switch off",
  allHeartbeatsOff: "All heartbeats are off.",
  heartbeatsFollowConfig: "Heartbeats follow the config again.",
  /** @param {string} message */
  notSwitched: (message) => `Not switched on: ${message}`,
  runsWord: { one: "# run", other: "# runs" },
  storedRuns: { one: "# stored run", other: "# stored runs" },
  editLabel: "Edit",
  delete: "Delete",
  text: "Text",
  runsCouldNot: "The runs could not be read.",
  loadingRuns: "Loading the runs",
  notRunYet: "It has not run yet.",
  lastRuns: "Last runs",
  /** @param {{ entries: number, total: string }} of */
  newest: ({ entries, total }) => `The newest ${entries} of ${total}.`,
  open: "Open",
  /** @param {string} name */
  runsNow: (name) => `“${name}” runs now.`,
  /** @param {string} name */
  runningAlready: (name) => `“${name}” is running already.`,
  /** @param {string} name */
  nowOff: (name) => `“${name}” is off.`,
  /** @param {string} name */
  nowOn: (name) => `“${name}” is on.`,
  /** @param {string} nextRunAtMs */
  nextRun: (nextRunAtMs) => `Next run: ${nextRunAtMs}`,
  /** @param {string} name */
  runNow: (name) => `Run now: ${name}`,
  starting: "Starting…",
  runNowLabel: "Run now",
  disable: "Disable",
  enable: "Enable",
  /** @param {string} name */
  editOf: (name) => `Edit ${name}`,
  /** @param {string} name */
  deleteOf: (name) => `Delete ${name}`,
  does: "Does",
  tellsItTo: "Tells it to",
  planned: "Planned by",
  ownerChannelNo: "an owner on a channel; it has no more rights than that conversation",
  id: "Id",
  sessionRunNot: "The session of this run is not there any more.",
  /** @param {string} runAtMs */
  openSession: (runAtMs) => `Open the session of ${runAtMs}`,
  /** @param {{ name: string, runs: string }} of */
  deleteQuestion: ({ name, runs }) => `Delete “${name}”${runs}?`,
  /** @param {string} what */
  textTimesLog: (what) => `${what}Its text, its times and the log of its runs go. This cannot be undone.`,
  runningNow: "It is running now. ",
  /** @param {string} name */
  deleted: (name) => `“${name}” was deleted.`,
  schedule: "Schedule",
  whatJobs: "jobs",
  nameText: "Name or text",
  searchJobs: "Search jobs",
  jobsLabel: "Jobs",
  /** @param {{ rows: string, total: string }} of */
  someOf: ({ rows, total }) => `${rows} of ${total}`,
  showMore: "Show more",
  /** @param {string} q */
  noJobMatches: (q) => `No job matches “${q}”`,
  searchCoversNames: "The search covers names, ids and texts.",
  noJobsYet: "No jobs yet",
  jobAsksAgent: "A job asks an agent at times that you choose, such as for a summary each morning.",
  formCouldNot: "The form could not be fetched. Try again when the gateway is there.",
  notConnected: "Not connected",
  unreadableJobs: {
    one: "# stored job cannot be read and does not run:",
    other: "# stored jobs cannot be read and do not run:",
  },
  units: { d: "d", h: "h", min: "min", s: "s", ms: "ms" },
  unitNames: { seconds: "seconds", minutes: "minutes", hours: "hours", days: "days" },
};
