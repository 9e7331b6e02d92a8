import { type HeaderList, headerOf } from '../kernel/http.js'
import type { Message } from '../queue/message/message.js'
import { type HeaderValue, joined, type RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import type { HeaderLists } from './workflow-run.js'

/** What a publish says to the workflow engine. [workflow.md 2, 5, 6, 9] */
export interface RunRequests {
  /** Begins a run. */
  readonly init: boolean
  readonly runId: string | undefined
  readonly url: string | undefined
  /** `toCallback`: a call of a third party, on behalf of a step. */
  readonly callType: string | undefined
  readonly features: ReadonlySet<string>
  /** Begins a run for a step of another. */
  readonly invoke: boolean
  /** The SDK begins the run that the queue has announced to it. */
  readonly bySdk: boolean
  /** When the run was created, as requests of newer SDKs tell it: another one of the same id is not meant. [workflow.md 12] */
  readonly createdAt: string | undefined
}

/** What the workflow SDK can do, as its messages tell. [workflow.md 2.1] */
export type Feature = 'LazyFetch' | 'InitialBody' | 'WF_DetectTrigger' | 'WF_TriggerOnConfig'

/** The features of a run whose trigger names none, because it is no SDK's. */
export const allFeatures: ReadonlySet<string> = new Set<Feature>([
  'LazyFetch',
  'InitialBody',
  'WF_DetectTrigger',
  'WF_TriggerOnConfig',
])

/** `undefined` where a publish has nothing to do with workflows. */
export function runSettingsOf(raw: RawSettings): RunRequests | undefined {
  const init = isTrue(joined(raw.get('workflow-init')))
  const runId = joined(raw.get('workflow-runid'))?.trim()
  if (!init && runId === undefined) return undefined
  return {
    init,
    runId: runId === '' ? undefined : runId,
    url: joined(raw.get('workflow-url')),
    callType: joined(raw.get('workflow-calltype'))?.trim(),
    features: featuresOf(joined(raw.get('feature-set')) ?? ''),
    invoke: isTrue(joined(raw.get('workflow-invoke'))),
    bySdk: isTrue(joined(raw.get('workflow-trigger-by-sdk'))),
    createdAt: joined(raw.get('workflow-createdat')),
  }
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && /^\s*true\s*$/i.test(text)
}

/** Runs share the few sets that there are. */
const featureSets = new Map<string, ReadonlySet<string>>()

function featuresOf(text: string): ReadonlySet<string> {
  let features = featureSets.get(text)
  if (features === undefined) {
    features = new Set(text.split(',').map((name) => name.trim()))
    if (featureSets.size < 100) featureSets.set(text, features)
  }
  return features
}

/** The forwarded headers that tell the SDK on the other side something; all others of the service's own are dropped. */
const keptOwn = ['label', 'workflow-sdk-version', 'workflow-invoke-count', 'workflow-unknown-sdk']

/** Beside those of one connection, which are never passed on. */
const transport = new Set(['accept-encoding'])

/**
 * The settings of a trigger without the forwarded headers that would disturb later deliveries: a trigger by a direct
 * POST forwards all that it received, transport headers and a stale message id among them. [workflow.md 0, 3.3]
 */
export function cleanTrigger(raw: RawSettings, words: QueueDialect): Map<string, HeaderValue> {
  const clean = new Map<string, HeaderValue>()
  for (const [name, value] of raw) {
    if (name.startsWith('forward-')) {
      const header = name.slice('forward-'.length).toLowerCase()
      if (transport.has(header)) continue
      const own = words.ownName(header)
      if (own !== undefined && !keptOwn.includes(own)) continue
    }
    clean.set(name, value)
  }
  return clean
}

/** `forward-<prefix>workflow-invoke-count` and its like, in each of the words. */
export function forwardNames(header: string, words: QueueDialect): readonly string[] {
  return words.headers(header).map((name) => `forward-${name.toLowerCase()}`)
}

/** What a publish tells the SDK on the other side by such a header. @param before prefix of the settings of a callback */
export function forwardedIn(raw: RawSettings, header: string, words: QueueDialect, before = ''): string | undefined {
  for (const name of forwardNames(header, words)) {
    const value = raw.get(before + name)
    if (value !== undefined) return joined(value)
  }
  return undefined
}

/** The spellings of the headers that runs add to deliveries. */
export interface RunDialect {
  readonly runId: string
  readonly url: string
  readonly init: string
  readonly createdAt: string
  readonly callType: string
  readonly label: string
  readonly unknownSdk: string
  readonly stepConfig: string
  /** Lower case, as answers are asked for them. */
  readonly sdkVersion: string
  readonly sdk: string
  readonly errorStepName: string
  readonly failureNotFound: string
  /** What tells the SDK that its failure function is called. */
  readonly failure: readonly string[]
  /** What tells it the configuration in force. [workflow.md 12] */
  readonly echo: Readonly<
    Record<'maxRetries' | 'retries' | 'retryDelay' | 'flowControlKey' | 'flowControlValue', string>
  >
}

const spelled = new WeakMap<QueueDialect, readonly RunDialect[]>()

/** The spellings in each of the words in which a message is delivered. */
export function headerNamesIn(words: QueueDialect): readonly RunDialect[] {
  let spellings = spelled.get(words)
  if (spellings === undefined) {
    spellings = words.tongues.map(({ prefix }) => spelledBehind(prefix))
    spelled.set(words, spellings)
  }
  return spellings
}

/** A header of an answer, which comes in one of the words of the message that it answers. */
export function respondedIn(
  headers: HeaderList,
  { settings }: Pick<Message, 'settings'>,
  name: (words: RunDialect) => string,
): string | undefined {
  for (const words of headerNamesIn(settings.words)) {
    const value = headerOf(headers, name(words))
    if (value !== undefined) return joined(value)
  }
  return undefined
}

function spelledBehind(prefix: string): RunDialect {
  const own = (name: string): string => prefix + name
  const lower = (name: string): string => own(name).toLowerCase()
  return {
    runId: own('Workflow-RunId'),
    url: own('Workflow-Url'),
    init: own('Workflow-Init'),
    createdAt: own('Workflow-CreatedAt'),
    callType: own('Workflow-CallType'),
    label: own('Label'),
    stepConfig: own('Workflow-Step-Config'),
    unknownSdk: own('Workflow-Unknown-Sdk'),
    sdkVersion: lower('Workflow-Sdk-Version'),
    sdk: lower('Workflow-Sdk'),
    errorStepName: lower('Error-Step-Name'),
    failureNotFound: lower('Workflow-Failure-Callback-Notfound'),
    failure: ['Workflow-Is-Failure', 'Workflow-Failure-Callback'].map((name) => own(name)),
    echo: {
      maxRetries: own('Max-Retries'),
      retries: own('Retries'),
      retryDelay: own('Retry-Delay'),
      flowControlKey: own('Flow-Control-Key'),
      flowControlValue: own('Flow-Control-Value'),
    },
  }
}

/** Headers without one, in each of its spellings. */
export function without(headers: HeaderList, names: readonly string[]): HeaderList {
  const lower = names.map((name) => name.toLowerCase())
  return headers.filter(([key]) => !lower.includes(key.toLowerCase()))
}

/** Headers of a JSON body as settings: `Service-Forward-X: [a]` → `forward-x: a`. */
export function rawOf(headers: HeaderLists, words: QueueDialect): Map<string, string> {
  const raw = new Map<string, string>()
  for (const [name, values] of Object.entries(headers)) {
    const own = words.ownName(name.toLowerCase())
    if (own !== undefined) raw.set(own, values.join(', '))
  }
  return raw
}
