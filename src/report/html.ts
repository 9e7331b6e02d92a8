import { toBase64, utf8 } from '../kernel/bytes.js'
import { sha256Bytes } from '../kernel/digest.js'
import { formatDuration } from '../kernel/duration.js'
import type { HeaderList } from '../kernel/http.js'
import { iso } from '../kernel/instant.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { Entry, EntryType } from '../kernel/traffic.js'
import { describeEntry, droppedText, type Wording } from './describe.js'
import { loadTrace } from './load-trace.js'
import { pageScript } from './page-script.js'
import { pageStyle } from './page-style.js'
import type { Redaction } from './redaction.js'
import { excerpt, multiLine, plainText } from './safe-text.js'
import { shortNames } from './short-names.js'
import { dateOf } from './shown-times.js'
import { depthsOf, timeline } from './timeline.js'
import { EntryWriter, type Trace } from './trace.js'
import { TrafficView } from './traffic-view.js'

export interface HtmlOptions {
  /** Heading of the report. Default: `Traffic`. */
  readonly title?: string
  /** Bytes of a body that are shown. Default 4096. */
  readonly bodies?: number
  /** More names that hold secrets; `body` hides all bodies, `headers` the values of all headers. */
  readonly redact?: readonly string[]
}

/** Entries of the timeline that readers without scripts see. */
const entriesWithoutScripts = 2000
/** Characters shown of a header's value: signatures are long and say little. */
const headerLength = 160

/** Rows in one block of data: as much as a browser reads in a few milliseconds. */
const blockSize = 100

/**
 * The traffic as one HTML page that needs nothing else: a time axis of attempts, waits and callbacks, a list to filter,
 * details of each entry. The same traffic gives the same bytes.
 * @param source a sandbox's `traffic`, a trace that was written before, or its text
 * @example writeFileSync('report.html', toHtml(sandbox.traffic))
 */
export function toHtml(source: TrafficView | Trace | string, options: HtmlOptions = {}): string {
  const view = source instanceof TrafficView ? source : loadTrace(source)
  const { entries } = view
  const redaction = view.redaction(options.redact)
  const data = new PageData(entries, redaction, options.bodies ?? 4096)
  const title = options.title ?? 'Traffic'
  const blocks: string[] = []
  for (let from = 0; from < entries.length; from += blockSize) {
    const rows = entries.slice(from, from + blockSize).map((entry) => data.row(entry))
    blocks.push(`<script type="application/json" data-rows>${embedded(rows)}</script>`)
  }
  const info = {
    size: entries.length,
    digits: String(entries.at(-1)?.seq ?? 0).length,
    oneDay: entries.length === 0 || dateOf(entries[0]!.at) === dateOf(data.latest),
    lanes: data.laneNames,
  }
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(pageScript)}'`,
    // The page places its rows by style properties, which no policy forbids.
    `style-src '${hashOf(pageStyle)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
${pageHead(title, view, data)}
${axisSection}
${mainSection(entries)}
<noscript><pre>${escaped(timeline(entries, { bodies: 80, limit: entriesWithoutScripts }, redaction))}</pre></noscript>
<script type="application/json" id="info">${embedded(info)}</script>
${blocks.join('\n')}
<script>${pageScript}</script>
</body>
</html>
`
}

function pageHead(title: string, view: TrafficView, data: PageData): string {
  const { entries, context } = view
  const first = entries[0]
  const facts = [`${entries.length} entries`]
  if (first !== undefined) {
    facts.push(`${iso(first.at)} to ${iso(data.latest)} (${formatDuration(data.latest - first.at)} of virtual time)`)
  }
  if (context.seed !== undefined) facts.push(`seed ${context.seed}`)
  const gone = first?.type === 'dropped' ? `<p class="notice" role="note">${escaped(droppedText(first))}</p>` : ''
  return `<a class="skip" href="#list">Skip to the entries</a>
<header><h1>${escaped(plainText(title))}</h1><p>${facts.map((fact) => escaped(plainText(fact))).join(' · ')}</p>${gone}</header>`
}

