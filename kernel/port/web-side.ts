import type { IncomingMessage, ServerResponse } from "node:http";
import { H3, type H3Event, toNodeHandler } from "h3";
import { plain } from "./plain.ts";

/** One request as h3 represents it. */
export interface WebSide {
  /** Holds the web request. */
  readonly event: H3Event;
  /** Sends what h3 can send; a rejection becomes a 500. Not called when the answer goes out by another way. */
  send(answer: unknown): void;
}

/** h3 is asked only for requests that are read, or answered, in web terms: many small ones are neither, and it costs as much as all the rest of them. */
export function createWebSides(): (req: IncomingMessage, res: ServerResponse) => WebSide {
  const app = new H3({
    silent: true,
    allowMalformedURL: true,
    onError: () => plain(500, "Internal Server Error", { "Cache-Control": "no-store" }),
  });
  let entered: { event?: H3Event; answer: Promise<unknown> } | undefined;
  // Routes have a table of their own: nothing is looked up before it.
  app.handler = (event) => {
    if (!entered) throw new TypeError("h3 was not asked by a web side");
    entered.event = event;
    return entered.answer;
  };
  const routed = toNodeHandler(app);
  return (req, res) => {
    let send: (answer: unknown) => void = () => undefined;
    const made: typeof entered = { answer: new Promise((resolve) => (send = resolve)) };
    entered = made;
    try {
      // It comes to the handler above before it returns.
      void routed(req, res);
    } finally {
      entered = undefined;
    }
    if (!made.event) throw new TypeError("h3 did not come to its handler at once");
    return { event: made.event, send };
  };
}
