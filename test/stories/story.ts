import { expect, test } from 'vitest'
import { type PlayResult, playScenario, type Scenario } from '../../packages/explore/src/scenarios.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'

/** The code under test: registers its handlers, and may publish through the sandbox. */
type Code = (sandbox: Sandbox) => void | Promise<void>

export interface Story {
  readonly scenario: Scenario
  /** The code with the defect. */
  readonly broken: Code
  /** The same code without the defect. */
  readonly fixed: Code
  /** Patterns that the verdict about the broken code matches. */
  readonly breaks: RegExp | readonly RegExp[]
}

/**
 * Tests a published failure as a scenario: the code with the defect does not hold, the fixed code does. Both get the
 * same faults.
 */
export function story({ scenario, broken, fixed, breaks }: Story): void {
  test(`${scenario.name}: fails with the defect`, async () => {
    const play = await perform(scenario, broken)
    expect(play.holds).toBe(false)
    for (const text of [breaks].flat()) expect(play.verdict()).toMatch(text)
    // No invariant of the sandbox is violated, so the failure is in the code under test.
    expect(play.sandbox.checkInvariants().violations).toEqual([])
  })

  test(`${scenario.name}: holds for the fixed code`, async () => {
    const play = await perform(scenario, fixed)
    expect(play.verdict()).toMatch(/\nHolds: /)
    expect(play.holds).toBe(true)
  })

  test(`${scenario.name}: is identical in a second run`, async () => {
    const [one, other] = [await perform(scenario, broken), await perform(scenario, broken)]
    expect(other.timeline()).toBe(one.timeline())
    expect(other.verdict()).toBe(one.verdict())
  })
}

function perform(scenario: Scenario, code: Code): Promise<PlayResult> {
  return playScenario(scenario, { setup: code })
}

/** Sends a command as an app does: through the REST API, with a request of its own. */
export async function command(sandbox: Sandbox, ...words: readonly (string | number)[]): Promise<unknown> {
  const response = await sandbox.fetch(sandbox.urls.store, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    body: JSON.stringify(words),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: string }
  if (error !== undefined) throw new Error(error)
  return result
}