const axisSection = `<section class="axis" aria-labelledby="axis-title">
<div class="tools"><h2 id="axis-title">Time axis</h2>
<button type="button" id="zoom-in">Zoom in</button><button type="button" id="zoom-out">Zoom out</button>
<button type="button" id="earlier">Earlier</button><button type="button" id="later">Later</button><button type="button" id="fit">Everything</button>
<label>Scale <select id="scale"><option value="steps">one step for each instant</option><option value="time">true to time</option></select></label>
<output id="span" aria-live="polite"></output></div>
<div id="lanes" role="region" aria-label="Attempts, waits and callbacks over time" tabindex="0"><canvas id="axis" role="img" aria-label="A lane for each message. The list of entries below tells the same in words."></canvas><div id="lanes-space"></div></div>
<ul class="legend"><li>◆ published</li><li>■ attempt delivered</li><li>□ attempt failed</li><li>┄ waiting</li><li>● request or command</li><li>│ led to a callback</li><li>Ctrl + wheel zooms, dragging moves, a click chooses</li></ul>
</section>`

function mainSection(entries: readonly Entry[]): string {
  const counts = new Map<EntryType, number>()
  for (const { type } of entries) counts.set(type, (counts.get(type) ?? 0) + 1)
  const boxes = [...counts].map(([type, count]) => {
    const name = escaped(plainText(type))
    return `<label><input type="checkbox" name="type" value="${name}" checked> ${name} (${count})</label>`
  })
  return `<main>
<section class="entries" aria-labelledby="entries-title">
<div><h2 id="entries-title">Entries</h2>
<div class="tools"><label>Filter <input type="search" id="search" autocomplete="off" spellcheck="false"></label><button type="button" id="clear">Show all</button><output id="count" role="status"></output></div>
<fieldset><legend>Types</legend>${boxes.join('')}</fieldset></div>
<div id="list" role="listbox" tabindex="0" aria-label="Entries of the traffic"><div id="space" role="none"></div></div>
</section>
<section class="detail" id="detail" tabindex="-1" aria-labelledby="detail-title"><h2 id="detail-title">Details</h2><div id="detail-body"><p>Choose an entry: with the arrow keys in the list, or by a click.</p></div></section>
</main>`
}

interface Row {
  readonly seq: number
  readonly type: string
  readonly at: number
  readonly depth: number
  readonly head: string
  readonly details: readonly string[]
  readonly look: string
  readonly lanes: readonly number[]
  readonly end?: number
  /** Until when something waits after its end. */
  readonly until?: number
  readonly cause?: number
  /** Lane of the message whose attempt led to this callback. */
  readonly from?: number
  readonly effects: readonly number[]
  readonly entry: unknown
}

/** Everything the page knows, row by row. */
class PageData {
  readonly laneNames: string[] = ['requests', 'commands', 'time and settings']
  latest = 0
  readonly #lanes = new Map<string, number>()
  readonly #effects = new Map<number, number[]>()
  readonly #depths: ReadonlyMap<number, number>
  readonly #told = new Map<string, string>()
  readonly #wording: Wording
  readonly #writer: EntryWriter
  /** `seq` of a hold by flow control → when it ended. */
  readonly #heldUntil = new Map<number, number>()

