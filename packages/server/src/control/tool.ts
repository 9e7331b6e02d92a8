/** An order as an agent calls it: one tool of `stuntdouble mcp`. Its arguments are those of the order. */
export interface Tool {
  readonly name: string
  /** What it does, where the order's summary tells it in words of the control API. */
  readonly does?: string
  /** When to call it, in one or two sentences. */
  readonly when: string
  /** `changes` adds to the world, `destroys` takes something away. */
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** What to call after it. */
  readonly next: string
  /** What arguments mean, where neither their names nor the order's `query` tell. */
  readonly args?: Readonly<Record<string, string>>
  /** Query parameters that are not for agents. */
  readonly without?: readonly string[]
  /** Query parameters where none are given. */
  readonly defaults?: Readonly<Record<string, string | number>>
  /** Fields of the answer that are not for agents. */
  readonly hides?: readonly string[]
  /** Answered with what it led to, as a timeline. */
  readonly tells?: true
  /** Looks at the traffic only, so that a saved trace can answer it. */
  readonly ofTraces?: true
  /** The body's field with the words of a command, whose reply may be a secret. */
  readonly command?: string
}
