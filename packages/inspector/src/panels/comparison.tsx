import type { JSX } from 'preact'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'
import { shownKey } from '../models/key-tree.js'
import { databaseNames } from '../models/shown-databases.js'
import { idOf, type KeyDifference, keyDifference } from '../models/store-model.js'
import type { Control, PageFacts } from '../source.js'
import type { PageView } from '../view.js'
import { useControlQuery } from './control-query.js'
import { modelsOf } from './models-of.js'
import { Failure, Instant, Most, Name } from './parts.js'
import { storeControl } from './run-command.js'
import { Sides } from './store-difference.js'

/** A key, and the added database that contains it. */
type KeyOfDatabase = DumpedKey & { readonly database?: string }

interface WorldSummary {
  readonly now: number
  readonly keys: readonly KeyOfDatabase[]
  /** Number of unfinished messages, by URL. */
  readonly messages: Readonly<Record<string, number>>
  readonly deadLetters: number
}

interface ComparisonProps {
  readonly view: PageView
  readonly control: Control
  /** Name of the tenant with which the sandbox is compared. */
  readonly other: string
}

/** Shows two sandboxes next to each other: the time, the messages, and the keys that differ. */
export function Comparison({ view, control, other }: ComparisonProps): JSX.Element {
  const theirs = control.of(other).control!
  const asked = useControlQuery<readonly [WorldSummary, WorldSummary]>(
    () => Promise.all([summaryOf(control), summaryOf(theirs)]),
    [control, other, view.entries.value.length, modelsOf(view).store.value.model.size],
  )
  const [one, two] = asked.value ?? []
  if (one === undefined || two === undefined) return <Failure of={asked} />
  const urls = [...new Set([...Object.keys(one.messages), ...Object.keys(two.messages)])].sort()
  const differences = differencesOf(one.keys, two.keys)
  return (
    <section aria-label={`Comparison of ${control.tenant} and ${other}`}>
      <h2>
        <Name of={control.tenant} /> and <Name of={other} />
      </h2>
      <table class="pn-rows">
        <thead>
          <tr>
            <th scope="col">what</th>
            <th scope="col">
              <Name of={control.tenant} />
            </th>
            <th scope="col">
              <Name of={other} />
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">time</th>
            <td>
              <Instant at={one.now} />
            </td>
            <td>
              <Instant at={two.now} />
            </td>
          </tr>
          <Row name="keys" one={one.keys.length} two={two.keys.length} />
          {urls.slice(0, 50).map((url) => (
            <Row key={url} name={`messages to ${url}`} one={one.messages[url] ?? 0} two={two.messages[url] ?? 0} />
          ))}
          <Row name="dead letters" one={one.deadLetters} two={two.deadLetters} />
        </tbody>
      </table>
      <p>
        {differences.length === 0
          ? 'Both stores are equal.'
          : `${differences.length} ${differences.length === 1 ? 'key differs' : 'keys differ'}, ${control.tenant} first:`}
      </p>
      <Most items={differences} of="keys" most={100}>
        {(shown) => (
          <ul class="pn-diff">
            {shown.map((difference) => (
              <li key={placeOf((difference.before ?? difference.after)!)}>
                <Name of={shownKey(difference.key)} /> <DatabaseName of={(difference.before ?? difference.after)!} />
                <small>
                  {difference.after === undefined && `only in ${control.tenant}`}
                  {difference.before === undefined && `only in ${other}`}
                </small>
                <Sides {...difference} />
              </li>
            ))}
          </ul>
        )}
      </Most>
    </section>
  )
}

function Row({ name, one, two }: { readonly name: string; readonly one: number; readonly two: number }): JSX.Element {
  return (
    <tr class={one === two ? '' : 'pn-differs'}>
      <th scope="row">
        <Name of={name} />
      </th>
      <td>{one}</td>
      <td>{two}</td>
    </tr>
  )
}

async function summaryOf(control: Control): Promise<WorldSummary> {
  const { addresses } = (await control.ask('GET', '/inspector')) as PageFacts
  const databases = [undefined, ...databaseNames(addresses)]
  const [clock, stores, messages, letters] = await Promise.all([
    control.ask('GET', '/clock') as Promise<{ milliseconds: number }>,
    Promise.all(databases.map((database) => keysOf(control, database))),
    control.ask('GET', '/queue/messages?limit=10000') as Promise<readonly { url: string }[]>,
    control.ask('GET', '/queue/dead-letters?limit=10000') as Promise<readonly unknown[]>,
  ])
  const counts = new Map<string, number>()
  for (const { url } of messages) counts.set(url, (counts.get(url) ?? 0) + 1)
  return {
    now: clock.milliseconds,
    keys: stores.flat(),
    // An assignment to a property such as `__proto__` would not add a key.
    messages: Object.fromEntries(counts),
    deadLetters: letters.length,
  }
}

async function keysOf(control: Control, database: string | undefined): Promise<readonly KeyOfDatabase[]> {
  const dump = await storeControl(control, database).ask('GET', '/store/dump')
  const { keys } = dump as { readonly keys: readonly DumpedKey[] }
  return database === undefined ? keys : keys.map((key) => ({ ...key, database }))
}

/** Returns a text that identifies a key and its database in a `Map`. */
function placeOf({ key, database = '' }: KeyOfDatabase): string {
  return `${database}/${idOf(key)}`
}

function DatabaseName({ of: { database } }: { readonly of: KeyOfDatabase }): JSX.Element | null {
  return database === undefined ? null : <small>in database {database} </small>
}

function differencesOf(before: readonly KeyOfDatabase[], after: readonly KeyOfDatabase[]): readonly KeyDifference[] {
  const [old, fresh] = [before, after].map((keys) => new Map(keys.map((key) => [placeOf(key), key] as const)))
  const ids = new Set([...old!.keys(), ...fresh!.keys()])
  return [...ids].flatMap((id) => keyDifference(old!.get(id), fresh!.get(id)))
}
