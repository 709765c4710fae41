import type { Channel, ChannelLogin, ChannelRun, InboundEvent, LoginStep, OutboundMessage } from "svc/sdk";
import { channelCases, watchLeaks } from "svc/sdk/testing";
import { afterAll, expect, test } from "vitest";
import type { LinesAccount } from "../../examples/plugin-channel/src/accounts.ts";
import { createLinesChannel } from "../../examples/plugin-channel/src/channel.ts";
import { startLinesServer } from "../../examples/plugin-channel/src/peer.ts";
import { outcomeOf } from "./_mutants.ts";
import { createNaiveLines, type StreamFault } from "./_naive-lines.ts";

type Lines = Channel<LinesAccount>;
type Run = ChannelRun<LinesAccount>;

const leaks = watchLeaks();
/** Ends what a channel with a fault would go on with after its test, in the files that share this process. */
const over = new AbortController();
afterAll(async () => {
  over.abort();
  await leaks.assertNone(15_000);
});

/** A channel whose adapter sees a changed run, and its callers the same adapter. */
function withRun(change: (run: Run) => Partial<Run>): Lines {
  const own = createLinesChannel();
  const runs = new WeakMap<Run, Run>();
  const inner = (run: Run): Run => {
    const known = runs.get(run) ?? { ...run, ...change(run) };
    runs.set(run, known);
    return known;
  };
  return {
    ...own,
    start: (run) => own.start(inner(run)),
    send: (message, run) => own.send(message, inner(run)),
    edit: async (target, run) => own.edit?.(target, inner(run)),
    typing: async (to, on, run) => own.typing?.(to, on, inner(run)),
  };
}

const withEvent = (change: (event: InboundEvent) => InboundEvent) => withRun((run) => ({ receive: (event) => run.receive(change(event)) }));

function withMessage(change: (message: OutboundMessage) => OutboundMessage): Lines {
  const own = createLinesChannel();
  return { ...own, send: (message, run) => own.send(change(message), run) };
}

const cut = (m: OutboundMessage, change: (text: string) => string): OutboundMessage => ({
  ...m,
  text: { text: change(m.text?.text ?? "") },
});
const without = <T extends object>(value: T, key: keyof T): T => {
  const { [key]: _, ...rest } = value;
  return rest as T;
};

/** A channel whose texts are rendered in another way. */
function withRender(change: (render: Lines["text"]["render"]) => Lines["text"]["render"]): Lines {
  const own = createLinesChannel();
  return { ...own, text: { ...own.text, render: change(own.text.render) } };
}

const WORDS = "a rendered text has every word once and in order, and the address of each link";
const ALIKE = "a text is rendered alike each time, whatever was rendered before it";
const MARKS = "every piece of a style is marked as the whole is";
const PIECES = "pieces of a long text arrive whole, once and in order, with their styles, fences and wide characters";

