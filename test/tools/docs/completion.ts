import type { CliOption } from "../../../sdk/types/cli.ts";
import { type CommandDoc, rootFlags } from "./commands.ts";

/** File name below `bin/completion` → script. */
export function completionScripts(commands: readonly CommandDoc[]): Map<string, string> {
  const table = tableOf(commands);
  return new Map([
    ["svc.bash", bash(table)],
    ["svc.zsh", zsh(table)],
    ["svc.fish", fish(table)],
  ]);
}

/** Everything that a shell offers. */
interface Table {
  /** Words that begin commands → words that may follow, with what they do. */
  next: Map<string, Map<string, string>>;
  /** Command → flags, with what they do. */
  flags: Map<string, Map<string, string>>;
  /** `command --flag` → values it takes; an empty list: any. */
  values: Map<string, readonly string[]>;
}

function tableOf(commands: readonly CommandDoc[]): Table {
  const table: Table = { next: new Map(), flags: new Map(), values: new Map() };
  for (const { name, summary, options } of commands) {
    addWords(table.next, name.split(" "), summary);
    const flags = new Map<string, string>();
    for (const [long, option] of Object.entries(options)) {
      const names = [`--${long}`, ...(option.short ? [`-${option.short}`] : [])];
      for (const flag of names) {
        flags.set(flag, option.description);
        if (option.kind !== "flag") table.values.set(`${name} ${flag}`, choicesOf(option));
      }
    }
    table.flags.set(name, flags);
    if (name === "completion") for (const shell of ["bash", "zsh", "fish"]) addWords(table.next, [name, shell], `Script of ${shell}`);
  }
  return table;
}

function addWords(next: Table["next"], words: readonly string[], summary: string): void {
  for (const [i, word] of words.entries()) {
    const before = words.slice(0, i).join(" ");
    const known = next.get(before) ?? new Map<string, string>();
    if (i === words.length - 1) known.set(word, summary);
    else if (!known.has(word)) known.set(word, `Commands that begin with ${[...words.slice(0, i), word].join(" ")}`);
    next.set(before, known);
  }
}

function choicesOf(option: CliOption): readonly string[] {
  return option.kind === "string" && option.choices ? option.choices : [];
}

const NOTE = "Written by `npm run docs` from the tables of commands. Reads no config and runs nothing.";
const rootNames = rootFlags.flatMap(({ flags }) => flags);
const rootValued = rootFlags.filter(({ value }) => value !== undefined);