  constructor(entries: readonly Entry[], redaction: Redaction, bodies: number) {
    this.#wording = { bodies: 200, name: shortNames(entries), redaction }
    this.#writer = new EntryWriter(redaction, bodies)
    this.#depths = depthsOf(entries)
    const held = new Map<string, number>()
    for (const entry of entries) {
      const end = endOf(entry)
      this.latest = Math.max(this.latest, entry.at, end ?? 0)
      if (entry.cause !== undefined) append(this.#effects, entry.cause, entry.seq)
      if (!('messageId' in entry)) continue
      if (!this.#lanes.has(entry.messageId)) {
        this.#lanes.set(entry.messageId, this.laneNames.length)
        const kind = 'kind' in entry && entry.kind !== 'message' ? `${entry.kind.replace('-', ' ')} ` : ''
        const { url } = entry as { url?: string }
        const to = url === undefined ? '' : ` ${redaction.url(url).replace(/^[a-z]+:\/\//i, '')}`
        this.laneNames.push(plainText(`${kind}${this.#wording.name(entry.messageId)}${to}`).slice(0, 60))
      }
      if (entry.type !== 'flow-control') continue
      if (entry.decision === 'held') held.set(entry.messageId, entry.seq)
      else if (held.has(entry.messageId)) this.#heldUntil.set(held.get(entry.messageId)!, entry.at)
    }
  }

  row(entry: Entry): Row {
    const { seq, type, at, cause } = entry
    const messageId = 'messageId' in entry ? entry.messageId : undefined
    const told = messageId === undefined ? undefined : this.#told.get(messageId)
    const { head, details } = describeEntry(entry, this.#wording, told)
    if (entry.type === 'attempt' && entry.outcome?.next) this.#told.set(entry.messageId, entry.outcome.next.reason)
    const end = endOf(entry)
    const until = this.#waitOf(entry)
    const lane = messageId === undefined ? otherLane(type) : this.#lanes.get(messageId)!
    const source =
      entry.type === 'published' && entry.sourceMessageId !== undefined
        ? this.#lanes.get(entry.sourceMessageId)
        : undefined
    const { type: _, seq: __, at: ___, cause: ____, ...fields } = this.#writer.entry(entry)
    return {
      seq,
      type: plainText(type),
      at,
      depth: Math.min(8, this.#depths.get(seq) ?? 0),
      head,
      details,
      look: lookOf(entry),
      lanes: [lane],
      ...(end !== undefined && { end }),
      ...(until !== undefined && { until }),
      ...(cause !== undefined && cause > 0 && { cause }),
      ...(source !== undefined && { from: source }),
      effects: (this.#effects.get(seq) ?? []).slice(0, 20),
      entry: shownFields(fields, ''),
    }
  }

  #waitOf(entry: Entry): number | undefined {
    if (entry.type === 'attempt') return entry.outcome?.next?.at
    if (entry.type === 'published' && !entry.deduplicated && entry.notBefore > entry.at) return entry.notBefore
    return this.#heldUntil.get(entry.seq)
  }
}

function append(map: Map<number, number[]>, key: number, value: number): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

function otherLane(type: string): number {
  return type === 'request' || type === 'call' ? 0 : type === 'command' || type === 'keyspace' ? 1 : 2
}

function endOf(entry: Entry): number | undefined {
  if (entry.type === 'request' || entry.type === 'call') return entry.answer?.at
  if (entry.type === 'attempt') return entry.outcome?.at
  return entry.type === 'clock' ? entry.to : undefined
}

function lookOf(entry: Entry): string {
  switch (entry.type) {
    case 'request':
    case 'call':
      return entry.answer === undefined || entry.answer.status === 0 || entry.answer.status >= 400 ? 'bad' : 'ok'
    case 'command':
      return entry.error === undefined ? 'store' : 'bad'
    case 'keyspace':
      return 'store'
    case 'attempt':
      if (entry.outcome !== undefined && entry.outcome.state !== 'DELIVERED') return 'bad'
      return entry.kind === 'message' ? 'ok' : 'call'
    case 'published':
      return entry.kind === 'message' ? 'ok' : 'call'
    case 'dead-letter':
    case 'fault':
    case 'dropped':
      return 'bad'
    case 'message':
    case 'flow-control':
      return 'wait'
    default:
      return 'move'
  }
}

/** Fields with every text made safe to look at; JSON in bodies is laid out. */
function shownFields(value: unknown, name: string): unknown {
  if (typeof value === 'string') return name === 'body' || name === 'cut' ? laidOut(value) : multiLine(value)
  if (name === 'headers' && Array.isArray(value) && value.every(Array.isArray))
    return shownHeaders(value as unknown as HeaderList)
  if (Array.isArray(value)) return value.map((item) => shownFields(item, ''))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([field, item]) => [plainText(field), shownFields(item, field)]))
}

function shownHeaders(headers: HeaderList): unknown {
  return headers.map(([name, value]) => [plainText(name), excerpt(value, headerLength)])
}

function laidOut(body: string): string {
  // Written again, long numbers would lose digits.
  if (!/^\s*[[{]/.test(body) || /\d{16}/.test(body)) return multiLine(body)
  const value = parsedJson(body)
  return multiLine(value === undefined ? body : JSON.stringify(value, null, 2))
}

/** JSON that no HTML parser mistakes for markup. */
function embedded(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A text escaped for use between tags or in quotes. */
export function escaped(plain: string): string {
  return plain.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

function hashOf(content: string): string {
  return `sha256-${toBase64(sha256Bytes(utf8(content)))}`
}
