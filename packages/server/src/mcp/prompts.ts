import { fenceData, partsOf } from './fenced-response.js'
import type { McpTarget } from './mcp-target.js'
import { called, tools } from './tools.js'

/** A question that a person picks from a menu. */
export interface PromptRow {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly args: Readonly<Record<string, string>>
  /** What is asked, above the story so far. */
  text(given: Readonly<Record<string, string | undefined>>, world: Pick<McpTarget, 'isTrace'>): readonly string[]
}

/** Bytes of what a person pastes. */
const maxPasted = 3_000

function pasted(what: string, given: string | undefined): readonly string[] {
  return given === undefined ? [] : [what, ...fenceData(partsOf(given, maxPasted)[0]!)]
}

export const prompts: readonly PromptRow[] = [
  {
    name: 'why_did_this_fail',
    title: 'Why did this test fail?',
    description: 'Finds the cause of a failure in the captured traffic.',
    args: { failure: 'what the test runner printed', message: 'id of the message that it is about' },
    text: ({ failure, message }, { isTrace }) => [
      'A test of an app fails. The app runs against stuntdouble, which has captured what happened. Find the cause.',
      ...pasted('The runner printed:', failure),
      ...pasted('It is about the message with this id:', message),
      isTrace
        ? '1. Read the timeline below. 2. Look with list_entries at headers, bodies and answers of what is odd.'
        : '1. Read the timeline below. 2. Call explain_message for a message that is not where it should be, list_diagnostics for what was accepted and does nothing, list_store_diagnostics for commands that the service may refuse, list_unused_faults for faults that were never injected. 3. Look with list_entries at headers, bodies and answers.',
      'Say what happened in the order in which it happened, with the numbers (#12) of the entries that prove it; then which line of thought in the app or in the test is wrong, and how to change it. Change nothing in the world.',
    ],
  },
  {
    name: 'reproduce_as_test',
    title: 'Reproduce this as a test',
    description: 'Writes a test or a scenario that shows the same failure.',
    args: { runner: 'vitest, jest, playwright, or scenario', what: 'what goes wrong' },
    text: ({ runner, what }) => [
      'Write the smallest test that shows what went wrong in this world of stuntdouble, with its clock, its faults and its matchers.',
      ...pasted('The test is for:', runner),
      ...pasted('What goes wrong:', what),
      'Take the deliveries, faults and moves of time from the timeline below; look with list_entries at bodies and answers that matter. The app under test answers its urls with its own code: leave it in. Never write a token or key into the test. Where there is play_scenario, write it as a scenario first, and check with find_failing_seed that it fails before you write the test.',
    ],
  },
  {
    name: 'what_happens_next',
    title: 'What happens next?',
    description: 'Foretells what the world will do, without moving it.',
    args: {},
    text: (_, { isTrace }) => [
      isTrace
        ? 'Say what would happen next in this saved world, from the waits in the timeline below and their reasons.'
        : 'Say what happens next in this world, and when: call list_timers, then explain_message or forecast_message for what waits and list_fire_times for schedules. Move nothing: no advance_clock, step_clock or drain_clock.',
      'Give a list by virtual time, each with its reason, and say what is uncertain and why.',
    ],
  },
]

/** A prompt with the story so far. */
export async function promptText(
  prompt: PromptRow,
  world: McpTarget,
  given: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  return [...prompt.text(given, world), '', 'The story so far:', await storyOf(world)].join('\n')
}

/** The latest of the timeline, as the tool tells it. */
export async function storyOf(world: McpTarget): Promise<string> {
  const { text } = await called(tools.find(({ name }) => name === 'get_timeline')!, world, { limit: 30 })
  return text
}
