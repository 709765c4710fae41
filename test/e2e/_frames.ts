import type { Page } from "playwright-core";
import WebSocket from "ws";
import { createFrameCheck } from "../../sdk/testing/wire-check.ts";

/** A bare socket whose frames are compared with the schemas of the protocol; a wrong one fails the test. */
export class CheckedSocket extends WebSocket {
  readonly #check = createFrameCheck();

  constructor(url: string) {
    super(url);
    this.on("message", (data: Buffer) => this.#check.received(JSON.parse(data.toString())));
  }

  override send(text: string): void {
    this.#check.sent(JSON.parse(text));
    super.send(text);
  }
}

/** Compares what a page and the gateway say to each other likewise. */
export function checkFrames(page: Page): void {
  page.on("websocket", (socket) => {
    const check = createFrameCheck();
    socket.on("framesent", ({ payload }) => check.sent(JSON.parse(payload.toString())));
    socket.on("framereceived", ({ payload }) => check.received(JSON.parse(payload.toString())));
  });
}
