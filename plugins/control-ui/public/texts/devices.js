/** Texts of devices. */
export const texts = {
  deviceSigned: "A device is signed in.",
  /** @param {string} name */
  signed: (name) => `${name} is signed in.`,
  connectedNow: "Connected now",
  nobodyConnected: "Nobody is connected.",
  browser: "this browser",
  /** @param {string} scope */
  mayDo: (scope) => `may do ${scope}`,
  signPhone: "Sign a phone in",
  phoneScansCode: "The phone scans a code and is signed in, with what you may do yourself. Show it only to a phone that you trust.",
  addressWhichPhone: "Address at which the phone reaches this gateway",
  pageSOwn: "This page's own address reaches only this machine, or is not encrypted: see below how the gateway gets another one.",
  qrCodeSigns: "QR code that signs one device in",
  scanCameraPhone: "Scan it with the camera of the phone.",
  opens: "It opens",
  signedThere: "and is signed in there.",
  goodOnce: "Good once.",
  left: "left.",
  hideCode: "Hide code",
  copyLink: "Copy link",
  linkDoesSame: "The link does the same as the code: whoever opens it first is in.",
  makingCode: "Making a code…",
  showQrCode: "Show QR code",
  connectionLostCode: "The connection was lost, and the code ended with it.",
  codeRunOut: "The code has run out. Nobody has used it.",
  waitingYourApproval: "Waiting for your approval",
  paired: "Paired",
  waits: "waits",
  asksDo: "Asks to do:",
  rename: "Rename",
  remove: "Remove",
  signOut: "Sign out",
  /** @param {string} name */
  mayConnectNow: (name) => `${name} may connect now.`,
  /** @param {string} name */
  rejected: (name) => `${name} was rejected.`,
  /** @param {string} name */
  approve: (name) => `Approve ${name}`,
  approving: "Approving…",
  approveLabel: "Approve",
  /** @param {string} name */
  reject: (name) => `Reject ${name}`,
  rejecting: "Rejecting…",
  rejectLabel: "Reject",
  /** @param {string} name */
  renameOf: (name) => `Rename ${name}`,
  /** @param {string} name */
  signOutOf: (name) => `Sign out ${name}`,
  /** @param {string} name */
  removeOf: (name) => `Remove ${name}`,
  name: "Name",
  nameLeastOne: "A name has at least one character.",
  /** @param {string} name */
  signOutQuestion: (name) => `Sign ${name} out?`,
  connectionsEndNow: "Its connections end now. It stays paired, and comes back once somebody signs in on it with the gateway's secret.",
  /** @param {string} name */
  signedOut: (name) => `${name} is signed out.`,
  /** @param {string} name */
  removeQuestion: (name) => `Remove ${name}?`,
  /** @param {string} more */
  connectionsEndNowGateway: (more) =>
    `Its connections end now, and the gateway forgets it: to come back it needs the secret and an approval.${more}`,
  browserYouUsing: " This is the browser you are using.",
  /** @param {string} name */
  typeContinue: (name) => `Type ${name} to continue`,
  /** @param {string} name */
  notNothingRemoved: (name) => `That is not “${name}”. Nothing was removed.`,
  /** @param {string} name */
  removed: (name) => `${name} was removed.`,
  devices: "Devices",
  whatDevices: "devices",
  connectedClients: "connected clients",
  pairPhoneAnother: "Pair a phone or another computer",
  signThereGateway: "Sign in there with the gateway's token. On the gateway's machine this command shows it:",
  appearsPageUnder: "It appears on this page under",
  compareWhereComes: ". Compare where it comes from, and approve it; it then continues by itself.",
  openAddress: "Open this address on it:",
  /** @param {string} why */
  giveGatewayAddress: (why) => `${why} Give the gateway an address with HTTPS first. In a tailnet one command does it, and a restart:`,
  thenOpenAddress: "Then open the address that",
  showsOtherDevice: "shows on the other device.",
  pageOpenedAddress: "This page was opened at an address that only this machine has.",
  pageCameOver: "This page came over plain HTTP, where a browser cannot keep a key of its own.",
};
