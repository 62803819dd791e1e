/** Completion in shells: scripts made from the table of commands. They know everything, so no key press starts Node. */
import { Option } from 'commander';
import type { Group, Leaf } from '../command.ts';

export type Commands = Readonly<Record<string, Leaf | Group>>;

/** What can come after some words of a command. `at` is those words, each with a space before it. */
interface Place {
  at: string;
  commands: ReadonlyArray<readonly [name: string, summary: string]>;
  options: readonly Option[];
}

const EVERYWHERE = [new Option('--json', 'answer in JSON'), new Option('-q, --quiet', 'answer with ids only')];
const HELP = new Option('-h, --help', 'say what it does');
const FILES = new Set(['--file', '--token-file']);

function placesOf(commands: Commands, globals: readonly Option[]): Place[] {
  const always = [...globals, HELP];
  const ofLeaf = (at: string, { options = () => [] }: Leaf): Place => ({
    at,
    commands: [],
    options: [...options(), ...EVERYWHERE, ...always],
  });
  const places: Place[] = [
    { at: '', commands: namesOf(commands), options: [...always, new Option('-V, --version', '')] },
  ];
  for (const [name, row] of Object.entries(commands)) {
    if ('run' in row) {
      places.push(ofLeaf(` ${name}`, row));
      continue;
    }
    const own = row.own ? ofLeaf('', row.own).options : always;
    places.push({ at: ` ${name}`, commands: namesOf(row.commands), options: own });
    for (const [sub, leaf] of Object.entries(row.commands)) places.push(ofLeaf(` ${name} ${sub}`, leaf));
  }
  return places;
}

const namesOf = (rows: Commands): Array<readonly [string, string]> =>
  Object.entries(rows).map(([name, { summary }]) => [name, summary] as const);

const flagsOf = ({ short, long }: Option): string[] => [short, long].filter((flag) => flag !== undefined);
const takesValue = ({ required, optional }: Option): boolean => required || optional;
const wordsOf = ({ commands, options }: Place): string =>
  [...commands.map(([name]) => name), ...options.flatMap(({ long }) => long ?? [])].join(' ');

/** In single quotes, for any of the shells; our own summaries have apostrophes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** Patterns of one branch of a case. */
const patterns = (texts: readonly string[]): string => texts.map(quoted).join('|');

/** The words after an option, by the place it is at: choices, files, or something that we cannot know. */
function valuesOf(places: readonly Place[]): { chosen: Map<string, string[]>; files: string[]; free: string[] } {
  const chosen = new Map<string, string[]>();
  const files: string[] = [];
  const free: string[] = [];
  for (const { at, options } of places) {
    for (const option of options.filter(takesValue)) {
      const here = flagsOf(option).map((flag) => `${at} ${flag}`);
      const choices = option.argChoices?.join(' ');
      if (choices !== undefined) chosen.set(choices, [...(chosen.get(choices) ?? []), ...here]);
      else (FILES.has(option.long ?? '') ? files : free).push(...here);
    }
  }
  return { chosen, files, free };
}

/** bash and zsh differ in how they are told what was typed, and how they are answered. */
function script(places: readonly Place[], answer: (words: string) => string, files: string, setting: string): string {
  const { chosen, files: withFiles, free } = valuesOf(places);
  const known = places.filter(({ at }) => at !== '').map(({ at }) => at);
  return [
    setting,
    '    case "$at $word" in',
    `      ${patterns(known)}) at="$at $word" ;;`,
    '    esac',
    '  done',
    '  case "$at $previous" in',
    ...[...chosen].map(([choices, where]) => `    ${patterns(where)}) ${answer(choices)}; return ;;`),
    `    ${patterns(withFiles)}) ${files}; return ;;`,
    `    ${patterns(free)}) return ;;`,
    '  esac',
    '  case "$at" in',
    ...places.map((place) => `    ${quoted(place.at)}) ${answer(wordsOf(place))} ;;`),
    '  esac',
    '}',
  ].join('\n');
}

const bash = (places: readonly Place[]): string => `# source <(postern completion bash)
${script(
  places,
  (words) => `COMPREPLY=($(compgen -W ${quoted(words)} -- "$current"))`,
  'COMPREPLY=($(compgen -f -- "$current"))',
  `_postern() {
  local at='' word i current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"`,
)}
complete -F _postern postern`;

const zsh = (places: readonly Place[]): string => `#compdef postern
# source <(postern completion zsh), or as _postern in a directory of $fpath
${script(
  places,
  (words) => `compadd -- ${words}`,
  '_files',
  `_postern() {
  local at='' word i previous="\${words[CURRENT-1]}"
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"`,
)}
if [ "\${funcstack[1]}" = _postern ]; then _postern "$@"; else compdef _postern postern; fi`;

function fish(places: readonly Place[]): string {
  const known = places.filter(({ at }) => at !== '').map(({ at }) => quoted(at));
  // fish has no '\'' : an apostrophe is escaped inside its quotes.
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ at, commands, options }) => {
    const line = `complete -c postern -n "__postern_at '${at}'"`;
    return [
      ...commands.map(([name, summary]) => `${line} -a ${name} -d ${quote(summary)}`),
      ...options.map((option) => {
        const flags = [option.short?.replace('-', '-s '), option.long?.replace('--', '-l ')].filter(Boolean).join(' ');
        const values = option.argChoices ? ` -x -a ${quote(option.argChoices.join(' '))}` : ' -x';
        const value = !takesValue(option) ? '' : FILES.has(option.long ?? '') ? ' -r -F' : values;
        return `${line} ${flags}${value} -d ${quote(option.description)}`;
      }),
    ];
  });
  return [
    '# postern completion fish | source',
    'function __postern_at',
    "  set -l at ''",
    '  for word in (commandline -opc)[2..-1]',
    `    if contains -- "$at $word" ${known.join(' ')}`,
    '      set at "$at $word"',
    '    end',
    '  end',
    '  test "$at" = "$argv[1]"',
    'end',
    'complete -c postern -f',
    ...lines,
  ].join('\n');
}

const SHELLS = { bash, zsh, fish } as const;

/** The command that prints the script for a shell. */
export function completionOf(commands: () => Commands, globals: () => Option[]): Group {
  const leaf = (shell: keyof typeof SHELLS): Leaf => ({
    summary: `print the script for ${shell}`,
    examples: [`completion ${shell}`],
    here: true,
    run: async () => {
      const text = SHELLS[shell](placesOf(commands(), globals()));
      return { json: { shell, script: text }, ids: [text], text };
    },
  });
  return {
    summary: 'complete commands and options in your shell',
    commands: { bash: leaf('bash'), zsh: leaf('zsh'), fish: leaf('fish') },
  };
}
