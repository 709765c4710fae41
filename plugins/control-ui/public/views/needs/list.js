import { answerApproval, answerErrors, factsOf } from "../../core/approvals.js";
import { reasonOf as accountReason, titleOf as accountTitle, senderWords } from "../../core/channel-facts.js";
import { changeAccount, decide as decidePerson } from "../../core/channels.js";
import { request } from "../../core/conn.js";
import { nameOf, pendingFacts, scopeWords } from "../../core/device-facts.js";
import { decide as decideDevice } from "../../core/devices.js";
import { accountNeeds, needs, restartNeeds } from "../../core/facts.js";
import { list, span } from "../../core/format.js";
import { actsOf, stateOf } from "../../core/plugin-facts.js";
import { pluginList, reloadPlugin, setEnabled } from "../../core/plugins.js";
import {
  approvals,
  noAdminReason,
  noApprovalReason,
  noPairingReason,
  now,
  plugins,
  readOnlyReason,
  waitingDevices,
  waitingPeople,
} from "../../core/store.js";
import { texts } from "../../texts/needs.js";

/**
 * Everything that waits for a person, in one shape: what it is, why, and what can be done about it here.
 *
 * @typedef {{ word: string, kind?: string, blocked?: string | undefined, run: () => Promise<string> }} Act `run` tells what came of it
 * @typedef {{ id: string, what: string, title: string, code?: string | undefined, lines: string[], command?: string | undefined, acts: Act[],
 *   link?: { word: string, to: string } }} Need
 */

/** @param {Array<string | undefined>} lines @returns {string[]} */
function said(lines) {
  return /** @type {string[]} */ (lines.filter((line) => line !== undefined && line !== ""));
}

/** @returns {Need[]} those that a person waits for first */
export function currentNeeds() {
  return [
    ...approvals.value.map(approvalNeed),
    ...waitingPeople.value.map(personNeed),
    ...waitingDevices.value.map((device) => deviceNeed(/** @type {import("../../core/device-facts.js").PendingDevice} */ (device))),
    ...accountNeeds.value.map(accountNeed),
    ...needs.value.map((part) => (part.id.startsWith("plugin:") ? pluginNeed(part) : partNeed(part))),
    ...(restartNeeds.value.length > 0 ? [restartNeed(restartNeeds.value)] : []),
  ];
}

/** @param {import("../../core/approval-facts.js").Approval} approval @returns {Need} */
function approvalNeed(approval) {
  const { title, command, description, details, expires, canAlways } = factsOf(approval, now.value);
  const blocked = noApprovalReason.value;
  /** @param {string} word @param {"allow-once" | "allow-always" | "deny"} decision @param {string} outcome @param {string} [kind] @returns {Act} */
  const act = (word, decision, outcome, kind) => ({
    word,
    blocked,
    ...(kind === undefined ? {} : { kind }),
    run: async () => {
      const warning = await answerApproval(approval, decision);
      const failed = answerErrors.value[approval.id];
      if (failed !== undefined) throw new Error(failed);
      return warning === undefined ? outcome : texts.warning({ outcome, warning });
    },
  });
  return {
    id: `approval ${approval.id}`,
    what: "approval",
    title,
    code: command,
    lines: said([description, [details, expires].filter(Boolean).join(" · ")]),
    acts: [
      act(texts.allowOnce, "allow-once", texts.allowedOnce, "primary"),
      ...(canAlways ? [act(texts.alwaysAllow, "allow-always", texts.allowedNow)] : []),
      act(texts.deny, "deny", texts.denied, "danger"),
    ],
  };
}

/** @param {import("../../core/channel-facts.js").Request} one @returns {Need} */
function personNeed(one) {
  const who = senderWords(one);
  const blocked = noPairingReason.value;
  return {
    id: `person ${one.channel} ${one.accountId} ${one.code}`,
    what: "person",
    title: texts.asksWriteAgent(who),
    lines: [
      texts.codeExpires({
        channel: one.channel,
        accountId: one.accountId,
        code: one.code,
        max: span(Math.max(0, one.expiresAt - now.value)),
      }),
    ],
    acts: [
      { word: texts.approve, kind: "primary", blocked, run: () => decidePerson("approve", one).then(() => texts.mayWriteNow(who)) },
      { word: texts.reject, blocked, run: () => decidePerson("reject", one).then(() => texts.rejected(who)) },
    ],
    link: { word: texts.channels, to: "#/channels" },
  };
}

