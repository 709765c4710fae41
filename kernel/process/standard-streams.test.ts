import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { guardStandardStreams } from "./standard-streams.ts";

/** A stream whose writes end as the test says. */
function createStream() {
  const written: string[] = [];
  let fault: NodeJS.ErrnoException | undefined;
  let held: Array<() => void> | undefined;
  const stream = new Writable({
    decodeStrings: false,
    autoDestroy: false,
    write(text: string, _encoding, done) {
      const finish = () => {
        if (fault === undefined) written.push(text);
        done(fault);
      };
      if (held) held.push(finish);
      else setImmediate(finish);
    },
  });
  return {
    stream: Object.assign(stream, { isTTY: false as const }),
    written,
    failWith(code: string | undefined) {
      fault = code === undefined ? undefined : Object.assign(new Error(`write ${code}`), { code });
      // `process.stdout` stays writable after a failure.
      if (code === undefined) Object.assign((stream as unknown as { _writableState: object })._writableState, { errored: null });
    },
    hold() {
      held = [];
    },
    release() {
      const waiting = held ?? [];
      held = undefined;
      for (const finish of waiting) finish();
    },
  };
}

function guard() {
  const clock = { now: 0 };
  const [out, err] = [createStream(), createStream()];
  const output = guardStandardStreams({ stdout: out.stream as never, stderr: err.stream as never }, () => clock.now);
  const losses: string[] = [];
  output.onLoss((message) => losses.push(message));
  return { clock, out, err, output, losses };
}

test("a reader of stderr that left throws nowhere, is reported once, and asks no command to end", async () => {
  const { err, output, losses } = guard();
  err.failWith("EPIPE");

  for (let i = 0; i < 5; i++) output.stderr.write(`line ${i}\n`);
  await output.flushed();

  expect(losses).toEqual(["stderr is closed (EPIPE); lines are missing there from now on, the log file has them"]);
  expect(output.closed.aborted).toBe(false);
});

test.each(["EPIPE", "EIO"])("a stdout that is gone (%s) asks the command to end and is no fault", async (code) => {
  const { out, output } = guard();
  out.failWith(code);

  output.stdout.write("line\n");
  await output.flushed();

  expect(output.closed.aborted).toBe(true);
  expect(output.fault()).toBeUndefined();
});

test("a full disk behind stdout is a fault", async () => {
  const { out, output } = guard();
  out.failWith("ENOSPC");

  output.stdout.write("line\n");
  await output.flushed();

  expect(output.fault()).toBe("ENOSPC");
});

test("a reader that comes back gets the lines from then on, and how many it missed", async () => {
  const { clock, err, output } = guard();
  err.failWith("EPIPE");
  output.stderr.write("one\n");
  await output.flushed();
  err.failWith(undefined);

  output.stderr.write("two\n"); // within the pause
  clock.now = 1_000;
  output.stderr.write("three\n");
  await output.flushed();
  await output.flushed();

  expect(err.written.filter((text) => text !== "")).toEqual(["three\n", "svc: 2 lines are missing here; the log file has them\n"]);
});

test("a reader that stops reading fills no memory", async () => {
  const { err, output, losses } = guard();
  err.hold();
  const line = `${"x".repeat(99_999)}\n`;

  for (let i = 0; i < 100; i++) output.stderr.write(line);

  expect(err.stream.writableLength).toBeLessThan(1_200_000);
  expect(losses).toEqual(["stderr is not being read; lines are missing there from now on, the log file has them"]);
  err.release();
  await output.flushed();
  await output.flushed();
  expect(err.written.at(-2)).toMatch(/^svc: 8\d lines are missing here/);
});

test("a reader that has stopped reading does not keep a process from ending that is in a hurry", async () => {
  const { err, output } = guard();
  err.hold();
  output.stderr.write("the last words\n");

  output.hurry();
  await output.flushed();

  expect(err.written).toEqual([]);
  err.release();
});
