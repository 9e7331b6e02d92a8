import { loadTrace } from './load-trace.js'
import { inspectorPage } from './page/document.js'
import { plainText } from './safe-text.js'
import { timeline } from './timeline.js'
import type { Trace } from './trace.js'
import { TrafficView } from './traffic-view.js'

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
export function toHtml(source: TrafficView | Trace | string, options: HtmlOptions = {}): string {
  const view = source instanceof TrafficView ? source : loadTrace(source)
  const { title = 'Traffic', bodies = 4096, redact = [], failure } = options
  const redaction = view.redaction(redact)
  return inspectorPage({
    trace: view.toTrace({ bodies, redact }),
    title: plainText(title),
    story: timeline(view.entries, { bodies: 80, limit: entriesWithoutScripts }, redaction),
    ...(failure !== undefined && { failure: { ...failure, message: redaction.text(failure.message) } }),
  }).html
}
