import type { PublishHeaders } from '../queue/publish/publish.js'
import { defaultSettings } from '../queue/publish/publish.js'
import type { PublishCall, Publisher } from '../queue/publisher.js'
import type { QueueEngine } from '../queue/queue-engine.js'
import type { HeaderValue, PublishSettings, RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import { refusals } from '../queue/settings/queue-rejections.js'
import { cleanTrigger, rawOf, without } from './workflow-protocol.js'
import type { HeaderLists, RunConfiguration, WorkflowRunState } from './workflow-run.js'

/** Maximum number of cached settings for each set of defaults. It is also the maximum number of cached URLs. */
const sharedAtMost = 256

/**
 * Reads the settings of a run's messages and adds the defaults of the run. Runs of the same workflow differ only in
 * their IDs. So equal settings are cached, and ten thousand runs share a few objects.
 */
export class RunSettings {
  readonly #queue: QueueEngine
  /** Settings that apply if neither a message nor its run sets any, by dialect. */
  readonly #silent = new Map<QueueDialect, PublishSettings>()
  readonly #read = new WeakMap<PublishSettings, Map<string, PublishSettings>>()
  readonly #triggers = new WeakMap<PublishSettings, PublishSettings>()
  readonly #configurations = new WeakMap<
    PublishSettings,
    readonly [stands: RunConfiguration, applies: RunConfiguration]
  >()
  readonly #urls = new Map<string, string>()
  readonly #bases = new WeakMap<RunConfiguration, readonly [plain: PublishSettings, ownFlow: PublishSettings]>()

  constructor(queue: QueueEngine) {
    this.#queue = queue
  }

  #silentIn(words: QueueDialect): PublishSettings {
    const settings = this.#silent.get(words) ?? defaultSettings(this.#queue.policy, words)
    this.#silent.set(words, settings)
    return settings
  }

  get #publisher(): Publisher {
    return this.#queue.publisher
  }

  /** Returns the same string object for equal URLs. Otherwise, the URL of each request would use its own memory. */
  url(given: string): string {
    const known = this.#urls.get(given)
    if (known !== undefined) return known
    if (this.#urls.size >= sharedAtMost) this.#urls.clear()
    this.#urls.set(given, given)
    return given
  }

  /**
   * Reads the settings of a message or a trigger of a run.
   * @param base settings that are used unless the message sets its own
   * @throws Refusal when a setting is invalid
   */
  read(
    raw: RawSettings,
    words: QueueDialect,
    headers: PublishHeaders = {},
    base: PublishSettings = this.#silentIn(words),
  ): PublishSettings {
    const own = withoutRun(raw)
    if (own.has('header-forward')) return this.#publisher.settings(own, words, headers, base)
    let key = `${words.name}\n${headers.contentType ?? ''}`
    // A value may contain any character, so no separator is safe. The lengths make the key unique.
    for (const [name, value] of own) key += `\n${name.length} ${value.length} ${name}${value}`
    const shared = this.#read.get(base) ?? new Map<string, PublishSettings>()
    this.#read.set(base, shared)
    const known = shared.get(key)
    if (known !== undefined) return known
    const settings = this.#publisher.settings(own, words, headers, base)
    if (shared.size >= sharedAtMost) shared.clear()
    shared.set(key, settings)
    return settings
  }

  /** Reads the settings of a trigger. @throws Refusal when a setting is invalid */
  ofTrigger({ headers, queue, words }: PublishCall, raw: RawSettings): PublishSettings {
    const read = this.read(cleanTrigger(raw, words), words, headers)
    // Labels are later sent in a header, and a header cannot contain line breaks.
    if (read.labels?.some((label) => /[\0\r\n]/.test(label)))
      throw refusals.invalid(words.header('Label'), 'it has a line break')
    if (queue !== undefined) return finished(read, queue)
    const settings = this.#triggers.get(read) ?? finished(read, undefined)
    this.#triggers.set(read, settings)
    return settings
  }

  /** Returns the settings of a trigger that apply to all later messages of its run. */
  configuration(settings: PublishSettings, features: ReadonlySet<string>): RunConfiguration {
    let both = this.#configurations.get(settings)
    if (both === undefined) {
      const headers = without(settings.headers, settings.words.headers('Workflow-Unknown-Sdk'))
      const kept = { ...settings, headers, queue: undefined }
      both = [
        { settings: kept, applies: false },
        { settings: kept, applies: true },
      ]
      this.#configurations.set(settings, both)
    }
    return both[features.has('WF_TriggerOnConfig') ? 1 : 0]
  }

  /** Returns the default settings for a message of a run. [workflow.md 4] */
  base(configuration: RunConfiguration, raw: RawSettings): PublishSettings {
    const { settings, applies } = configuration
    if (!applies) return this.#silentIn(settings.words)
    let both = this.#bases.get(configuration)
    if (both === undefined) {
      const { words, retries, retryDelay, flowControl, labels, redact, failureCallback } = settings
      // The content type is omitted, because each step has its own. The SDK version is omitted, because with it the
      // callback of a call would look like a delivery of steps.
      const headers = without(settings.headers, ['Content-Type', ...words.headers('Workflow-Sdk-Version')])
      const ownFlow = { ...this.#silentIn(words), retries, retryDelay, headers, labels, redact, failureCallback }
      both = [{ ...ownFlow, flowControl }, ownFlow]
      this.#bases.set(configuration, both)
    }
    return both[raw.has('flow-control-key') ? 1 : 0]
  }

  /**
   * Reads settings from headers that an earlier request stored. The names of the headers determine their dialect. If
   * they do not, the dialect of the run is used.
   * @throws Refusal when a setting is invalid
   */
  ofHeaders(run: WorkflowRunState, headers: HeaderLists): PublishSettings {
    const words = this.#queue.wordsAmong(Object.keys(headers)) ?? run.configuration.settings.words
    return this.ofStep(run, rawOf(headers, words), words)
  }

  /**
   * Reads the settings of a step whose result does not come from the endpoint.
   * @throws Refusal when a setting is invalid
   */
  ofStep({ configuration }: WorkflowRunState, raw: RawSettings, words: QueueDialect): PublishSettings {
    return this.read(raw, words, { contentType: 'application/json' }, this.base(configuration, raw))
  }

  /**
   * Reads the settings of a call to a third party. Its callback is a message of the run. The redaction of the run
   * applies to the call and to the callback. [workflow.md 4, 6]
   * @throws Refusal when a setting is invalid
   */
  ofCall(configuration: RunConfiguration, raw: RawSettings, { words, headers }: PublishCall): PublishSettings {
    const settings = this.read(raw, words, headers)
    const { callback } = settings
    if (callback === undefined) return settings
    const base = this.base(configuration, raw)
    const own = new Set(callback.settings.headers.map(([name]) => name.toLowerCase()))
    const redact = settings.redact ?? base.redact
    return {
      ...settings,
      redact,
      callback: {
        url: callback.url,
        settings: {
          ...callback.settings,
          retries: raw.has('callback-retries') ? callback.settings.retries : base.retries,
          retryDelay: callback.settings.retryDelay ?? base.retryDelay,
          flowControl: callback.settings.flowControl ?? base.flowControl,
          headers: [...base.headers.filter(([name]) => !own.has(name.toLowerCase())), ...callback.settings.headers],
          labels: base.labels,
          redact: callback.settings.redact ?? redact,
          failureCallback: base.failureCallback,
        },
      },
    }
  }
}

/** Completes the settings of a trigger. A failure callback without its own redaction gets the redaction of the run. */
function finished(settings: PublishSettings, queue: string | undefined): PublishSettings {
  const { failureCallback, redact } = settings
  if (failureCallback === undefined || redact === undefined) return { ...settings, queue }
  const { url, settings: own } = failureCallback
  return { ...settings, queue, failureCallback: { url, settings: { ...own, redact: own.redact ?? redact } } }
}

/** Matches headers that identify a run or its SDK. They are not settings of a message. */
const aboutRuns = /^(?:(?:failure-)?callback-)*(?:workflow-|telemetry-|feature-set$)/

function withoutRun(raw: RawSettings): RawSettings {
  const own = new Map<string, HeaderValue>()
  for (const [name, value] of raw) if (!aboutRuns.test(name)) own.set(name, value)
  return own
}
