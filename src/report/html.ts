import { inspectorPage } from '@stuntdouble/inspector/document'
import * as v from 'valibot'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { parsedJson } from '../kernel/parsed-json.js'
import { loadTrace } from './load-trace.js'
import { redactedChanges } from './redacted-changes.js'
import type { Redaction } from './redaction.js'
import { plainText } from './safe-text.js'
import { timeline } from './timeline.js'
import type { Trace } from './trace.js'
import { Traffic } from './traffic-view.js'

/** Options of `toHtml()`. */
export interface HtmlOptions {
  /** Heading of the page. Default: `Traffic`. */
  readonly title?: string
  /** Bytes of a body that are shown. Default 4096. */
  readonly bodies?: number
  /** More names that hold secrets; `body` hides all bodies, `headers` the values of all headers. */
  readonly redact?: readonly string[]
  /** The assertion that failed: the page opens on it. `nearest` is the `seq` of the entry that comes nearest to it. */
  readonly failure?: { readonly message: string; readonly nearest?: number }
}

/** Entries of the timeline that readers without scripts see. */
const entriesWithoutScripts = 2000

/**
 * The traffic as one HTML page that needs nothing else: the inspector with a recording in it. The same traffic gives the
 * same bytes.
 * @param source a sandbox's `traffic`, a trace that was written before, or its text
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

/** What a world's store went through, secrets hidden; nothing where only the log is there. */
export function changesOf(view: Traffic, redaction: Redaction = view.redaction()): readonly object[] {
  const { store } = view.context
  return store === undefined ? [] : redactedChanges(store, redaction)
}

/** What was left with a trace: by a failed test, by a server. */
export function recordedChanges(source: Trace | string): readonly object[] {
  const { changes } = (typeof source === 'string' ? parsedJson(source) : source) as { changes?: unknown }
  return Array.isArray(changes) && v.is(changesSchema, changes) ? changes : []
}

const bytes = v.union([v.string(), v.object({ base64: v.string() })])
const changesSchema = v.array(
  v.looseObject({ seq: v.number(), at: v.number(), key: bytes, now: v.optional(v.looseObject({ type: v.string() })) }),
)

/** Values as long as bodies may be. */
function shortened(value: unknown, most: number): unknown {
  if (typeof value === 'string') return value.length > most ? `${value.slice(0, most)}…` : value
  if (Array.isArray(value)) return value.map((item) => shortened(item, most))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shortened(field, most)]))
}
