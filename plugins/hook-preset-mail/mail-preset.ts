import type { HookPreset } from "svc/sdk";

/** Mails of one push, as the watcher of a mailbox sends them. */
const MAILS_PER_PUSH = 100;
/** Characters of a mail's text that such a watcher sends, three bytes each at most. */
const TEXT_BYTES = 3 * 20_000;
/** Sender, subject, snippet and what JSON adds. */
const HEAD_BYTES = 8_192;

/** `{"messages":[{id, from, subject, snippet, body}]}`: one run for each mail, in the session of its id. */
export const mailPreset: HookPreset = {
  id: "gmail",
  mappings: [
    {
      id: "gmail",
      match: { path: "gmail" },
      action: "agent",
      wakeMode: "now",
      name: "Gmail",
      forEach: "messages",
      sessionKey: "hook:gmail:{{messages[0].id}}",
      messageTemplate: [
        "New email from {{messages[0].from}}",
        "Subject: {{messages[0].subject}}",
        "{{messages[0].snippet}}",
        "{{messages[0].body}}",
      ].join("\n"),
      maxBodyBytes: MAILS_PER_PUSH * (TEXT_BYTES + HEAD_BYTES),
    },
  ],
};
