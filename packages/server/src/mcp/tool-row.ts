import type { Tool } from '../control/tool.js'
import type { McpTarget } from './mcp-target.js'

export interface InputSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, object>>
  readonly required: readonly string[]
  /** Whether it takes arguments that it does not list. */
  readonly additionalProperties: boolean
}

export type ToolArguments = Readonly<Record<string, unknown>>

/** Result of a tool. */
export interface ToolResult {
  /** Message of the tool itself, without captured data. */
  readonly said?: string
  /** Captured data, which is fenced. */
  readonly data?: string
  /** Text of the tool itself, of any length, without a fence. */
  readonly own?: string
  /** What to call next. */
  readonly next?: string
  readonly isError?: true
}

/** One tool, for one operation or for several. */
export interface ToolRow extends Pick<Tool, 'name' | 'effect' | 'next' | 'ofTraces'> {
  /** What the tool does and when to call it. */
  readonly description: string
  readonly input: InputSchema
  /** Whether the response can be requested in pages, because the tool changes nothing. */
  readonly inParts: boolean
  run(world: McpTarget, given: ToolArguments, signal?: AbortSignal): Promise<ToolResult>
}
