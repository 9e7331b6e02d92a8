import type { CampaignOptions, IndexResult, IndexSpace, IndexTask } from './index-space.js'

// What a campaign has its function called for. The check that the function calls finds it here, and does that part of its
// work instead of all of it.

/** Shared by all copies of the package in a process: a file may import one entry as a module and another as CommonJS. */
const slot: unique symbol = Symbol.for('stuntdouble.campaign under way')
const place = globalThis as { [slot]?: PartOfCampaign | undefined }

export function campaignUnderWay(): PartOfCampaign | undefined {
  return place[slot]
}

/** Ends the function of a campaign when its check has done its part. */
class PartDone extends Error {
  override readonly name = 'PartDone'
  override readonly message = 'This part of the campaign is done: nothing of its function runs after the check.'
}

/** One thing that is asked of a campaign. */
export class PartOfCampaign {
  readonly given: CampaignOptions
  readonly #task: IndexTask
  #check: string | undefined
  #answer: IndexResult | undefined

  constructor(given: CampaignOptions, task: IndexTask) {
    this.given = given
    this.#task = task
  }

  /** @throws always: the function of a campaign goes no further than its check */
  async explore(space: IndexSpace): Promise<never> {
    if (this.#check !== undefined)
      throw new TypeError(
        `defineCampaign(): the function calls ${this.#check}() and ${space.check}(). A campaign is around one check: write a file for each.`,
      )
    this.#check = space.check
    this.#answer = await answerOf(space, this.#task)
    throw new PartDone()
  }

  /** Calls the function of a campaign. @returns what its check has answered, or what it returned without one */
  async during(work: () => unknown): Promise<{ readonly answer: IndexResult } | { readonly result: unknown }> {
    if (place[slot] !== undefined) throw new Error('A campaign does one thing at a time.')
    place[slot] = this
    try {
      const result = await work()
      return this.#answer === undefined ? { result } : { answer: this.#answer }
    } catch (error) {
      if (!(error instanceof PartDone) || this.#answer === undefined) throw error
      return { answer: this.#answer }
    } finally {
      place[slot] = undefined
    }
  }
}

export async function answerOf(space: IndexSpace, task: IndexTask): Promise<IndexResult> {
  switch (task.do) {
    case 'count':
      return { check: space.check, size: await space.count() }
    case 'attempt':
      return { tried: await space.attempt(task.from, task.to, task.ended) }
    case 'tell':
      return { story: await space.report(task.run) }
  }
}
