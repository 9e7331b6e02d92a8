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

/** What a tool found out. */
export interface ToolResult {
  /** A sentence of ours: nothing captured is in it. */
  readonly said?: string
  /** What comes of the world: it goes into the fence. */
  readonly data?: string
  /** A text of ours, long as it may be, without a fence. */
  readonly own?: string
  /** Sentences of ours behind it. */
  readonly next?: string
  readonly isError?: true
}

/** One tool, whether it stands for an order or for more than one. */
export interface ToolRow extends Pick<Tool, 'name' | 'effect' | 'next' | 'ofTraces'> {
  /** What it does and when to call it. */
  readonly description: string
  readonly input: InputSchema
  /** Its answer can be asked for in parts: it changes nothing. */
  readonly inParts: boolean
  run(world: McpTarget, given: ToolArguments, signal?: AbortSignal): Promise<ToolResult>
}
