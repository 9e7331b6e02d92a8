import { type Bytes, latin1, utf8 } from '../../../src/kernel/bytes.js'
import { milliseconds } from '../../../src/kernel/duration.js'
import { stepOf } from '../../../src/scenarios/scenario-steps.js'
import type { ScenarioStep } from '../../../src/scenarios/step-values.js'
import type { Scenario } from '../../../src/scenarios/written-scenario.js'
import { commandTable } from '../../../src/store/commands/index.js'
import { argvOfPath } from '../../../src/store/rest/request.js'
import { refusalOf } from './allowed-requests.js'
import type { Case, DriftRequest, LeftOut, Side } from './case.js'
import { commandAsk } from './command-cases.js'
import { observed, shownWords } from './observe.js'

// Converts a user's scenario to a case. The case contains the commands and store requests of the scenario. Its keys get
// the prefix of this run.

/** Maximum duration of an `advance` step, in milliseconds of host time. */
const maxWait = 10_000

/**
 * What a step does on a side: a function that returns a request or a wait. If the step cannot be compared, a text with
 * the reason.
 */
type Doing =
  | ((side: Side) => { readonly ask: DriftRequest; readonly argv?: readonly Bytes[] } | { readonly wait: number })
  | string

/** Returns a case with the steps that can run on a real service. `leftOut` lists the other parts of the scenario. */
export function scenarioCase(scenario: Scenario): { readonly case: Case; readonly leftOut: readonly LeftOut[] } {
  const leftOut: LeftOut[] = []
  const steps = [
    ...(scenario.given?.commands ?? []).map((command): ScenarioStep => ({ command })),
    ...(scenario.steps ?? []),
  ]
  const doings = steps.flatMap((step, index) => {
    const [kind] = stepOf(step)
    const doing = doingOf(step)
    if (typeof doing !== 'string') return [{ doing, kind }]
    leftOut.push({ name: `${scenario.name}, step ${index + 1} (${kind})`, because: doing })
    return []
  })
  for (const part of ['faults', 'destinations', 'outbound', 'expect'] as const)
    if (scenario[part] !== undefined)
      leftOut.push({ name: `${scenario.name}, ${part}`, because: 'only the double supports it' })
  return {
    leftOut,
    case: {
      name: `scenario: ${scenario.name}`,
      needs: ['store'],
      requests: doings.length,
      async run(side, see) {
        for (const { doing } of doings) {
          const done = doing(side)
          if ('wait' in done) {
            await side.wait(done.wait)
            continue
          }
          const { ask, argv } = done
          const asked = (argv === undefined ? `${ask.method} ${ask.path}` : shownWords(argv)).replaceAll(
            side.prefix,
            '@',
          )
          see(observed(ask, await side.ask(ask), { asked, ...(argv !== undefined && { argv }) }))
        }
      },
    },
  }
}

function doingOf(step: ScenarioStep): Doing {
  const addedDatabase = 'only the first database is compared'
  if ('command' in step) {
    return 'argv' in step.command ? addedDatabase : commandDoing(step.command.map((word) => utf8(String(word))))
  }
  if ('advance' in step) {
    const wait = milliseconds(step.advance)
    return wait <= maxWait
      ? () => ({ wait })
      : `a real service cannot skip time, and a step may wait at most ${maxWait / 1000} seconds (got ${wait / 1000})`
  }
  if (!('request' in step)) return 'only commands and requests of the store are compared'
  const { service, database, method, path, body, headers, token = 'standard' } = step.request
  if (database !== undefined) return addedDatabase
  if (service !== 'store') return 'only requests of the store are compared'
  if (path.includes('?')) return 'a request with a query is not compared: write its arguments into the path'
  const more = { token, ...(headers && { headers }) }
  if (path === '/' && Array.isArray(body))
    return commandDoing(
      body.map((word) => utf8(String(word))),
      more,
    )
  if (path === '/pipeline' || path === '/multi-exec') return rowsDoing(path, body, more)
  if (body !== undefined && typeof body !== 'string')
    return 'a request with arguments in its path and a JSON body is not compared'
  const words = argvOfPath(path, '', utf8(''))
  return (
    refused([...words, ...(body === undefined ? [] : [utf8(body)])]) ??
    ((side) => ({
      ask: {
        ...{ service: 'store', method: method ?? (body === undefined ? 'GET' : 'POST'), ...more },
        path: `/${withPrefix(words, side.prefix).map(encoded).join('/')}`,
        ...(body !== undefined && { body: utf8(body) }),
      },
    }))
  )
}

function commandDoing(words: readonly Bytes[], more: Partial<DriftRequest> = {}): Doing {
  return (
    refused(words) ??
    ((side) => {
      const argv = withPrefix(words, side.prefix)
      const ask = commandAsk(argv)
      return { ask: { ...ask, ...more, headers: { ...ask.headers, ...more.headers } }, argv }
    })
  )
}

function rowsDoing(path: string, body: unknown, more: Partial<DriftRequest>): Doing {
  if (!Array.isArray(body) || !body.every(Array.isArray)) return 'the body is not a list of commands'
  const rows = body.map((row: readonly unknown[]) => row.map((word) => utf8(String(word))))
  const reason = rows.map(refused).find((found) => found !== undefined)
  if (reason !== undefined) return reason
  return (side) => {
    const texts = rows.map((row) =>
      withPrefix(row, side.prefix).map((word) => Buffer.from(word, 'latin1').toString('utf8')),
    )
    return { ask: { ...{ service: 'store', method: 'POST', path }, ...more, body: utf8(JSON.stringify(texts)) } }
  }
}

/**
 * Returns the reason why a command must not be sent, although its keys get the prefix. Returns `undefined` if it may be
 * sent.
 */
function refused(words: readonly Bytes[]): string | undefined {
  const [name = ''] = words.map((word) => word.toUpperCase())
  if (/^(?:EVAL|EVALSHA|FCALL)(?:_RO)?$|^(?:SCRIPT|FUNCTION)$/.test(name))
    return 'the keys that a script uses cannot be determined in advance'
  const prefix = 'sd_drift_a_'
  return refusalOf(withPrefix(words, prefix), utf8(prefix))
}

/**
 * Adds the prefix to every key and channel of a command, and to the pattern of KEYS.
 * @returns the changed command
 */
export function withPrefix(words: readonly Bytes[], prefix: string): Bytes[] {
  const command = commandTable.find(words)
  if (command === undefined) return [...words]
  if (command.name === 'KEYS') return words.map((word, at) => (at === 1 ? latin1(prefix + word) : word))
  const mark = latin1('\0drift\0')
  return words.map((word, at) => {
    // Replace one argument with a marker. If the command then has the marker as a key or channel, the argument is a
    // name.
    const { keys, channels } = command.namesIn(words.map((each, place) => (place === at ? mark : each)))
    const isName = at > 0 && (keys.some(({ name }) => name === mark) || channels.includes(mark))
    return isName ? latin1(prefix + word) : word
  })
}

function encoded(word: Bytes): string {
  return [...word]
    .map((char) => (/[\w.~-]/.test(char) ? char : `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`))
    .join('')
}