/** Arms of a `case` of bash and zsh. */
function arms(rows: Iterable<readonly [string, string]>): string {
  return [...rows].map(([pattern, body]) => `    ${quoted(pattern)}) ${body} ;;`).join("\n");
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The walk over the words that stand before the cursor, in what bash and zsh share; `n` is the place of the cursor, `words` begins with the program. */
function walk(words: string, first: number, last: string): string {
  return `  local at="" word skip=0 i
  for ((i = ${first}; i < ${last}; i++)); do
    word="\${${words}[i]}"
    if ((skip)); then skip=0; continue; fi
    case "$word" in
      ${rootValued.flatMap(({ flags }) => flags).join("|")}) skip=1; continue ;;
      -*) continue ;;
    esac
    if _svc_known "\${at:+$at }$word"; then at="\${at:+$at }$word"; fi
  done`;
}

function knownPaths({ next, flags }: Table): string {
  const all = new Set([...next.keys(), ...flags.keys()].filter((path) => path !== ""));
  return [...all].sort().map(quoted).join("|");
}

function valueArms({ values }: Table): string {
  const rows = [...values]
    .filter(([, choices]) => choices.length > 0)
    .map(([at, choices]) => [at, `echo ${quoted(choices.join(" "))}`] as const);
  const root = rootValued.flatMap(({ flags, choices = [] }) => (choices.length > 0 ? flags.map((flag) => [flag, choices] as const) : []));
  return [arms(rows), ...root.map(([flag, choices]) => `    *' ${flag}') echo ${quoted(choices.join(" "))} ;;`)].join("\n");
}

function takesArms({ values }: Table): string {
  return `    ${[...values.keys()].map(quoted).join("|")}) return 0 ;;
    ${rootValued.flatMap(({ flags }) => flags.map((flag) => `*' ${flag}'`)).join("|")}) return 0 ;;`;
}

function functions(table: Table): string {
  const words = [...table.next].map(([at, next]) => [at, `echo ${quoted([...next.keys()].join(" "))}`] as const);
  const flags = [...table.flags].map(([at, names]) => [at, `echo ${quoted([...names.keys()].join(" "))}`] as const);
  return `_svc_known() { case "$1" in ${knownPaths(table)}) return 0 ;; esac; return 1; }
_svc_next() {
  case "$1" in
${arms(words)}
  esac
}
_svc_flags() {
  case "$1" in
${arms(flags)}
  esac
  echo ${quoted(rootNames.join(" "))}
}
_svc_takes_value() {
  case "$1" in
${takesArms(table)}
  esac
  return 1
}
_svc_values() {
  case "$1" in
${valueArms(table)}
  esac
}`;
}

function bash(table: Table): string {
  return `# bash completion of svc. ${NOTE}
${functions(table)}
_svc() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" offered=""
${walk("COMP_WORDS", 1, "COMP_CWORD")}
  if [[ $cur == "=" ]]; then cur=""; fi
  if [[ $prev == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  if _svc_takes_value "$at $prev"; then offered="$(_svc_values "$at $prev")"
  elif [[ $cur == -* ]]; then offered="$(_svc_flags "$at")"
  else offered="$(_svc_next "$at")"
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$cur"))
}
complete -o default -F _svc svc
`;
}

function zsh(table: Table): string {
  const described = (rows: Iterable<readonly [string, string]>) =>
    [...rows].map(([name, about]) => quoted(`${name.replaceAll(":", "\\:")}:${about.replaceAll("\n", " ")}`)).join(" ");
  const words = [...table.next].map(([at, next]) => [at, `offered=(${described(next)})`] as const);
  const flags = [...table.flags].map(([at, names]) => [at, `offered=(${described(names)})`] as const);
  const root = described(rootFlags.flatMap(({ flags: names, description }) => names.map((name) => [name, description] as const)));
  return `#compdef svc
# zsh completion of svc. ${NOTE}
${functions(table)}
_svc() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT - 1]}"
  local -a offered
${walk("words", 2, "CURRENT")}
  if _svc_takes_value "$at $prev"; then
    offered=(\${=$(_svc_values "$at $prev")})
    if ((\${#offered})); then compadd -a offered; else _files; fi
    return
  fi
  if [[ $cur == -* ]]; then
    case "$at" in
${arms(flags)}
    esac
    offered+=(${root})
    _describe -o flag offered
    return
  fi
  case "$at" in
${arms(words)}
  esac
  if ((\${#offered})); then _describe command offered; else _files; fi
}
if [[ "$funcstack[1]" == _svc ]]; then _svc "$@"; elif (( $+functions[compdef] )); then compdef _svc svc; fi
`;
}

function fish(table: Table): string {
  const line = (at: string, rest: string) => `complete -c svc -n ${fishQuoted(`test (__svc_at) = "${at}"`)} ${rest}`;
  const words = [...table.next].flatMap(([at, next]) =>
    [...next].map(([word, about]) => line(at, `-f -a ${fishQuoted(word)} -d ${fishQuoted(about)}`)),
  );
  const flags = [...table.flags].flatMap(([at, names]) =>
    [...names].map(([flag, about]) => line(at, `${fishFlag(flag)}${fishValue(table.values.get(`${at} ${flag}`))} -d ${fishQuoted(about)}`)),
  );
  const root = rootFlags.flatMap(({ flags: names, value, choices, description }) =>
    names.map((name) => `complete -c svc ${fishFlag(name)}${value ? fishValue(choices ?? []) : ""} -d ${fishQuoted(description)}`),
  );
  const known = [...new Set([...table.next.keys(), ...table.flags.keys()])].filter((path) => path !== "").sort();
  return `# fish completion of svc. ${NOTE}
function __svc_at
    set -l known ${known.map(fishQuoted).join(" ")}
    set -l at
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${rootValued.flatMap(({ flags: names }) => names).join(" ")}
                set skip 1
                continue
            case '-*'
                continue
        end
        set -l longer (string join ' ' $at $word)
        contains -- $longer $known; and set at $longer
    end
    echo "$at"
end
${[...root, ...words, ...flags].join("\n")}
`;
}

const fishQuoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", " ")}'`;
const fishFlag = (flag: string) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`);

function fishValue(choices: readonly string[] | undefined): string {
  if (choices === undefined) return "";
  return choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(" "))}` : " -r";
}
