import { entryTypes } from '../../kernel/traffic-log.js'
import { scenarioOf } from './copied-scenario.js'
import { curlOf } from './curl.js'
import { mermaidCopy } from './drawing.js'
import { promptOf } from './prompt.js'
import { sdkOf } from './sdk.js'
import { type CopyContext, type CopySelection, kindOf, type SelectionKind } from './selection.js'
import { type TestRunner, testOf } from './test-code.js'

/** One format in which a selection can be copied. */
export interface CopyFormat {
  /** Name for programs, such as `curl`. */
  readonly name: string
  /** Label for people, such as `curl command`. */
  readonly label: string
  /** Kinds of selections that the format supports: types of entries, `range` and `message`. */
  readonly kinds: readonly SelectionKind[]
  /**
   * Returns the selection in this format. It never throws. If the text cannot contain a part of the selection, the text
   * says so.
   * @example
   * const { entries } = sandbox.traffic.toTrace()
   * const scenario = copyFormats.find(({ name }) => name === 'scenario')
   * scenario?.render({ entries, message: message.id }, {})
   */
  render(selection: CopySelection, context: CopyContext): string
}

const stories = ['message', 'range', 'request', 'published', 'attempt', 'dead-letter', 'command']

const everything = ['message', 'range', ...Object.keys(entryTypes)]

function testForm(runner: TestRunner, label: string): CopyFormat {
  return { name: runner, label, kinds: stories, render: (selection, context) => testOf(runner, selection, context) }
}

/** All formats, for the inspector, MCP tools and programs. */
export const copyFormats: readonly CopyFormat[] = [
  {
    name: 'curl',
    label: 'curl command',
    kinds: ['request', 'published', 'attempt', 'outbound', 'command'],
    render: curlOf,
  },
  { name: 'sdk', label: 'SDK call', kinds: ['request', 'published', 'command'], render: sdkOf },
  testForm('vitest', 'test for Vitest'),
  testForm('jest', 'test for Jest'),
  testForm('playwright', 'test for Playwright'),
  { name: 'scenario', label: 'scenario file', kinds: stories, render: scenarioOf },
  { name: 'mermaid', label: 'Mermaid diagram', kinds: everything, render: mermaidCopy },
  { name: 'prompt', label: 'prompt for an agent', kinds: everything, render: promptOf },
]

export function copyFormatsFor(selection: CopySelection): readonly CopyFormat[] {
  const kind = kindOf(selection)
  return copyFormats.filter(({ kinds }) => kinds.includes(kind))
}
