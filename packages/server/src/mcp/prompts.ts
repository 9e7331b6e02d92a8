import { fenceData, partsOf } from './fenced-response.js'
import type { McpTarget } from './mcp-target.js'
import { called, tools } from './tools.js'

/** A prompt that a user selects from a menu. */
export interface PromptRow {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly args: Readonly<Record<string, string>>
  /** Returns the lines of the prompt above the timeline. */
  text(given: Readonly<Record<string, string | undefined>>, world: Pick<McpTarget, 'isTrace'>): readonly string[]
}

/** Maximum bytes of the text of one argument. */
const maxPasted = 3_000

function pasted(what: string, given: string | undefined): readonly string[] {
  return given === undefined ? [] : [what, ...fenceData(partsOf(given, maxPasted)[0]!)]
}

export const prompts: readonly PromptRow[] = [
  {
    name: 'why_did_this_fail',
    title: 'Why did this test fail?',
    description: 'Finds the cause of a failure in the captured traffic.',
    args: { failure: 'output of the test runner', message: 'ID of the message in question' },
    text: ({ failure, message }, { isTrace }) => [
      'A test of an app fails. The app runs against stuntdouble, which captured all traffic. Find the cause.',
      ...pasted('The runner printed:', failure),
      ...pasted('The failure is about the message with this ID:', message),
      isTrace
        ? '1. Read the timeline below. 2. Use list_entries to check headers, bodies and responses of unusual entries.'
        : '1. Read the timeline below. 2. Call explain_message for a message in an unexpected state, list_diagnostics for accepted requests without effect, list_store_diagnostics for commands that the service may reject, and list_unused_faults for faults that were never injected. 3. Use list_entries to check headers, bodies and responses.',
      'Describe what happened in order, with the numbers (#12) of the entries that prove it. Then name the wrong assumption in the app or in the test, and how to fix it. Change nothing in the sandbox.',
    ],
  },
  {
    name: 'reproduce_as_test',
    title: 'Reproduce this as a test',
    description: 'Writes a test or a scenario that shows the same failure.',
    args: { runner: 'vitest, jest, playwright, or scenario', what: 'description of the failure' },
    text: ({ runner, what }) => [
      'Write the smallest test that reproduces the failure in this stuntdouble sandbox, with its clock, its faults and its matchers.',
      ...pasted('The test is for:', runner),
      ...pasted('The failure:', what),
      'Take the deliveries, faults and clock moves from the timeline below; use list_entries to read relevant bodies and responses. The app under test handles its URLs with its own code, so do not replace it. Never write a token or key into the test. If play_scenario is available, write a scenario first, and check with find_failing_seed that it fails before you write the test.',
    ],
  },
  {
    name: 'what_happens_next',
    title: 'What happens next?',
    description: 'Predicts what the sandbox will do, without changing it.',
    args: {},
    text: (_, { isTrace }) => [
      isTrace
        ? 'Predict what would happen next in this saved trace, from the waits in the timeline below and their reasons.'
        : 'Predict what happens next in this sandbox, and when: call list_timers, then explain_message or forecast_message for waiting messages and list_fire_times for schedules. Do not move time: no advance_clock, step_clock or drain_clock.',
      'Return a list by virtual time with the reason of each item, and name what is uncertain and why.',
    ],
  },
]

/** Returns a prompt with the timeline. */
export async function promptText(
  prompt: PromptRow,
  world: McpTarget,
  given: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  return [...prompt.text(given, world), '', 'The timeline so far:', await storyOf(world)].join('\n')
}

/** Returns the latest entries of the timeline, formatted as by the tool `get_timeline`. */
export async function storyOf(world: McpTarget): Promise<string> {
  const { text } = await called(tools.find(({ name }) => name === 'get_timeline')!, world, { limit: 30 })
  return text
}
