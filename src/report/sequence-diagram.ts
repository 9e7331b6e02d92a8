import { text } from '../kernel/bytes.js'
import { formatDuration } from '../kernel/duration.js'
import type { Entry, EntryOf } from '../kernel/traffic-log.js'
import { commandLine, droppedText, outcomeOfCommand, responseText, waitText } from './describe.js'
import type { Redaction } from './redaction.js'
import { excerpt, plainText } from './safe-text.js'
import { shortNames } from './short-names.js'

/** One step of a diagram before it is drawn. All texts are safe to print. */
export type DiagramStep =
  | { readonly kind: 'arrow'; readonly at: number; readonly from: string; readonly to: string; readonly text: string }
  | {
      readonly kind: 'answer'
      readonly at: number
      readonly from: string
      readonly to: string
      readonly text: string
      readonly lost: boolean
    }
  | { readonly kind: 'note'; readonly at: number; readonly over: string; readonly text: string }

export interface Diagram {
  /** Participants in the order of their columns: the app, the services, and the destinations in order of appearance. */
  readonly participants: readonly string[]
  readonly steps: readonly DiagramStep[]
}

/** Name of the participant that sends the requests, which is the code under test. */
const application = 'app'
/** Maximum number of destinations that have their own column. All other destinations share one column. */
const maxDestinations = 4
const otherDestinations = 'other destinations'

/** Converts entries to the steps of a diagram. A response is placed at the time at which it arrived. */
export function diagramOf(entries: readonly Entry[], redaction: Redaction): Diagram {
  const names = destinationNames(entries, redaction)
  const short = shortNames(entries)
  const commands = commandsByRequest(entries)
  const steps: (DiagramStep & { order: number })[] = []
  const add = (step: DiagramStep, order: number): void => void steps.push({ ...step, order })
  const stores = new Set(['store', ...entries.map(storeOf)])
  for (const entry of entries) {
    if (entry.type === 'request') requestSteps(entry, commands.get(entry.seq) ?? [], add, redaction)
    else if (entry.type === 'outbound') callSteps(entry, names(entry.url), add, redaction)
    else if (entry.type === 'attempt') attemptSteps(entry, names(entry.url), short, add, redaction)
    else if (entry.type === 'dead-letter') {
      add(note(entry.at, 'queue', `dead letter ${plainText(entry.dlqId)}: ${short(entry.messageId)}`), entry.seq)
    } else if (entry.type === 'message') {
      add(note(entry.at, 'queue', `${short(entry.messageId)} ${plainText(entry.state)}`), entry.seq)
    } else if (entry.type === 'fault') {
      add(
        note(
          entry.at,
          sideOf(entry),
          `fault ${plainText(entry.fault)} at ${plainText(entry.point)}${entry.effect === undefined ? '' : `: ${excerpt(redaction.text(entry.effect), 80)}`}`,
        ),
        entry.seq,
      )
    } else if (entry.type === 'setting') {
      add(
        note(
          entry.at,
          'queue',
          `${entry.resource} ${excerpt(redaction.text(entry.name), 40)} ${plainText(entry.change)}`,
        ),
        entry.seq,
      )
    } else if (entry.type === 'flow-control') {
      const what = `${entry.decision} by flow control: ${excerpt(redaction.text(entry.reason), 80)}`
      add(note(entry.at, 'queue', `${short(entry.messageId)} ${what}`), entry.seq)
    } else if (entry.type === 'dropped') {
      add(note(entry.at, application, droppedText(entry)), entry.seq)
    } else if (entry.type === 'published') publishedSteps(entry, short, add)
    else if (entry.type === 'command' && entry.via === 'direct') {
      add(note(entry.at, storeOf(entry), `by the test: ${excerpt(commandLine(entry.argv, redaction), 60)}`), entry.seq)
    } else if (entry.type === 'command' && entry.cause === undefined) connectionSteps(entry, add, redaction)
  }
  // Sort the steps, because a response comes after all entries that were logged before it.
  steps.sort((a, b) => a.order - b.order)
  return { participants: participantsOf(steps, stores), steps: steps.map(({ order, ...step }) => step) }
}

