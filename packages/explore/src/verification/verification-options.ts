import { checkFixture } from '../../../../fixtures/fixture-sandbox.js'
import type { ReceiverKeys } from '../../../../matchers/signatures.js'
import { checkOptionNames, nearestName } from '../../../../src/kernel/nearest-name.js'
import { signatureFlaws } from '../../../../src/queue/signing/signature-lab.js'
import type { EffectOptions } from '../delivery/delivery-effects.js'
import { checkHandler, type DeliveryHandler, type DeliveryUnderTest } from '../delivery/delivery-run.js'

import { type Question, rightSignatures, type VerificationCase } from './verification-cases.js'

export function isElsewhere(app: AppUnderTest): app is string | URL {
  return typeof app === 'string' || app instanceof URL
}

/** Options of `assertVerifiesSignatures()`. */
export interface VerificationOptions extends Omit<DeliveryUnderTest, 'handler' | 'publish'>, EffectOptions {
  /** Destination of the deliveries. Default: the URL that is passed instead of a handler, or `https://app.test/`. */
  readonly to?: string
  /** Body that the app can handle: a text, or a value that is sent as JSON. Default `{"id":1}`. */
  readonly body?: unknown
  /** Headers of the deliveries, in addition to `content-type: application/json`. */
  readonly headers?: Readonly<Record<string, string>>
  /** HTTP method. Default `POST`. */
  readonly method?: string
  /**
   * Signing keys that the app knows. Default: the keys of the sandbox, which are in the environment during the check.
   */
  readonly keys?: ReceiverKeys
  /**
   * Deliveries that the check leaves out, such as `url` for a wrapper of the vendor's SDK. The app may accept or reject
   * them.
   */
  readonly except?: readonly VerificationCase[]
  /** Tries only these deliveries. */
  readonly only?: readonly VerificationCase[]
  /** Hosts that deliveries may reach if the app is passed as a URL. This machine is always allowed. */
  readonly hosts?: readonly string[]
}

/** The app that receives the deliveries: a handler, handlers by URL, or the URL of a running app. */
export type AppUnderTest = DeliveryHandler | Readonly<Record<string, DeliveryHandler>> | string | URL

const cases: readonly string[] = [...rightSignatures, 'unsigned', ...Object.keys(signatureFlaws)]

/** Checks the arguments of `assertVerifiesSignatures()`. @throws TypeError if the app or an option is invalid */
export function checkOptions(subject: AppUnderTest, options: VerificationOptions): void {
  checkOptionNames('assertVerifiesSignatures()', options, {
    to: true,
    body: true,
    headers: true,
    method: true,
    keys: true,
    except: true,
    only: true,
    hosts: true,
    outbound: true,
    sandbox: true,
    drain: true,
    ignoreKeys: true,
    ignoreOutbound: true,
  })
  checkFixture(options.sandbox)
  const { keys } = options
  if (typeof keys === 'object')
    checkOptionNames('keys of assertVerifiesSignatures()', keys, { current: true, next: true, former: true })
  if (!isElsewhere(subject)) checkHandler(subject, 'assertVerifiesSignatures()')
  for (const option of ['only', 'except'] as const) checkCases(option, options[option])
  if (keys !== undefined && (typeof keys?.current !== 'string' || typeof keys.next !== 'string'))
    throw new TypeError(
      "assertVerifiesSignatures(): keys must be two texts. Write { current: 'sig_…', next: 'sig_…' }.",
    )
}

function checkCases(option: 'only' | 'except', given: unknown): void {
  if (given === undefined) return
  if (!Array.isArray(given) || (option === 'only' && given.length === 0))
    throw new TypeError(`assertVerifiesSignatures(): \`${option}\` must be a list of ${cases.join(', ')}.`)
  const unknown = given.find((name) => !cases.includes(name))
  if (unknown === undefined) return
  const near = typeof unknown === 'string' ? nearestName(unknown, cases) : undefined
  throw new TypeError(
    `assertVerifiesSignatures(): \`${option}\` has an unknown name ${JSON.stringify(unknown)}.${near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`} Use ${cases.join(', ')}.`,
  )
}

/** Returns the deliveries that `only` and `except` select. */
export function asked(questions: readonly Question[], options: VerificationOptions): readonly Question[] {
  const { only, except = [] } = options
  return questions.filter(({ name }) => (only === undefined || only.includes(name)) && !except.includes(name))
}

export function destinationsOf(subject: AppUnderTest, { to }: VerificationOptions): readonly string[] {
  if (to !== undefined) return [checkedAddress(to)]
  if (isElsewhere(subject)) return [checkedAddress(String(subject))]
  return typeof subject === 'function' ? ['https://app.test/'] : Object.keys(subject).map(checkedAddress)
}

function checkedAddress(given: string): string {
  if (!String(given).includes('*') && URL.canParse(given) && /^https?:/.test(given)) return given
  throw new TypeError(
    `assertVerifiesSignatures(): the destination must be a URL (got ${JSON.stringify(given)}). Write assertVerifiesSignatures(handler, { to: 'https://shop.test/api/orders' }).`,
  )
}

export function bodyText(body: unknown = { id: 1 }): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
