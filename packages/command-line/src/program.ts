import type { ArgsDef } from 'citty'

/** Parsed options by name; words that are no options stand in `_`. */
export type ParsedArguments = Readonly<Record<string, unknown>> & { readonly _: readonly string[] }

/** One command of the command line. */
export interface Program {
  readonly args: ArgsDef
  /** What its words are, for the usage: `FILE…`. Without it a command takes options only. */
  readonly operands?: { readonly hint: string; readonly least: number; readonly most: number }
  /** Its words are a command with options of its own: `--`, or its first word, ends ours. */
  readonly endsOptions?: boolean
  /** Options that may come several times: their values are a list. */
  readonly repeated?: readonly string[]
  /** More to know, for the usage and the reference: computed when it is asked for. */
  readonly notes?: () => { readonly title: string; readonly lines: readonly string[] }
  /** Command lines that a reader may copy. */
  readonly examples: readonly string[]
  /** @returns the exit code: 0 good, 1 not as expected, 2 bad use or unreadable; `undefined` when it goes on running */
  run(given: ParsedArguments): Promise<number | undefined>
}

/** A mistake in the command line: one sentence on the console and exit code 2. */
export class UsageError extends Error {}

/** The text of an option that needs a value. */
export function textOf(given: ParsedArguments, name: string, hint: string): string | undefined {
  const value = given[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw new UsageError(`--${name} needs a value: --${name} ${hint}.`)
}
