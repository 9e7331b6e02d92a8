import type { BooleanArgDef, StringArgDef } from 'citty'

/** Groups of options, in the order in which the help and the reference list them. */
export const optionGroups = ['common', 'store', 'queue', 'security', 'cluster', 'real Redis'] as const

export type OptionGroup = (typeof optionGroups)[number]

/** One option of a command. The parser reads these fields, and the help and the reference print them. */
export type Option = ((StringArgDef & { type: 'string' }) | (BooleanArgDef & { type: 'boolean' })) & {
  /** Group under which the help lists the option. Default `common`. */
  readonly group?: OptionGroup
}

/** Parsed options by name; `_` holds the operands. */
export type ParsedArguments = Readonly<Record<string, unknown>> & { readonly _: readonly string[] }

/** A command of the command line, such as `serve`. */
export interface Program {
  readonly args: Readonly<Record<string, Option>>
  /** Operands as the usage line prints them, such as `FILE…`. A command without this field takes options only. */
  readonly operands?: { readonly hint: string; readonly least: number; readonly most: number }
  /**
   * Whether the operands are another command with its own options, as in `stuntdouble run -- npm test`. That command
   * begins after `--` or at the first operand.
   */
  readonly endsOptions?: boolean
  /** Names of the options that can be repeated. The value of such an option is a list. */
  readonly repeated?: readonly string[]
  /**
   * Additional lists of names, such as the names of the shipped scenarios. The lists are computed when the help or the
   * reference shows them.
   */
  readonly notes?: () => { readonly title: string; readonly lines: readonly string[] }
  /** Command lines to copy. The help shows only the first command lines. */
  readonly examples: readonly string[]
  /** Runs the command and returns its exit code, or `undefined` when the process continues to run. */
  run(given: ParsedArguments): Promise<number | undefined>
}

/** A mistake in a command line. The console shows its message on one line, and the exit code is 2. */
export class UsageError extends Error {}

/** Returns the value of an option, or `undefined` when it was not given. @throws UsageError when the value is missing */
export function textOf(given: ParsedArguments, name: string, hint: string): string | undefined {
  const value = given[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && value.trim() !== '') return value
  throw new UsageError(`--${name} needs a value. Write --${name} ${hint}.`)
}
