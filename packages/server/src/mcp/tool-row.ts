import type { Tool } from '../control/tool.js'
import type { McpTarget } from './mcp-target.js'

export interface InputSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, object>>
  readonly required: readonly string[]
  /** Whether the tool also accepts arguments that `properties` does not contain. */
  readonly additionalProperties: boolean
}

export type ToolArguments = Readonly<Record<string, unknown>>

export interface ToolResult {
  /** Message of the tool itself, without captured data. */
  readonly said?: string
  /** Captured data, which is shown between two marker lines. */
  readonly data?: string
  /** Text of the tool itself, of any length, without marker lines. */
  readonly own?: string
  /** Hint about which tool to call next. */
  readonly next?: string
  readonly isError?: true
}

/** One tool. It may use several operations of the control API. */
export interface ToolRow extends Pick<Tool, 'name' | 'effect' | 'next' | 'ofTraces'> {
  /** What the tool does and when to call it. */
  readonly description: string
  readonly input: InputSchema
  /**
   * Whether a long response can be requested in pages. Each page is a new call, so that only tools without effects
   * support pages.
   */
  readonly inParts: boolean
  run(world: McpTarget, given: ToolArguments, signal?: AbortSignal): Promise<ToolResult>
}
