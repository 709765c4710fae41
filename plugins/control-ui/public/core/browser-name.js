/** Signs of browsers in their user agents, the more particular first: each of them claims to be some of those below it. @type {Array<[RegExp, string]>} */
const browsers = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

/** @type {Array<[RegExp, string]>} */
const systems = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b/, "Mac"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** Name of a browser for the list of devices, such as `Firefox on Linux`. Pure. @param {string} userAgent */
export function browserName(userAgent) {
  const browser = browsers.find(([sign]) => sign.test(userAgent))?.[1] ?? "Browser";
  const system = systems.find(([sign]) => sign.test(userAgent))?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}
