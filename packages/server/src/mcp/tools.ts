import { excerpt } from '../../../../src/report/safe-text.js'
import { copyTool } from './copy-tool.js'
import { extraTools } from './extra-tools.js'
import { answerText } from './fenced-response.js'
import type { McpTarget } from './mcp-target.js'
import { Mistake } from './mistake.js'
import { operationTools } from './operation-tools.js'
import { checkArguments } from './tool-arguments.js'
import type { ToolArguments, ToolResult, ToolRow } from './tool-row.js'

export const tools: readonly ToolRow[] = [...operationTools, copyTool, ...extraTools]

/** Returns the tools that a target supports. */
export function toolsOf({ isTrace }: Pick<McpTarget, 'isTrace'>): readonly ToolRow[] {
  return isTrace ? tools.filter(({ ofTraces }) => ofTraces === true).map(withoutTenant) : tools
}

/** Removes the argument `tenant` from a tool, because a saved trace contains only one tenant. */
function withoutTenant(tool: ToolRow): ToolRow {
  const { tenant: _, ...properties } = tool.input.properties
  return { ...tool, input: { ...tool.input, properties } }
}

export interface ToolReply {
  readonly text: string
  readonly isError: boolean
}

/** Calls a tool. An error is returned as a response that says what to do next. */
export async function called(
  tool: ToolRow,
  world: McpTarget,
  given: ToolArguments,
  signal?: AbortSignal,
): Promise<ToolReply> {
  const outcome = await outcomeOf(tool, world, given, signal)
  const next = outcome.next ?? (outcome.isError ? undefined : tool.next)
  const part = tool.inParts ? ((given.page as number | undefined) ?? 1) : undefined
  const told = next === undefined ? outcome : { ...outcome, next }
  return { text: answerText(told, { part }), isError: outcome.isError === true }
}

async function outcomeOf(
  tool: ToolRow,
  world: McpTarget,
  given: ToolArguments,
  signal?: AbortSignal,
): Promise<ToolResult> {
  try {
    checkArguments(tool, given)
    return await tool.run(world, given, signal)
  } catch (error) {
    if (error instanceof Mistake) return { isError: true, said: error.message, next: `call ${tool.name} again.` }
    // The message may contain captured data, so fence it.
    const data = excerpt(error instanceof Error ? error.message : String(error), 500)
    return {
      isError: true,
      said: 'The call failed; the data contains the error.',
      data,
      next: 'call get_status for the current state.',
    }
  }
}
