import { expect, test } from "vitest";
import { createFlagLevels } from "./log-flags.ts";
import { createLogger, type LogRecord } from "./logger.ts";

test.each([
  [["hooks"], "gateway/hooks", "debug"],
  [["hooks"], "gateway/hooks/deep", "debug"],
  [["hooks"], "gateway/hooksmith", undefined],
  [["hooks.trace"], "gateway/hooks", "trace"],
  [["plugin.*"], "gateway/plugin/messaging", "debug"],
  [["plugin.*", "plugin.messaging.trace"], "gateway/plugin/messaging", "trace"],
  [["plugin.messaging"], "gateway/plugin/agents", undefined],
  [[], "gateway", undefined],
])("flags %j make %s log at %s", (flags, subsystem, level) => {
  expect(createFlagLevels(flags)(subsystem)).toBe(level);
});

test("a flagged subsystem reaches the sinks below the level, marked, and the others do not", () => {
  const records: LogRecord[] = [];
  const flags = createFlagLevels(["plugin.messaging"]);
  const logger = createLogger([(record) => void records.push(record)], Date.now, () => "info", flags);
  const messaging = logger.child("plugin").child("messaging");
  messaging.debug("attempt");
  messaging.trace("frame");
  messaging.info("sent");
  logger.child("plugin").child("agents").debug("run");
  expect(records.map(({ message, isFlagged }) => [message, isFlagged])).toEqual([
    ["attempt", true],
    ["sent", undefined],
  ]);
});
