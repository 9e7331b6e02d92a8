import { type HeaderList, headerOf } from '../kernel/http.js'
import type { Message } from '../queue/message/message.js'
import { type HeaderValue, joined, type RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import type { HeaderLists } from './workflow-run.js'

/** The workflow settings in a publish. [workflow.md 2, 5, 6, 9] */
export interface RunRequests {
  /** Whether the publish begins a run. */
  readonly init: boolean
  readonly runId: string | undefined
  readonly url: string | undefined
  /** Type of the publish. `toCallback`: a step calls a third party. */
  readonly callType: string | undefined
  readonly features: ReadonlySet<string>
  /** Whether a step of another run invokes the run that the publish begins. */
  readonly invoke: boolean
  /** Whether an SDK sends the publish to begin a run that was announced to it. */
  readonly bySdk: boolean
  /** Creation time of the run. Newer SDKs send it, because several runs may have the same ID. [workflow.md 3.6] */
  readonly createdAt: string | undefined
}

/** Features of the workflow SDK. The SDK lists them in its messages. [workflow.md 2.1] */
export type Feature = 'LazyFetch' | 'InitialBody' | 'WF_DetectTrigger' | 'WF_TriggerOnConfig' | 'WF_StepConfig'

/** Features of a run whose trigger lists none. No SDK sent this trigger. */
export const allFeatures: ReadonlySet<string> = new Set<Feature>([
  'LazyFetch',
  'InitialBody',
  'WF_DetectTrigger',
  'WF_TriggerOnConfig',
])

/** Returns the workflow settings of a publish, or `undefined` if the publish does not belong to a workflow. */
export function runSettingsOf(raw: RawSettings): RunRequests | undefined {
  const init = isTrue(joined(raw.get('workflow-init')))
  const runId = joined(raw.get('workflow-runid'))?.trim()
  if (!init && runId === undefined) return undefined
  return {
    init,
    runId: runId === '' ? undefined : runId,
    url: joined(raw.get('workflow-url')),
    callType: joined(raw.get('workflow-calltype'))?.trim(),
    features: featuresIn(raw),
    invoke: isTrue(joined(raw.get('workflow-invoke'))),
    bySdk: isTrue(joined(raw.get('workflow-trigger-by-sdk'))),
    createdAt: joined(raw.get('workflow-createdat')),
  }
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && /^\s*true\s*$/i.test(text)
}

/** Cache of parsed feature sets by their text. In practice there are only a few different texts. */
const featureSets = new Map<string, ReadonlySet<string>>()

/** Returns the features that a publish lists. */
export function featuresIn(raw: RawSettings): ReadonlySet<string> {
  const text = joined(raw.get('feature-set')) ?? ''
  let features = featureSets.get(text)
  if (features === undefined) {
    features = new Set(text.split(',').map((name) => name.trim()))
    if (featureSets.size < 100) featureSets.set(text, features)
  }
  return features
}

/**
 * Service headers that are forwarded to the endpoint, because its SDK needs them. All other service headers are
 * removed.
 */
const keptOwn = ['label', 'workflow-sdk-version', 'workflow-invoke-count', 'workflow-unknown-sdk']

/** Headers that are not forwarded. Headers of a connection are not forwarded, either. */
const transport = new Set(['accept-encoding'])

/**
 * Returns the settings of a trigger without forwarded headers that would be wrong in later deliveries. An endpoint that
 * was called by a direct POST forwards all headers of that request, including transport headers and the ID of an old
 * message. [workflow.md 0, 3.3]
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

/**
 * Returns the names of the setting that forwards a service header, in each spelling of the dialect:
 * `forward-<prefix>workflow-invoke-count`.
 */
export function forwardNames(header: string, words: QueueDialect): readonly string[] {
  return words.headers(header).map((name) => `forward-${name.toLowerCase()}`)
}

/**
 * Returns the value of a service header that a publish forwards to the SDK.
 * @param before prefix of the setting's name, such as `callback-` for the settings of a callback. Default: none
 */
export function forwardedIn(raw: RawSettings, header: string, words: QueueDialect, before = ''): string | undefined {
  for (const name of forwardNames(header, words)) {
    const value = raw.get(before + name)
    if (value !== undefined) return joined(value)
  }
  return undefined
}

/** Names of the headers that a run adds to its deliveries, in one spelling of a dialect. */
export interface RunDialect {
  readonly runId: string
  readonly url: string
  readonly init: string
  readonly createdAt: string
  readonly callType: string
  readonly label: string
  readonly unknownSdk: string
  readonly stepConfig: string
  /** Name of the header in lower case, because it is looked up in responses. */
  readonly sdkVersion: string
  readonly sdk: string
  readonly errorStepName: string
  readonly failureNotFound: string
  /** Names of the headers that show the SDK that its failure function is called. */
  readonly failure: readonly string[]
}

const spelled = new WeakMap<QueueDialect, readonly RunDialect[]>()

/** Returns the names of the headers for every spelling in which a message is delivered. */
export function headerNamesIn(words: QueueDialect): readonly RunDialect[] {
  let spellings = spelled.get(words)
  if (spellings === undefined) {
    spellings = words.tongues.map(({ prefix }) => spelledBehind(prefix))
    spelled.set(words, spellings)
  }
  return spellings
}

/**
 * Returns the value of a header in a response. The response may use any spelling in which the message was delivered.
 */
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
  }
}

/** Returns all headers except those with the given names, compared without regard to case. */
export function without(headers: HeaderList, names: readonly string[]): HeaderList {
  const lower = names.map((name) => name.toLowerCase())
  return headers.filter(([key]) => !lower.includes(key.toLowerCase()))
}

/** Converts the headers in a JSON body to settings. For example, `Service-Forward-X: [a]` becomes `forward-x: a`. */
export function rawOf(headers: HeaderLists, words: QueueDialect): Map<string, string> {
  const raw = new Map<string, string>()
  for (const [name, values] of Object.entries(headers)) {
    const own = words.ownName(name.toLowerCase())
    if (own !== undefined) raw.set(own, values.join(', '))
  }
  return raw
}
