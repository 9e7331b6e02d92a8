import { expect, test } from 'vitest'
import { type PlayResult, playScenario, type Scenario } from '../../packages/explore/src/scenarios.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'

/** The code under test: registers its handlers, and may publish through the sandbox. */
type Code = (sandbox: Sandbox) => void | Promise<void>

export interface Story {
  readonly scenario: Scenario
  /** The code as it was written. */
  readonly broken: Code
  /** The same code without the defect. */
  readonly fixed: Code
  /** What the verdict about the broken code says. */
  readonly breaks: RegExp | readonly RegExp[]
}

/**
 * A failure that was published somewhere, as a scenario: the code as it was written does not hold, its fixed
 * counterpart does. Both meet the same faults.
 */
export function story({ scenario, broken, fixed, breaks }: Story): void {
  test(`${scenario.name}: as it was written`, async () => {
    const play = await perform(scenario, broken)
    expect(play.holds).toBe(false)
    for (const text of [breaks].flat()) expect(play.verdict()).toMatch(text)
    // The engine kept its promises: it is the code that is at fault.
    expect(play.sandbox.checkInvariants().violations).toEqual([])
  })

  test(`${scenario.name}: fixed`, async () => {
    const play = await perform(scenario, fixed)
    expect(play.verdict()).toMatch(/\nHolds: /)
    expect(play.holds).toBe(true)
  })

  test(`${scenario.name}: the same bytes each time`, async () => {
    const [one, other] = [await perform(scenario, broken), await perform(scenario, broken)]
    expect(other.timeline()).toBe(one.timeline())
    expect(other.verdict()).toBe(one.verdict())
  })
}

function perform(scenario: Scenario, code: Code): Promise<PlayResult> {
  return playScenario(scenario, { setup: code })
}

/** A command as an application sends it: through the REST API, counted as its own. */
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
