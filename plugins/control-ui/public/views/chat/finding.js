import { useEffect, useRef } from "preact/hooks";
import { findMessage, isReadable } from "../../core/chat.js";
import { turnKeyOf } from "../../core/turns.js";
import { texts } from "../../texts/chat-more.js";
import { announce } from "../../ui/announce.js";

/**
 * Finds the turn with the message that the address names, and takes the view there, once. A search that a lost connection or a failed read ended begins again when messages
 * can be read. Shows nothing.
 * @param {{ chat: import("../../core/chat.js").Chat, message: string | undefined, onFound: (turn: string) => void, toTurn: (turn: string) => void }} props
 */
export default function Finding({ chat, message, onFound, toTurn }) {
  const isSettled = useRef(false);
  const canSearch = isReadable(chat);
  useEffect(() => {
    isSettled.current = message === undefined;
    onFound("");
  }, [chat, message]);
  useEffect(() => {
    if (message === undefined || isSettled.current || !canSearch) return undefined;
    let isWanted = true;
    void findMessage(chat, message).then((found) => {
      if (!isWanted || (!found && !isReadable(chat))) return;
      isSettled.current = true;
      if (!found) return announce(texts.messageNotConversation);
      onFound(turnKeyOf(found));
      toTurn(turnKeyOf(found));
    });
    return () => {
      isWanted = false;
    };
  }, [chat, message, canSearch]);
  return null;
}