const mutants: Array<[string, () => Lines, string]> = [
  [
    "shows its token when it is inspected",
    () => {
      const own = createLinesChannel();
      return {
        ...own,
        config: { ...own.config, inspect: (c, id) => ({ ...own.config.inspect(c, id), token: own.config.resolve(c, id).token }) },
      };
    },
    "it describes itself, and its config without showing secrets",
  ],
  [
    "cannot read the target it wrote",
    () => ({ ...createLinesChannel(), target: { normalize: (raw) => raw, format: (target) => `to ${target}` } }),
    "it describes itself, and its config without showing secrets",
  ],
  [
    "changes what a user said",
    () => withEvent((e) => ({ ...e, text: e.text.slice(0, 4) })),
    "a direct message arrives whole, and the answer goes back",
  ],
  [
    "names a message that is not there in its receipt",
    () => {
      const own = createLinesChannel();
      return { ...own, send: async (m, run) => ({ ...(await own.send(m, run)), messageId: "m0" }) };
    },
    "a direct message arrives whole, and the answer goes back",
  ],
  [
    "takes a group for a person",
    () => withEvent((e) => ({ ...e, chatType: "direct" })),
    "a group message arrives as one, and the answer goes to the group",
  ],
  ["gives every message the same id", () => withEvent((e) => ({ ...e, id: "x" })), "every message has an id of its own"],
  [
    "cuts long texts in silence",
    () => withMessage((m) => cut(m, (text) => text.slice(0, 4_000))),
    "a text at its limit goes out whole, and a longer one is never cut in silence",
  ],
  [
    "cuts long texts inside a character",
    () => {
      const own = createLinesChannel();
      const part = (m: OutboundMessage, start: number, end?: number) => ({
        ...cut(m, (text) => text.slice(start, end)),
        uid: `${m.uid}-${start}`,
      });
      const isLong = (m: OutboundMessage) => (m.text?.text.length ?? 0) > 3_999;
      return {
        ...own,
        send: async (m, run) => {
          if (!isLong(m)) return own.send(m, run);
          await own.send(part(m, 0, 3_999), run);
          return own.send(part(m, 3_999), run);
        },
      };
    },
    "a long text is never cut inside a character",
  ],
  [
    "sends only the first line",
    () => withMessage((m) => cut(m, (text) => text.split("\n")[0] as string)),
    "lines and characters of more than one byte go out as they are",
  ],
  [
    "sends only ASCII",
    () => withMessage((m) => cut(m, (text) => text.replace(/[^ -~\n\t]/g, "?"))),
    "lines and characters of more than one byte go out as they are",
  ],
  [
    "drops what stands behind a style",
    () => withRender((render) => (ir) => ({ text: render(ir).text.slice(0, ir.spans[0] ? ir.spans[0].end + 8 : undefined) })),
    WORDS,
  ],
  [
    "writes styled words twice",
    () =>
      withRender((render) => (ir) => ({ text: render(ir).text + ir.spans.map(({ start, end }) => ir.text.slice(start, end)).join(" ") })),
    WORDS,
  ],
  [
    "loses the addresses of links",
    () => withRender((render) => (ir) => render({ ...ir, spans: ir.spans.filter(({ href }) => !href) })),
    WORDS,
  ],
  [
    "leaves a style on for the next text",
    () =>
      withRender((render) => {
        let open = "";
        return (ir) => {
          const { text } = render(ir);
          const shown = open + text;
          open = ir.spans.some(({ kind }) => kind === "bold") ? "*" : "";
          return { text: shown };
        };
      }),
    ALIKE,
  ],
  [
    "closes a fence only when its last line is there",
    () =>
      withRender((render) => (ir) => {
        const { text } = render(ir);
        return { text: ir.spans[0]?.kind === "codeBlock" && !ir.text.endsWith("zzz") ? text.replace(/\n```$/, "") : text };
      }),
    MARKS,
  ],
  [
    "cuts a styled text where its plain text would have its limit",
    () => withMessage((m) => cut(m, (text) => (text.includes("```") ? text.slice(0, 3_900) : text))),
    PIECES,
  ],
  [
    "sends the second line of a piece first",
    () => withMessage((m) => cut(m, (text) => (text.startsWith("```") ? text.split("\n").reverse().join("\n") : text))),
    PIECES,
  ],
  ["loses the thread of its answer", () => withMessage((m) => without(m, "threadId")), "threads and replies are kept both ways"],
  ["loses what a user replied to", () => withEvent((e) => without(e, "replyTo")), "threads and replies are kept both ways"],
  [
    "declares edits and does none",
    () => ({ ...createLinesChannel(), edit: async () => undefined }),
    "each declared capability is seen at the other side",
  ],
  [
    "declares reactions it has no method for",
    () => {
      const own = createLinesChannel();
      return { ...own, capabilities: { ...own.capabilities, reactions: true } };
    },
    "each declared capability is seen at the other side",
  ],
  [
    "delivers its own messages as a user's",
    () => {
      const own = createLinesChannel();
      const echo = (m: OutboundMessage, run: Run) =>
        run.receive({ id: m.uid, chatType: "direct", peer: { id: m.to }, sender: { id: m.to }, text: m.text?.text ?? "" });
      return { ...own, send: async (m, run) => (await echo(m, run)) && own.send(m, run) };
    },
    "its own messages do not come back as somebody else's",
  ],
  [
    "gives up after a lost link",
    () => {
      const own = createLinesChannel();
      const giveUp = (run: Run) => {
        const stop = new AbortController();
        const signal = AbortSignal.any([run.signal, stop.signal]);
        return own.start({ ...run, signal, state: (p) => (p.lifecycle === "recovering" ? stop.abort() : run.state(p)) });
      };
      return { ...own, start: giveUp };
    },
    "a lost link is made again, and messages go both ways as before",
  ],
  [
    "delivers everything twice",
    () => withRun((run) => ({ receive: async (e) => (await run.receive(e)) && run.receive({ ...e, id: `${e.id}-again` }) })),
    "a lost link is made again, and messages go both ways as before",
  ],
  [
    "sends twice",
    () => {
      const own = createLinesChannel();
      return { ...own, send: async (m, run) => (await own.send(m, run)) && own.send({ ...m, uid: `${m.uid}-2` }, run) };
    },
    "a text at its limit goes out whole, and a longer one is never cut in silence",
  ],
  [
    "says that it sent what it did not",
    () => ({ ...createLinesChannel(), send: async () => ({ messageId: "m1", at: 0 }) }),
    "a message sent while the link breaks is told as failed or arrives once",
  ],
  [
    "acknowledges before the host has the message",
    () =>
      withRun((run) => ({
        receive: async (e) => {
          run.receive(e).catch(() => undefined);
          return { status: "accepted" };
        },
      })),
    "a message is acknowledged only once the host has it",
  ],
  [
    "ends when the host cannot take a message",
    () => {
      const own = createLinesChannel();
      const fragile = (run: Run) => {
        const stop = new AbortController();
        const receive: Run["receive"] = (e) =>
          run.receive(e).catch((error: unknown) => {
            stop.abort();
            throw error;
          });
        return own.start({ ...run, receive, signal: AbortSignal.any([run.signal, stop.signal]) });
      };
      return { ...own, start: fragile };
    },
    "a host that cannot take a message does not end the account",
  ],
  [
    "keeps its link when it is stopped",
    () => {
      const own = createLinesChannel();
      const ended = (signal: AbortSignal) =>
        new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      return {
        ...own,
        start: async (run) => {
          void own.start({ ...run, signal: over.signal });
          await ended(run.signal);
        },
      };
    },
    "its end closes every link within 5 s",
  ],
  [
    "never says that its credentials were refused",
    () => withRun((run) => ({ state: (p) => run.state(p.lifecycle === "blocked" ? { lifecycle: "recovering" } : p) })),
    "refused credentials block the account within 10 s, without a loop",
  ],
  [
    "runs every account with the credentials of the first",
    () => {
      const own = createLinesChannel();
      return { ...own, config: { ...own.config, resolve: (c, id) => ({ ...own.config.resolve(c, "default"), enabled: id !== "" }) } };
    },
    "two accounts run side by side",
  ],
  [
    "calls every probe a success",
    () => ({ ...createLinesChannel(), probe: async () => ({ ok: true, ms: 1 }) }),
    "a probe tells good credentials from bad ones",
  ],
  [
    "logs its token",
    () =>
      withRun((run) => ({
        state: (p) => {
          run.logger.info("state", { account: run.account });
          run.state(p);
        },
      })),
    "no secret stands in a log line or a state",
  ],
];

// At the same time: most of each is waiting for something that does not come.
test.concurrent.each(mutants)("a channel that %s fails the case that says so", async (_name, create, expected) => {
  expect(await outcomeOf(channelCases({ create, peer: startLinesServer }), expected)).toEqual(expect.any(String));
});

const FIRST_PACKET = "messages that wait for the link arrive once and in order, also in its first packet";
const BYTE_BY_BYTE = "messages that wait for the link arrive once and in order, also byte by byte";
const AT_ONCE = "an answer can be sent while the first packet is still being read";
const ANY_CUT = "messages arrive whole and in order wherever the stream is cut";
const REDELIVERY = "a message whose link broke before it was acknowledged is acknowledged on the next one";

const naive = (fault: StreamFault) => channelCases({ create: () => createNaiveLines(fault), peer: startLinesServer });

const streamMutants: Array<[StreamFault, string]> = [
  ["link-too-late", FIRST_PACKET],
  ["link-too-late", REDELIVERY],
  ["listens-too-late", FIRST_PACKET],
  ["line-per-packet", FIRST_PACKET],
  ["line-per-packet", ANY_CUT],
  ["forgets-parts", BYTE_BY_BYTE],
  ["forgets-parts", ANY_CUT],
  ["cuts-characters", BYTE_BY_BYTE],
  ["cuts-characters", ANY_CUT],
  ["out-of-order", FIRST_PACKET],
  ["ignores-repetitions", REDELIVERY],
  ["late-ready", AT_ONCE],
];

test.concurrent.each(streamMutants)("a channel whose reader has the fault %s fails: %s", async (fault, expected) => {
  expect(await outcomeOf(naive(fault), expected)).toEqual(expect.any(String));
});

test.concurrent.each([FIRST_PACKET, BYTE_BY_BYTE, AT_ONCE, ANY_CUT, REDELIVERY])(
  "the same reader without a fault keeps: %s",
  async (name) => {
    expect(await outcomeOf(naive("none"), name)).toBeUndefined();
  },
);

const SIGN_IN = "a sign-in ends as done once a person has followed its steps, and a sign-out leaves nothing of it";
const GIVEN_UP = "a sign-in that is given up ends within 5 s and closes its links";

/** The example with a sign-in by a code, and one change of it. */
function signInCases(change: (own: Lines, platform: { isSignedIn: boolean }) => Partial<Lines> = () => ({})) {
  const platform = { isSignedIn: false };
  let enter: () => void = () => undefined;
  const entered = new Promise<void>((resolve) => (enter = resolve));
  const create = (): Lines => {
    const own: Lines = {
      ...createLinesChannel(),
      async *login({ signal }) {
        yield { kind: "code", code: "7788" };
        signal.throwIfAborted();
        await Promise.race([entered, new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))]);
        platform.isSignedIn = true;
        yield { kind: "done" };
      },
      async logout() {
        const before = platform.isSignedIn;
        platform.isSignedIn = false;
        return before;
      },
    };
    return { ...own, ...change(own, platform) };
  };
  const follow = async (step: LoginStep) => (step.kind === "code" && step.code === "7788" ? enter() : undefined);
  const peer = async () =>
    Object.assign(await startLinesServer(), { signIn: { section: {}, follow, isSignedIn: () => platform.isSignedIn } });
  return channelCases({ create, peer });
}

type LoginOf = NonNullable<Lines["login"]>;

const signInMutants: Array<[string, Parameters<typeof signInCases>[0], string]> = [
  ["forgets the last step", (own) => ({ login: (request) => withoutDone((own.login as LoginOf)(request)) }), SIGN_IN],
  ["says done at once", () => ({ login: () => stepsOf({ kind: "done" }) }), SIGN_IN],
  ["logs its code", (own) => ({ login: (request) => loggedBy((own.login as LoginOf)(request), request.logger) }), SIGN_IN],
  ["keeps the sign-in", () => ({ logout: async () => true }), SIGN_IN],
  ["has cleared nothing", (_, platform) => ({ logout: async () => Object.assign(platform, { isSignedIn: false }).isSignedIn }), SIGN_IN],
  ["ignores its signal", (own) => ({ login: (request) => (own.login as LoginOf)({ ...request, signal: over.signal }) }), GIVEN_UP],
];

async function* withoutDone(steps: AsyncIterable<LoginStep>): AsyncGenerator<LoginStep> {
  for await (const step of steps) if (step.kind !== "done") yield step;
}

async function* loggedBy(steps: AsyncIterable<LoginStep>, logger: ChannelLogin["logger"]): AsyncGenerator<LoginStep> {
  for await (const step of steps) {
    logger.info("a step", { step });
    yield step;
  }
}

async function* stepsOf(...steps: LoginStep[]): AsyncGenerator<LoginStep> {
  yield* steps;
}

test.concurrent.each(signInMutants)("a channel whose sign-in %s fails the case that says so", async (_, change, expected) => {
  expect(await outcomeOf(signInCases(change), expected)).toEqual(expect.any(String));
});

test.concurrent.each([SIGN_IN, GIVEN_UP])("the same sign-in without a fault keeps: %s", async (name) => {
  expect(await outcomeOf(signInCases(), name)).toBeUndefined();
});
