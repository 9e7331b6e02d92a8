import { readOnlyMayRun } from '../../src/store/access/access-control.js'
import type { Command } from '../../src/store/command/command.js'
import { blockingTable, commandTable } from '../../src/store/commands/index.js'

/** A row of docs/protocol/commands.json: public facts about a command. */
export interface DocumentedCommand {
  /** Upper case; a subcommand follows after a space. */
  readonly name: string
  /**
   * `documented`: the service has a page for it. `later`: the service has a page for it, but the double does not implement it. `redis`:
   * redis-server has the command, and the service no page.
   */
  readonly status: 'documented' | 'later' | 'redis'
  /** The fact sheet and its section, or where else it is known from. */
  readonly source: string
  /** Whether it exists only on connections of the Redis protocol. */
  readonly door?: 'native'
}

const titles: Readonly<Record<string, string>> = {
  'sorted-set': 'Sorted set',
  hyperloglog: 'HyperLogLog',
  json: 'JSON',
  pubsub: 'Pub/Sub',
  acl: 'Access control',
}

/**
 * The page docs/reference/commands.md: every command of the table, by group, and what is not there.
 * @param known the rows of docs/protocol/commands.json
 * @param bound the commands of connections
 */
export function commandReference(known: readonly DocumentedCommand[], bound: readonly BoundCommand[]): string {
  const { commands } = commandTable
  const groups = new Set(commands.map(({ group }) => group))
  const sections = [...groups].map((name) =>
    section(
      titles[name] ?? capitalized(name),
      commands.filter(({ group }) => group === name),
    ),
  )
  const waiting = section('Blocking commands, on connections only', blockingTable.commands)
  return `${introduction(commands)}\n${[...sections, waiting, ofConnections(bound), absent(known, bound)].join('\n')}`
}

/** A command of Redis-protocol connections. */
export interface BoundCommand {
  readonly name: string
  readonly usage?: string
  readonly status?: 'redis'
}

function ofConnections(bound: readonly BoundCommand[]): string {
  const rows = bound
    .filter(({ name }) => commandTable.named(name) === undefined)
    .map(
      ({ name, usage, status = 'documented' }) =>
        `| \`${usage === undefined ? name : `${name} ${usage}`}\` | ${status} |`,
    )
    .sort()
  return `## Connection commands, Redis protocol only

A connection must run \`AUTH [user] password\` before any of them.

| Command and arguments | Status |
|---|---|
${rows.join('\n').replaceAll(/(?<=`[^`\n]*)\|(?=[^`\n]*`)/g, '\\|')}
`
}

function introduction(commands: readonly Command[]): string {
  const documented = commands.filter(({ status }) => status === 'documented')
  return `# Commands

<!-- Generated from the command table and docs/protocol/commands.json: \`npm run docs\`. Do not edit. -->

Look up whether the data store supports a command, and how the command differs from redis-server. The store has
${documented.length} commands that the service documents, subcommands counted singly. It also has ${commands.length - documented.length} commands of redis-server 7.0
for which the service has no page. Each of these adds a message to \`store.diagnostics\`, and
\`policy.commands: 'documented'\` rejects them with \`Command is not available\`.

| Column | Meaning |
|---|---|
| *Status* | \`documented\` by the service, or only in \`redis\`; [one row per command](../protocol/commands.json) names the source |
| *Since* | version of redis-server that introduced the command; \`service\` if only the service has it |
| *Read-only* | whether the read-only token may run the command |

Blocking commands have their own section: they exist on connections, and not over REST. The last section lists
[missing commands](#missing-commands).

Two limits belong to this package, not to the service:

| Policy | Default | Limits | Error |
|---|---|---|---|
| \`maxResponseSize\` | 104,857,600 bytes | all replies to one request | \`ERR max response size exceeded\` |
| \`maxWork\` | 4,000,000 units of work | one request | \`ERR max work exceeded\` |

Over REST, the work includes reading the body and encoding the response. The default allows about 60 MB of either, or
60,000 short commands of a pipeline.
`
}

function section(title: string, commands: readonly Command[]): string {
  const rows = commands.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(row)
  return `## ${title}

| Command and arguments | Status | Since | Read-only | Flags | Differs from redis-server |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}

function row(command: Command): string {
  const cells = [
    `\`${command.usage}\``,
    command.status,
    command.since,
    readOnlyMayRun(command) ? 'yes' : 'no',
    command.flags.join(', '),
    command.deviations,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const statuses = {
  documented: 'documented',
  later: 'documented later than the others, and not implemented',
  redis: 'only in redis-server; see [Limits](../limits.md#data-store)',
} as const

/** Returns known commands that are missing in the table under every policy. */
function absent(known: readonly DocumentedCommand[], bound: readonly BoundCommand[]): string {
  const there = [...commandTable.commands, ...blockingTable.commands, ...bound, { name: 'AUTH' }]
  const built = new Set(there.map(({ name }) => name))
  const rows = Object.entries(statuses).flatMap(([status, shown]) => {
    const missing = known.filter((one) => one.status === status && !built.has(one.name))
    return [false, true].flatMap((isNative) => {
      const names = missing.filter(({ door }) => (door === 'native') === isNative).map(({ name }) => `\`${name}\``)
      return rowsOf(names).map((row) => `| ${shown}${isNative ? '; Redis protocol' : ''} | ${row.join(', ')} |`)
    })
  })
  return `## Missing commands

The commands of this table are in no section above. REST has no connection commands. Instead, it has \`/multi-exec\`, and
streams for \`MONITOR\`, \`SUBSCRIBE\` and \`PSUBSCRIBE\`.

| Status | Commands |
|---|---|
${rows.join('\n')}
`
}

/** Splits a long list into rows that a reader can scan. */
function rowsOf(names: readonly string[]): (readonly string[])[] {
  const perRow = 20
  return names.length === 0 ? [] : [names.slice(0, perRow), ...rowsOf(names.slice(perRow))]
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
