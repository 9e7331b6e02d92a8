import { type Option, type OptionGroup, optionGroups, type Program } from '@stuntdouble/command-line'
import { about, type CommandEntryPoint, exitCodes, groups, programs } from './programs.js'

/** Maximum width of a line of help text, in columns. */
export const helpColumns = 100
/**
 * Maximum number of lines of a help text with all options. If there are more, the help describes only the common
 * options, and lists the names of the other options.
 */
export const helpLines = 38
/** Maximum width of the column with the options, before their descriptions. */
const nameColumns = 26
/** Maximum number of examples in the help. The reference shows all of them. */
const shownExamples = 3

/** Returns the usage line of a command, without "Usage:". */
export function usageLine(name: string, { args, operands }: Program): string {
  const options = Object.keys(args).length === 0 ? '' : ' [OPTIONS]'
  return `stuntdouble ${name}${options}${operands === undefined ? '' : ` ${operands.hint}`}`
}

/** Returns the options of a command by group, in the order of the groups. */
export function groupedOptions({
  args,
}: Program): readonly (readonly [OptionGroup, readonly (readonly [string, Option])[]])[] {
  return optionGroups
    .map((group) => [group, Object.entries(args).filter(([, option]) => (option.group ?? 'common') === group)] as const)
    .filter(([, options]) => options.length > 0)
}

/**
 * Returns the help of one command.
 * @param topic group whose options are described, or `all` for every group. Default: all options if they fit into
 * {@link helpLines}, otherwise the common options
 */
export function helpOf(name: string, { description }: CommandEntryPoint, program: Program, topic?: string): string {
  const groups = groupedOptions(program)
  const wanted = topic === 'all' ? undefined : groups.find(([group]) => slug(group) === topic)?.[0]
  const whole = helpText(
    name,
    description,
    program,
    wanted === undefined ? groups : groups.filter(([group]) => group === wanted),
    [],
  )
  if (topic !== undefined && (topic === 'all' || wanted !== undefined)) return whole
  if (whole.split('\n').length <= helpLines) return whole
  return helpText(name, description, program, groups.slice(0, 1), groups.slice(1))
}

function helpText(
  name: string,
  description: string,
  program: Program,
  described: ReturnType<typeof groupedOptions>,
  named: ReturnType<typeof groupedOptions>,
): string {
  const sections = [description, `Usage: ${usageLine(name, program)}`]
  for (const [group, options] of described) {
    const heading =
      described.length + named.length > 1 ? `${group[0]!.toUpperCase()}${group.slice(1)} options` : 'Options'
    sections.push(`${heading}\n${options.map(([option, row]) => optionLine(option, row)).join('\n')}`)
  }
  if (named.length > 0) {
    const lines = named.map(([group, options]) =>
      listed(
        options.map(([option]) => `--${option}`),
        slug(group).padEnd(12),
        2 + 12,
      ),
    )
    sections.push(
      `More options: "stuntdouble ${name} --help GROUP" or "--help all" describes them\n${lines.join('\n')}`,
    )
  }
  const notes = program.notes?.()
  if (notes !== undefined) sections.push(`${notes.title}\n${listed(notes.lines, '', 2)}`)
  sections.push(
    `Examples\n${program.examples
      .slice(0, shownExamples)
      .map((example) => `  ${example}`)
      .join('\n')}`,
  )
  sections.push(codesLine)
  return sections.join('\n\n')
}

/** Returns the names of the subcommands of a command. */
export function inGroup(group: string): string[] {
  return Object.keys(programs).filter((name) => name.startsWith(`${group} `))
}

/** Returns the list of commands. @param group command whose subcommands are listed instead */
export function overview(group?: string): string {
  const names = group === undefined ? Object.keys(programs) : inGroup(group)
  const shown = names.map((name) => [name, programs[name]!] as const)
  const width = Math.max(...shown.map(([name]) => name.length))
  return [
    group === undefined ? about.description : groups[group],
    `Usage: stuntdouble ${group === undefined ? '' : `${group} `}COMMAND [OPTIONS]`,
    `Commands\n${shown.map(([name, { description }]) => `  ${name.padEnd(width)}  ${description}`).join('\n')}`,
    '"stuntdouble COMMAND --help" describes one command.',
    codesLine,
  ].join('\n\n')
}

const codesLine = `Exit codes: ${Object.entries(exitCodes)
  .map(([code, { short }]) => `${code} ${short}`)
  .join(', ')}`

/** Returns an option as it is typed, such as `--port N`. */
export function typedOption(name: string, { valueHint }: Option): string {
  return `--${name}${valueHint === undefined ? '' : ` ${valueHint}`}`
}

/** Returns the description of an option with its default. */
export function describedOption({ description = '', default: or }: Option): string {
  return or === undefined ? description : `${description} (default ${or})`
}

function optionLine(name: string, option: Option): string {
  const head = `  ${typedOption(name, option)}`.padEnd(nameColumns + 2)
  const text = describedOption(option)
  const line = `${head}  ${text}`
  return line.length <= helpColumns ? line : `${head.trimEnd()}\n${' '.repeat(nameColumns + 4)}${text}`
}

/** Joins words with commas and breaks them into indented lines of at most {@link helpColumns}. */
function listed(words: readonly string[], head: string, indent: number): string {
  const lines = [`${' '.repeat(indent - head.length)}${head}`]
  words.forEach((word, at) => {
    const part = at === words.length - 1 ? word : `${word}, `
    if ((lines.at(-1)! + part).trimEnd().length > helpColumns) lines.push(' '.repeat(indent))
    lines.push(lines.pop()! + part)
  })
  return lines.map((line) => line.trimEnd()).join('\n')
}

/** Returns the name of a group as it is typed after `--help`. */
function slug(group: OptionGroup): string {
  return group.toLowerCase().replace(' ', '-')
}
