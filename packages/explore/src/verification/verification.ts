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
 * Fails unless an app accepts every correctly signed delivery and rejects every wrongly signed one. Correct deliveries
 * are signed with the current or the next key, and their JSON has several formattings. Wrong deliveries have one of
 * `signatureFlaws`, or no signature. Each delivery has its own sandbox. A 2xx response accepts a delivery. Any other
 * response, or a thrown error, rejects the delivery, unless the app did its work before that. [queue.md 9]
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
    // The effects of an accepted delivery show the work of the app. A rejected delivery must not have these effects.
    const accepted = await ask(world, simple, options)
    for (const question of asked(questions, options))
      for (const delivery of question.deliveries) answers.push({ question, ...(await ask(world, delivery, options)) })
    return accepted
  })
  const failed = notVerified(answers, right, { ...options, words: right.accepted ? undefined : await otherWords() })
  if (failed !== undefined) throw failed

  /**
   * Returns `auto` if the app accepts the correct delivery in the dialect `auto`, which contains the spellings of all
   * dialects.
   */
  async function otherWords(): Promise<string | undefined> {
    if (right.sandbox.dialect.both !== undefined) return undefined
    const other = { ...world, sandbox: { ...world.sandbox, dialect: 'auto' } } as const
    return (await inEnvironment(other, () => ask(other, simple, options))).accepted ? 'auto' : undefined
  }
}
