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
 * Fails unless an app refuses every delivery that is signed wrongly, and accepts every one that is signed correctly: with
 * the current and with the next key, however its JSON is written. Each of `signatureFlaws` is tried, and a request
 * without signature, each in a world of its own. Accepted is what is answered with 2xx; any other answer, and an error
 * that is thrown, is a refusal, unless the app has done its work nevertheless. [queue.md 9]
 * @throws Error `NotVerified`, which names what got through and what the app probably does wrong
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
    // What an accepted delivery leaves behind is the work that no refused one may do.
    const accepted = await ask(world, simple, options)
    for (const question of asked(questions, options))
      for (const delivery of question.deliveries) answers.push({ question, ...(await ask(world, delivery, options)) })
    return accepted
  })
  const failed = notVerified(answers, right, { ...options, words: right.accepted ? undefined : await otherWords() })
  if (failed !== undefined) throw failed

  /** `auto`, if the app would have accepted the delivery in that, which is in the words of all. */
  async function otherWords(): Promise<string | undefined> {
    if (right.sandbox.dialect.both !== undefined) return undefined
    const other = { ...world, sandbox: { ...world.sandbox, dialect: 'auto' } } as const
    return (await inEnvironment(other, () => ask(other, simple, options))).accepted ? 'auto' : undefined
  }
}
