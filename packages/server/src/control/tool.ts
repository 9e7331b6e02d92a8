/** An operation as a tool of `stuntdouble mcp`. It has the arguments of the operation. */
export interface Tool {
  readonly name: string
  /** What the tool does, if the summary of the operation uses terms of the control API. */
  readonly does?: string
  /** When to call the tool: one or two short statements. */
  readonly when: string
  /** `changes` adds to the sandbox; `destroys` removes something. */
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** The tool to call next. */
  readonly next: string
  /** Descriptions of arguments, if neither their names nor the `query` of the operation explain them. */
  readonly args?: Readonly<Record<string, string>>
  /** Query parameters that agents cannot use. */
  readonly without?: readonly string[]
  /** Default values of query parameters. */
  readonly defaults?: Readonly<Record<string, string | number>>
  /** Fields of the response that agents do not get. */
  readonly hides?: readonly string[]
  /** Whether the response includes the timeline of what followed. */
  readonly tells?: true
  /** Whether the tool reads only the traffic log, so that a saved trace can respond. */
  readonly ofTraces?: true
  /** Field of the body with the arguments of a command, whose reply may be a secret. */
  readonly command?: string
}
