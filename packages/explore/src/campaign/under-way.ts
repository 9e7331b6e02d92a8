import type { CampaignOptions, IndexResult, IndexSpace, IndexTask } from './index-space.js'

// Passes the task of a campaign to a check. The campaign stores its task in this module and calls its function. The
// check in that function reads the task, and does only that part of its work.

/**
 * Shared by all copies of the package in a process: a file may import one entry as a module and another entry as
 * CommonJS.
 */
const slot: unique symbol = Symbol.for('stuntdouble.campaign under way')
const place = globalThis as { [slot]?: PartOfCampaign | undefined }

export function campaignUnderWay(): PartOfCampaign | undefined {
  return place[slot]
}

/** Thrown by a check when it has finished the campaign's task. The error ends the function that called the check. */
class PartDone extends Error {
  override readonly name = 'PartDone'
  override readonly message =
    'The check has finished the task of this campaign. Code after the check in the function of the campaign does not run.'
}

/** Task for which a campaign calls its function. */
export class PartOfCampaign {
  readonly given: CampaignOptions
  readonly #task: IndexTask
  #check: string | undefined
  #answer: IndexResult | undefined

  constructor(given: CampaignOptions, task: IndexTask) {
    this.given = given
    this.#task = task
  }

  /** Performs the task with the runs of a check. @throws PartDone always, to end the function of the campaign */
  async explore(space: IndexSpace): Promise<never> {
    if (this.#check !== undefined)
      throw new TypeError(
        `defineCampaign(): the function calls ${this.#check}() and ${space.check}(), but a campaign has one check. Write a file for each.`,
      )
    this.#check = space.check
    this.#answer = await answerOf(space, this.#task)
    throw new PartDone()
  }

  /**
   * Calls the function of a campaign.
   * @returns the result of its check, or the function's own result if it called no check
   */
  async during(work: () => unknown): Promise<{ readonly answer: IndexResult } | { readonly result: unknown }> {
    if (place[slot] !== undefined)
      throw new Error('A task of a campaign is already running. Await it before you start another one.')
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