/** @param {import("../../core/device-facts.js").PendingDevice} device @returns {Need} */
function deviceNeed(device) {
  const name = nameOf(device);
  const blocked = noPairingReason.value;
  return {
    id: `device ${device.requestId}`,
    what: "device",
    title: texts.asksPaired(name),
    lines: [texts.asksDo(scopeWords(device.scopes)), pendingFacts(device, now.value).join(" · ")],
    acts: [
      {
        word: texts.approve,
        kind: "primary",
        blocked,
        run: () => decideDevice("approve", device.requestId).then(() => texts.mayConnectNow(name)),
      },
      { word: texts.reject, blocked, run: () => decideDevice("reject", device.requestId).then(() => texts.rejectedOf(name)) },
    ],
    link: { word: texts.devices, to: "#/devices" },
  };
}

/** @param {import("../../core/parts.js").AccountNeed} need @returns {Need} */
function accountNeed({ channel, label, account }) {
  const { accountId, name, configured } = account;
  const title = accountTitle({ label, accountId, name });
  const start = () => changeAccount("start", { channel, accountId }).then(() => texts.starting(title));
  return {
    id: `account ${channel} ${accountId}`,
    what: "channel",
    title: `${title} ${configured ? texts.blocked : texts.incomplete}`,
    lines: [accountReason(account) ?? texts.channelDoesNot],
    acts: configured ? [{ word: texts.startAgain, blocked: noAdminReason.value, run: start }] : [],
    link: { word: texts.openChannels, to: "#/channels" },
  };
}

/** @param {import("../../core/parts.js").Part} part @returns {Need} */
function pluginNeed(part) {
  const id = part.id.slice("plugin:".length);
  const plugin = /** @type {import("../../core/plugin-facts.js").Plugin | undefined} */ (plugins.value?.find((one) => one.id === id));
  const isQuarantined = plugin?.runtime?.code === "quarantined";
  const after = async () => {
    const found = pluginList.answer.value?.plugins.find((one) => one.id === id);
    return found ? `${part.name}: ${stateOf(found).word}.` : texts.askedLoad(part.name);
  };
  const acts = plugin?.runtime ? actsOf(plugin) : [];
  const blocked = noAdminReason.value;
  return {
    id: part.id,
    what: "plugin",
    title: `${part.name} ${isQuarantined ? texts.quarantined : texts.doesNotWork}`,
    lines: said([part.reason, plugin?.runtime?.hint && texts.whatToDo(plugin.runtime.hint)]),
    acts: [
      ...(acts.includes("release") ? [{ word: texts.letLoadAgain, blocked, run: () => setEnabled(id, true).then(after) }] : []),
      ...(acts.includes("reload") ? [{ word: texts.tryAgain, blocked, run: () => reloadPlugin(id).then(after) }] : []),
    ],
    link: { word: texts.openPlugins, to: `#/plugins?q=${encodeURIComponent(id)}` },
  };
}

/** @param {import("../../core/parts.js").Part} part @returns {Need} */
function partNeed({ id, name, text, reason, hint, command }) {
  return {
    id: `part ${id}`,
    what: "part",
    title: name,
    acts: [],
    ...(command === undefined ? {} : { command }),
    lines: said([text, reason, hint]),
  };
}

/** @param {string[]} reasons @returns {Need} */
function restartNeed(reasons) {
  const run = () => request("gateway.restart.request", { reason: "a change waits for it" }).then(() => texts.gatewayRestartsOnce);
  return {
    id: "restart",
    what: "restart",
    title: texts.changeWaitsRestart,
    lines: [list(reasons), texts.runsUnderWay],
    acts: [{ word: texts.restartNow, blocked: noAdminReason.value ?? readOnlyReason.value, run }],
  };
}
