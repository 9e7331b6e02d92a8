import { utf8 } from '../../src/kernel/bytes.js'
import { callerLine } from '../../src/kernel/caller-line.js'
import { counted } from '../../src/kernel/counted.js'
import { errorText } from '../../src/kernel/error-text.js'
import type { EntryOf } from '../../src/kernel/traffic.js'
import { urlText } from '../../src/report/describe.js'
import { excerpt, plainText } from '../../src/report/safe-text.js'
import { threw } from '../../src/report/telling.js'
import type { Evidence } from '../received.js'
import type { Chain } from './chain.js'
import { fromHere } from './place.js'
import { worldOf } from './world-facts.js'

/** What handlers threw, told once, with the place in the user's code. */
export interface Thrown {
  readonly lines: readonly string[]
  /** The same as the details of a timeline tell it. */
  readonly details: readonly string[]
}

const mostErrors = 2
const longestLine = 200
const longestDetail = 600

/** Of the deliveries that matter: each error once, however many attempts met it. */
export function thrownIn(evidence: Evidence, chain: Chain): Thrown {
  const byNote = new Map<string, EntryOf<'attempt'>[]>()
  for (const attempt of evidence.of('attempt')) {
    const note = attempt.outcome?.note
    if (note === undefined || !note.startsWith(threw) || !concerns(chain, attempt)) continue
    const before = byNote.get(note)
    if (before === undefined) byNote.set(note, [attempt])
    else before.push(attempt)
  }
  const errors = worldOf(evidence).errors.map((error) => ({ error, text: errorText(error) }))
  const hosts = errors.length === 0 ? [] : foreignHandlers(evidence, chain, errors)
  if (byNote.size === 0) return { lines: hosts, details: [] }
  const notes = [...byNote].slice(-mostErrors)
  const safe = (given: string, most: number): string => excerpt(evidence.redaction.text(given), most)
  return {
    lines: notes
      .flatMap(([note, attempts]): readonly string[] => {
        const text = note.slice(threw.length)
        const [first = ''] = withoutColours(text).split('\n')
        const same = errors.filter((one) => one.text === text)
        // An attempt whose answer was lost says that instead. A part of a log has no other attempts than its own.
        const count = evidence.role === 'traffic' ? attempts.length : Math.max(attempts.length, same.length)
        const often = count === 1 ? '' : ` in ${counted(count, 'attempt')}`
        const where = placeOf(same.at(-1)?.error)
        return [
          `The handler of ${urlText(attempts[0]!.url, evidence.redaction)} threw${often}: ${safe(first, longestLine)}`,
          // Not `at`: Jest takes all that follows such a line for a stack.
          ...(where === '' ? [] : [`  in ${where}`]),
        ]
      })
      .concat(hosts),
    details: notes.map(([note]) => safe(note, longestDetail)),
  }
}

/** Handlers of `sandbox.calls` that threw: the app saw a 500 of a host that is the test's own code. */
function foreignHandlers(
  evidence: Evidence,
  chain: Chain,
  errors: readonly { readonly error: unknown; readonly text: string }[],
): string[] {
  const calls = evidence.of('call').filter((call) => call.answer?.status === 500 && concerns(chain, call))
  const byText = new Map<string, EntryOf<'call'>[]>()
  for (const call of calls) {
    const thrown = errors.find(({ text }) => utf8(text) === call.answer?.body)
    if (thrown !== undefined) byText.set(thrown.text, [...(byText.get(thrown.text) ?? []), call])
  }
  return [...byText].slice(-mostErrors).flatMap(([text, met]) => {
    const [first = ''] = withoutColours(text).split('\n')
    const often = met.length === 1 ? '' : ` in ${counted(met.length, 'call')}`
    const where = placeOf(errors.findLast((one) => one.text === text)?.error)
    const { method, url } = met[0]!
    return [
      `The handler that stands for ${plainText(method)} ${urlText(url, evidence.redaction)} threw${often}: ${excerpt(evidence.redaction.text(first), longestLine)}`,
      ...(where === '' ? [] : [`  in ${where}`]),
    ]
  })
}

/** In the story that is told, or at the address that it is about. */
function concerns(chain: Chain, entry: EntryOf<'attempt'> | EntryOf<'call'>): boolean {
  return chain.has(entry) || chain.isAt(entry.url)
}

/** An assertion that failed inside of a handler has the colours of its runner. */
function withoutColours(text: string): string {
  return text.replace(/\x1b\[[\d;]*m/g, '')
}

function placeOf(error: unknown): string {
  return error instanceof Error ? fromHere(callerLine(error)) : ''
}
