import { nearestName } from '../../../../src/kernel/nearest-name.js'
import { signatureFlaws } from '../../../../src/queue/signing/signature-lab.js'
import { checkHandler } from '../delivery/delivery-run.js'
import type { VerificationOptions, VerificationSubject } from './verification.js'
import { isElsewhere } from './verification-app.js'
import { type Question, rightSignatures } from './verification-cases.js'

const cases: readonly string[] = [...rightSignatures, 'unsigned', ...Object.keys(signatureFlaws)]

/** @throws TypeError with the next step */
export function checkOptions(subject: VerificationSubject, options: VerificationOptions): void {
  const { keys } = options
  if (!isElsewhere(subject)) checkHandler(subject, 'expectVerified()')
  for (const option of ['only', 'except'] as const) checkCases(option, options[option])
  if (keys !== undefined && (typeof keys?.current !== 'string' || typeof keys.next !== 'string'))
    throw new TypeError("expectVerified(): keys are two texts: { current: 'sig_…', next: 'sig_…' }.")
}

function checkCases(option: 'only' | 'except', given: unknown): void {
  if (given === undefined) return
  if (!Array.isArray(given) || (option === 'only' && given.length === 0))
    throw new TypeError(`expectVerified(): \`${option}\` is a list of ${cases.join(', ')}.`)
  const unknown = given.find((name) => !cases.includes(name))
  if (unknown === undefined) return
  const near = typeof unknown === 'string' ? nearestName(unknown, cases) : undefined
  throw new TypeError(
    `expectVerified(): \`${option}\` knows no ${JSON.stringify(unknown)}.${near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`} It knows ${cases.join(', ')}.`,
  )
}

/** What is asked of all that could be. */
export function asked(questions: readonly Question[], options: VerificationOptions): readonly Question[] {
  const { only, except = [] } = options
  return questions.filter(({ name }) => (only === undefined || only.includes(name)) && !except.includes(name))
}

export function addressesOf(subject: VerificationSubject, { to }: VerificationOptions): readonly string[] {
  if (to !== undefined) return [checkedAddress(to)]
  if (isElsewhere(subject)) return [checkedAddress(String(subject))]
  return typeof subject === 'function' ? ['https://app.test/'] : Object.keys(subject).map(checkedAddress)
}

function checkedAddress(given: string): string {
  if (!String(given).includes('*') && URL.canParse(given) && /^https?:/.test(given)) return given
  throw new TypeError(
    `expectVerified() delivers to an address, and ${JSON.stringify(given)} is none. Give one: expectVerified(handler, { to: 'https://shop.test/api/orders' }).`,
  )
}

export function bodyText(body: unknown = { id: 1 }): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
