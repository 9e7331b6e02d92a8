import type { BooleanArgDef, StringArgDef } from 'citty'

/** Groups of options, in the order in which the help and the reference list them. */
export const optionGroups = ['common', 'store', 'queue', 'security', 'cluster', 'real Redis'] as const

export type OptionGroup = (typeof optionGroups)[number]

/** One option of a command: what the parser reads, and what the help and the reference print. */
export type Option = ((StringArgDef & { type: 'string' }) | (BooleanArgDef & { type: 'boolean' })) & {
  /** Group that the help lists the option in. Default `common`. */
  readonly group?: OptionGroup
}

/** Parsed options by name; `_` holds the operands. */
export type ParsedArguments = Readonly<Record<string, unknown>> & { readonly _: readonly string[] }

/** One command of the command line. */
export interface Program {
  readonly args: Readonly<Record<string, Option>>
  /** Operands as the usage line prints them, such as `FILE…`. A command without this field takes options only. */
  readonly operands?: { readonly hint: string; readonly least: number; readonly most: number }
  /** Whether the operands are a command with its own options, which begins after `--` or at the first operand. */
  readonly endsOptions?: boolean
  /** Names of the options that may be given several times: their values are a list. */
  readonly repeated?: readonly string[]
  /** Further names for the help and the reference, such as those of the shipped scenarios. Computed when they are shown. */
  readonly notes?: () => { readonly title: string; readonly lines: readonly string[] }
  /** Command lines that a reader can copy. The help shows the first ones. */
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
  if (typeof value === 'string' && value !== '') return value
  throw new UsageError(`--${name} needs a value. Write --${name} ${hint}.`)
}