/** Adds a command that arrived over a connection. There is no request for it. */
function connectionSteps(entry: EntryOf<'command'>, add: Add, redaction: Redaction): void {
  const store = storeOf(entry)
  const told = excerpt(commandLine(entry.argv, redaction), 70)
  add({ kind: 'arrow', at: entry.at, from: application, to: store, text: told }, entry.seq)
  const said = outcomeOfCommand(entry, redaction)
  add({ kind: 'answer', at: entry.at, from: store, to: application, text: excerpt(said, 40), lost: false }, entry.seq)
}

type Add = (step: DiagramStep, order: number) => void

function requestSteps(
  entry: EntryOf<'request'>,
  commands: readonly EntryOf<'command'>[],
  add: Add,
  redaction: Redaction,
): void {
  const service = entry.service === 'store' ? storeOf(entry) : entry.service
  const { response: answer } = entry
  const single = commands.length === 1 ? commands[0] : undefined
  const what =
    single !== undefined
      ? commandLine(single.argv, redaction)
      : commands.length > 1
        ? `${commands[0]!.via} of ${commands.length}: ${commands.map(({ argv }) => plainText(redaction.words([text(argv[0]!)])[0]!)).join(' ')}`
        : `${plainText(entry.method)} ${pathOf(redaction.request(entry).url)}`
  add({ kind: 'arrow', at: entry.at, from: application, to: service, text: excerpt(what, 70) }, entry.seq)
  if (answer === undefined) return
  const said =
    single !== undefined && answer.status === 200 ? outcomeOfCommand(single, redaction) : String(answer.status)
  const broken = answer.status === 0
  add(
    {
      kind: 'answer',
      at: answer.at,
      from: service,
      to: application,
      text: broken ? 'connection broken' : excerpt(said, 40),
      lost: broken,
    },
    ending(entry),
  )
}

function callSteps(entry: EntryOf<'outbound'>, to: string, add: Add, redaction: Redaction): void {
  const what = `${plainText(entry.method)} ${pathOf(redaction.url(entry.url))}`
  add({ kind: 'arrow', at: entry.at, from: application, to, text: excerpt(what, 70) }, entry.seq)
  const { response: answer } = entry
  if (answer === undefined) return
  const said = excerpt(redaction.text(answer.note ?? responseText(answer.status, answer.error, redaction)), 100)
  add(
    { kind: 'answer', at: answer.at, from: to, to: application, text: said, lost: answer.status === 0 },
    ending(entry),
  )
}

function attemptSteps(
  entry: EntryOf<'attempt'>,
  to: string,
  short: (id: string) => string,
  add: Add,
  redaction: Redaction,
): void {
  const of = Math.max(entry.retried, entry.maxRetries) + 1
  const kind = entry.kind === 'message' ? '' : `${entry.kind.replace('-', ' ')} `
  const title = `${kind}${short(entry.messageId)} ${entry.retried + 1}/${of}`
  add({ kind: 'arrow', at: entry.at, from: 'queue', to, text: title }, entry.seq)
  const { outcome } = entry
  if (outcome === undefined) return
  const lost = outcome.status === 0
  const said = excerpt(redaction.text(outcome.note ?? responseText(outcome.status, outcome.error, redaction)), 100)
  const order = ending(entry)
  add({ kind: 'answer', at: outcome.at, from: to, to: 'queue', text: said, lost }, order)
  if (outcome.next !== undefined && outcome.next.at > outcome.at) {
    const wait = `waits ${waitText(outcome.at, outcome.next.at)}: ${excerpt(redaction.text(outcome.next.reason), 100)}`
    add(note(outcome.at, 'queue', wait), order)
  }
}

