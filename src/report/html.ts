import { inspectorPage } from '@stuntdouble/inspector/document'
import * as v from 'valibot'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { parsedJson } from '../kernel/parsed-json.js'
import { loadTrace } from './load-trace.js'
import { changesOfAll, redactedChange } from './redacted-changes.js'
import type { Redaction } from './redaction.js'
import { plainText } from './safe-text.js'
import { timeline } from './timeline.js'
import type { Trace } from './trace.js'
import { Traffic } from './traffic-view.js'

/** Options of `toHtml()`. */
export interface HtmlOptions {
  /** Heading of the page. Default: `Traffic`. */
  readonly title?: string
  /** Number of bytes of a body that are shown. Default: 4096. */
  readonly bodies?: number
  /** Additional names that contain secrets. `body` hides all bodies, `headers` the values of all headers. */
  readonly redact?: readonly string[]
  /**
   * Failed assertion, which the page shows when it opens. `nearest` is the `seq` of the entry nearest to the
   * expectation.
   */
  readonly failure?: { readonly message: string; readonly nearest?: number }
}

/** Maximum number of timeline entries in the part of the page that browsers without scripts show. */
const entriesWithoutScripts = 2000

/**
 * Returns the traffic as one self-contained HTML page: the inspector with a recording.
 * The same traffic always gives the same bytes.
 * @param source the `traffic` of a sandbox, a trace, or the text of a trace
 * @example writeFileSync('report.html', toHtml(sandbox.traffic))
 */
export function toHtml(source: Traffic | Trace | string, options: HtmlOptions = {}): string {
  const view = source instanceof Traffic ? source : loadTrace(source)
  checkOptionNames('toHtml()', options, { title: true, bodies: true, redact: true, failure: true })
  if (options.failure !== undefined)
    checkOptionNames('failure of toHtml()', options.failure, { message: true, nearest: true })
  const { title = 'Traffic', bodies = 4096, redact = [], failure } = options
  const redaction = view.redaction(redact)
  const changes = source instanceof Traffic ? changesOf(view, redaction) : recordedChanges(source)
  return inspectorPage({
    trace: view.toTrace({ bodies, redact }),
    changes: changes.map((change) => shortened(change, bodies) as object),
    title: plainText(title),
    story: timeline(view.entries, { bodies: 80, limit: entriesWithoutScripts }, redaction),
    ...(failure !== undefined && { failure: { ...failure, message: redaction.text(failure.message) } }),
  }).html
}

/**
 * Returns the changes of a sandbox's databases, with secrets hidden. Without a store, as in a loaded trace, the list is
 * empty.
 */
export function changesOf(view: Traffic, redaction: Redaction = view.redaction()): readonly object[] {
  return changesOfAll(view.context, redaction).map((change) => redactedChange(change, redaction))
}

/** Returns the store changes in a trace. A failed test or a server has added them to the trace. */
export function recordedChanges(source: Trace | string): readonly object[] {
  const { changes } = (typeof source === 'string' ? parsedJson(source) : source) as { changes?: unknown }
  return Array.isArray(changes) && v.is(changesSchema, changes) ? changes : []
}

const bytes = v.union([v.string(), v.object({ base64: v.string() })])
const changesSchema = v.array(
  v.looseObject({ seq: v.number(), at: v.number(), key: bytes, now: v.optional(v.looseObject({ type: v.string() })) }),
)

/** Returns a copy of a value in which each text has at most `most` characters. */
function shortened(value: unknown, most: number): unknown {
  if (typeof value === 'string') return value.length > most ? `${value.slice(0, most)}…` : value
  if (Array.isArray(value)) return value.map((item) => shortened(item, most))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shortened(field, most)]))
}
