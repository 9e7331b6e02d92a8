/** Description of an operation as a tool of `stuntdouble mcp`. The tool has the same arguments as the operation. */
export interface Tool {
  readonly name: string
  /** Description of what the tool does. Default: the summary of the operation. */
  readonly does?: string
  /** When to call the tool: one or two short statements. */
  readonly when: string
  /** Effect on the sandbox: `reads` changes nothing, `changes` only adds data, and `destroys` removes data. */
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** Hint for the agent about which tool to call next. */
  readonly next: string
  /** Descriptions of arguments, if neither their names nor the `query` of the operation explain them. */
  readonly args?: Readonly<Record<string, string>>
  /** Query parameters that agents cannot use. */
  readonly without?: readonly string[]
  /** Default values of query parameters. */
  readonly defaults?: Readonly<Record<string, string | number>>
  /** Fields of the response that are removed for agents. */
  readonly hides?: readonly string[]
  /** Whether the response includes the timeline of all entries that the call caused. */
  readonly tells?: true
  /** Whether the tool also works on a saved trace, because it reads only the traffic log. */
  readonly ofTraces?: true
  /**
   * Name of the body field that contains a command with its arguments. The reply is redacted if the command reads a
   * secret.
   */
  readonly command?: string
}