function publishedSteps(entry: EntryOf<'published'>, short: (id: string) => string, add: Add): void {
  const name = short(entry.messageId)
  if (entry.deduplicated) add(note(entry.at, 'queue', `duplicate of ${name}`), entry.seq)
  else if (entry.notBefore > entry.at) {
    add(note(entry.at, 'queue', `${name} waits ${waitText(entry.at, entry.notBefore)}: as published`), entry.seq)
  }
}

function note(at: number, over: string, text: string): DiagramStep {
  return { kind: 'note', at, over, text }
}

function sideOf(entry: EntryOf<'fault'>): string {
  const service = entry.point.split('.', 1)[0]!
  if (service === 'store' || service === 'stream') return storeOf(entry)
  if (service === 'app') return application
  return service === 'stats' ? service : 'queue'
}

/** Returns the name of the column of an entry's database. */
function storeOf({ database }: Pick<Entry, 'database'>): string {
  return database === undefined ? 'store' : `store ${plainText(database)}`
}

function commandsByRequest(entries: readonly Entry[]): ReadonlyMap<number, EntryOf<'command'>[]> {
  const commands = new Map<number, EntryOf<'command'>[]>()
  for (const entry of entries) {
    if (entry.type !== 'command' || entry.cause === undefined) continue
    const list = commands.get(entry.cause)
    if (list) list.push(entry)
    else commands.set(entry.cause, [entry])
  }
  return commands
}

/**
 * Returns a function that names the column of a URL: its host and path. The query is omitted, because it may differ
 * between deliveries.
 */
function destinationNames(entries: readonly Entry[], redaction: Redaction): (url: string) => string {
  const names = new Map<string, string>()
  for (const entry of entries) {
    if ((entry.type !== 'attempt' && entry.type !== 'outbound') || names.has(entry.url)) continue
    const shown = redaction.url(entry.url)
    // Each arrow to an external host shows the path of its request. So the name of the column contains only the host.
    const name = entry.type === 'outbound' ? hostOf(shown) : hostAndPath(shown)
    const taken = new Set(names.values())
    const known = taken.has(name)
    names.set(entry.url, known || taken.size < maxDestinations ? name : otherDestinations)
  }
  return (url) => names.get(url) ?? otherDestinations
}

function hostAndPath(url: string): string {
  const match = /^[a-z]+:\/\/(?:[^/?#@]*@)?([^/?#]*)([^?#]*)/i.exec(url)
  return excerpt(match ? match[1]! + (match[2] === '/' ? '' : match[2]!) : url, 60)
}

function hostOf(url: string): string {
  const match = /^[a-z]+:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(url)
  return excerpt(match ? match[1]! : url, 60)
}

function pathOf(url: string): string {
  return plainText(/^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] || url)
}

function participantsOf(steps: readonly DiagramStep[], stores: ReadonlySet<string>): string[] {
  const services = [...stores, 'queue', 'stats']
  const seen = new Set<string>()
  for (const step of steps) {
    if (step.kind === 'note') seen.add(step.over)
    else seen.add(step.from).add(step.to)
  }
  const destinations = [...seen].filter((name) => name !== application && !services.includes(name))
  // The shared column is always the last one, even if it appears first.
  destinations.sort((a, b) => Number(a === otherDestinations) - Number(b === otherDestinations))
  return [application, ...services].filter((name) => seen.has(name)).concat(destinations)
}

/**
 * Returns the position of a response: after all entries that were logged before it. If two requests end together, the
 * response to the later request comes first.
 */
function ending(entry: { readonly seq: number; readonly endedAfterSeq?: number }): number {
  const after = entry.endedAfterSeq ?? entry.seq
  return after + 1 - entry.seq / (after + 1)
}

/** Returns the duration between two steps, for the margin of a diagram. */
export function gapText(before: number, at: number): string {
  return at > before ? `+${formatDuration(at - before)}` : ''
}
