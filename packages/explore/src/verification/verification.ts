import { inEnvironment } from '../delivery/delivery-run.js'
import { ask, type VerificationAnswer, type VerificationRequest, verificationSandboxOf } from './verification-app.js'
import { questionsFor } from './verification-cases.js'
import {
  type AppUnderTest,
  asked,
  bodyText,
  checkOptions,
  destinationsOf,
  type VerificationOptions,
} from './verification-options.js'
import { notVerified } from './verification-report.js'

/**
 * Fails unless an app rejects every delivery that is signed wrongly, and accepts every one that is signed correctly.
 * Correct deliveries have the current and the next key, and JSON in several formattings. Wrong ones have each of
 * `signatureFlaws`, or no signature. Each delivery has its own sandbox. A 2xx response accepts; any other response or a
 * thrown error rejects, unless the app has done its work nevertheless. [queue.md 9]
 * @throws Error `NotVerified`, which lists the wrongly accepted deliveries and the probable defects of the app
 * @example await assertVerifiesSignatures(verifyingRoute, { to: 'https://shop.test/orders' })
 */
export async function assertVerifiesSignatures(
  subject: AppUnderTest,
  options: VerificationOptions = {},
): Promise<void> {
  checkOptions(subject, options)
  for (const to of destinationsOf(subject, options)) await verify(subject, { ...options, to })
}

async function verify(subject: AppUnderTest, options: VerificationRequest): Promise<void> {
  const questions = questionsFor(bodyText(options.body))
  const world = verificationSandboxOf(subject, options)
  const simple = questions[0]!.deliveries[0]!
  const answers: VerificationAnswer[] = []
  const right = await inEnvironment(world, async () => {
    // The effects of an accepted delivery are the work that a rejected one must not do.
    const accepted = await ask(world, simple, options)
    for (const question of asked(questions, options))
      for (const delivery of question.deliveries) answers.push({ question, ...(await ask(world, delivery, options)) })
    return accepted
  })
  const failed = notVerified(answers, right, { ...options, words: right.accepted ? undefined : await otherWords() })
  if (failed !== undefined) throw failed

  /**
   * Returns `auto` if the app would have accepted the delivery in the dialect `auto`, which has the spellings of all
   * dialects.
   */
  async function otherWords(): Promise<string | undefined> {
    if (right.sandbox.dialect.both !== undefined) return undefined
    const other = { ...world, sandbox: { ...world.sandbox, dialect: 'auto' } } as const
    return (await inEnvironment(other, () => ask(other, simple, options))).accepted ? 'auto' : undefined
  }
}
