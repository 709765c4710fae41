import { describe, expect, test } from "vitest";
import { parseLine } from "./line.ts";
import { Members } from "./members.ts";
import { toEvent } from "./message.ts";
import { foldName, isRoom } from "./names.ts";

const fold = (name: string) => foldName(name, "rfc1459");
const context = {
  id: "link-1",
  account: undefined,
  mapping: "rfc1459",
  isRoom,
  isSelf: (name: string) => fold(name) === "bot",
  roomName: (name: string) => name,
} as const;
const line = (text: string) => parseLine(text) ?? { tags: new Map(), command: "", params: [] };

describe("a message", () => {
  test("to the account is a direct one: it is answered to its sender, as the server shows them", () => {
    expect(toEvent(line(":Ada!~a@Host PRIVMSG BOT :hi"), context)).toEqual({
      id: "link-1",
      chatType: "direct",
      peer: { id: "Ada!~a@Host", name: "Ada" },
      sender: { id: "ada!~a@host", name: "Ada" },
      text: "hi",
    });
  });

  test("to a room is one of a group, and an action is told as text", () => {
    expect(toEvent(line(":Ada!~a@host PRIVMSG #Room[1] :\u0001ACTION waves\u0001"), { ...context, account: "AdaL" })).toMatchObject({
      chatType: "group",
      peer: { id: "#Room[1]", name: "#Room[1]" },
      sender: { id: "adal", name: "Ada" },
      text: "* Ada waves",
    });
  });

  test("keeps the id and the time of its server, and that a program wrote it", () => {
    const told = line("@msgid=m-7;time=2026-01-02T03:04:05.000Z;bot :ada!~a@host PRIVMSG bot :hi");
    expect(toEvent(told, context)).toMatchObject({ id: "m-7", providerAt: Date.UTC(2026, 0, 2, 3, 4, 5), sender: { isBot: true } });
  });

  test.each([
    ["a request between clients", ":ada!~a@host PRIVMSG bot :\u0001VERSION\u0001"],
    ["nothing but colours", ":ada!~a@host PRIVMSG bot :\u00034\u0003"],
    ["a word of the server itself", ":irc.example.net PRIVMSG bot :hi"],
    ["a message to operators of a room", ":ada!~a@host PRIVMSG @#room :hi"],
    ["a message to somebody else", ":ada!~a@host PRIVMSG bob :hi"],
  ])("is not made of %s", (_name, text) => {
    expect(toEvent(line(text), context)).toBeUndefined();
  });
});

describe("the account of a sender", () => {
  const message = line(":ada!~a@host PRIVMSG bot :hi");

  test("is what the tag says, where there are tags, and nothing else", () => {
    const members = new Members(fold, true);
    members.take(line(":ada!~a@host JOIN #room adal :Ada"));
    expect(members.accountOf(message)).toBeUndefined();
    expect(members.accountOf(line("@account=AdaL :ada!~a@host PRIVMSG bot :hi"))).toBe("AdaL");
    expect(members.nickOf("ADAL")).toBe("ada");
  });

  test("is what a shared room told of: who joined, logged in, and changed the nick", () => {
    const members = new Members(fold, false);
    members.take(line(":ada!~a@host JOIN #room adal :Ada"));
    expect(members.accountOf(message)).toBe("adal");
    members.take(line(":ada!~a@host ACCOUNT *"));
    expect(members.accountOf(message)).toBeUndefined();
    members.take(line(":ada!~a@host ACCOUNT adal"));
    members.take(line(":ada!~a@host NICK :Ada[2]"));
    expect(members.accountOf(message)).toBeUndefined();
    expect(members.accountOf(line(":ada{2}!~a@host PRIVMSG bot :hi"))).toBe("adal");
    expect(fold(members.nickOf("adal") ?? "")).toBe("ada{2}");
  });

  test("is asked for once for those who are there before", () => {
    const members = new Members(fold, false);
    expect(Members.question("#room")).toBe("WHO #room %tcna,746");
    members.take(line(":irc.example.net 354 bot 746 #room ada adal"));
    members.take(line(":irc.example.net 354 bot 746 #room bob 0"));
    members.take(line(":irc.example.net 354 bot 111 #room eve admin"));
    expect(members.accountOf(message)).toBe("adal");
    expect(members.accountOf(line(":bob!~b@host PRIVMSG bot :hi"))).toBeUndefined();
    expect(members.accountOf(line(":eve!~e@host PRIVMSG bot :hi"))).toBeUndefined();
  });

  test.each([
    ["leaves the last shared room", [":ada!~a@host PART #room"]],
    ["is removed from it", [":op!~o@host KICK #room ada :bye"]],
    ["leaves the network", [":ada!~a@host QUIT :bye"]],
  ])("is forgotten when its owner %s: the nick may be another's by now", (_name, lines) => {
    const members = new Members(fold, false);
    members.take(line(":ada!~a@host JOIN #room adal :Ada"));
    for (const text of lines) members.take(line(text));
    expect(members.accountOf(message)).toBeUndefined();
  });

  test("leads to a nick only while its owner has it", () => {
    const members = new Members(fold, true);
    const said = (nick: string, account: string) => members.accountOf(line(`@account=${account} :${nick}!~a@host PRIVMSG bot :hi`));
    said("Ada", "adal");
    said("Ada", "second");
    said("ada_2", "adal");
    members.take(line(":ADA!~a@host NICK :grace"));
    expect([members.nickOf("adal"), members.nickOf("second")]).toEqual(["ada_2", "grace"]);
    members.take(line(":grace!~a@host QUIT :bye"));
    expect([members.nickOf("adal"), members.nickOf("second")]).toEqual(["ada_2", undefined]);
    members.take(line(":ada_2!~a@host QUIT :bye"));
    expect(members.nickOf("adal")).toBeUndefined();
  });

  test("is forgotten when the account itself leaves the room", () => {
    const members = new Members(fold, false);
    members.take(line(":ada!~a@host JOIN #room adal :Ada"));
    members.leaveRoom("#ROOM");
    expect(members.accountOf(message)).toBeUndefined();
  });
});
