/** Texts of plugins. */
export const texts = {
  pluginCouldNot: "The plugin could not be read.",
  loadingPlugin: "Loading the plugin",
  homepage: "Homepage",
  addsNothingName: "It adds nothing that has a name.",
  noConfigOwn: "It has no config of its own.",
  config: "Config",
  changeConfig: "Change it in Config",
  gatewaySMachine: ", or on the gateway's machine:",
  from: "From",
  installed: ", installed",
  broke: "Broke at",
  since: "Since",
  loaded: "Loaded in",
  /** @param {number} round */
  ms: (round) => `${round} ms`,
  permissions: "Permissions",
  none: "none",
  plugins: "Plugins",
  namePurpose: "Name or purpose",
  searchPlugins: "Search plugins",
  show: "Show",
  whatPlugins: "plugins",
  pluginList: "Plugin list",
  /** @param {{ shown: string, plugins: string }} of */
  someOf: ({ shown, plugins }) => `${shown} of ${plugins}`,
  noPluginNeeds: "No plugin needs you",
  noPluginMatches: "No plugin matches",
  showAll: "Show all",
  installAnotherOne: "Install another one",
  nameNpmFolder: "Name on npm, folder, or .tgz archive",
  expectedNameNpm: "Expected the name of an npm package, a folder, or a .tgz archive.",
  all: "All",
  needsYou: "Needs you",
  on: "On",
  off: "Off",
  configGatewayMay: "The config of this gateway may not be written",
  enable: "Enable",
  enabling: "Enabling…",
  letLoadAgain: "Let it load again",
  loading: "Loading…",
  tryAgain: "Try again",
  disable: "Disable",
  disabling: "Disabling…",
  /** @param {string} name */
  nowOn: (name) => `${name} is on.`,
  addsGoesOnce: "What it adds goes at once.",
  /** @param {string} name */
  disableOf: (name) => `Disable ${name}?`,
  /** @param {{ loss: string, more: string }} of */
  configKept: ({ loss, more }) => `${loss} Its config is kept.${more}`,
  pageAfterwardsOnly: " It is this page: afterwards only the command line can switch it on again.",
  /** @param {string} id */
  typeContinue: (id) => `Type ${id} to continue`,
  /** @param {string} id */
  notNothingChanged: (id) => `That is not “${id}”. Nothing was changed.`,
  /** @param {string} name */
  nowOff: (name) => `${name} is off.`,
  askingGateway: "asking the gateway",
  /** @param {string} id */
  installCommandFor: (id) => `install ${id}`,
  permissionsReviewNot:
    "Permissions are for review, not a sandbox: a plugin runs with the powers of the gateway. Install only what you trust.",
  leaveOff: "Leave it off",
  asksNoPermission: "It asks for no permission.",
  asksThesePermissions: "It asks for these permissions. It works with those that you give it.",
  /** @param {string} failed */
  notSwitched: (failed) => `Not switched on: ${failed}`,
  /** @param {string} name */
  mayDo: (name) => `What ${name} may do`,
  switching: "Switching on…",
  switch: "Switch it on",
  folderArchiveGateway:
    "From a folder or an archive on the gateway's machine, or from npm. Its scripts are not run, its files are hashed, and it stays off until you have seen what it asks for.",
  commandLine: "Or on the command line",
  /** @param {string} failed */
  notInstalled: (failed) => `Not installed: ${failed}`,
  installedSwitchedOff: "is installed and switched off.",
  removeAgain: "Remove it again",
  sayFirstInstall: "Say first what to install",
  install: "Install",
  installing: "Installing…",
  usePlacePart: "Use it in place of a part of svc?",
  /** @param {string} source */
  idPluginComes: (source) =>
    `${source} has the id of a plugin that comes with svc. That one stays out while this one is installed, and what others need of it has to come from this one.`,
  usePlace: "Use it in its place",
  /** @param {{ name: string, version: string }} of */
  removeQuestion: ({ name, version }) => `Remove ${name} ${version}?`,
  /** @param {string} id */
  filesEntryConfig: (id) => `Its files and its entry in the config (plugins.entries.${id}) go. Its own data stays in the state directory.`,
  remove: "Remove",
  /** @param {string} name */
  removeOf: (name) => `Remove: ${name}`,
};
