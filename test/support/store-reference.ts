import { readOnlyMayRun } from '../../src/store/access/access-control.js'
import type { Command } from '../../src/store/command/command.js'
import { blockingTable, commandTable } from '../../src/store/commands/index.js'

/** A row of docs/protocol/commands.json: public facts about a command. */
export interface DocumentedCommand {
  /** Upper case; a subcommand follows after a space. */
  readonly name: string
  /**
   * `documented`: the service has a page for it. `later`: so it has, but the double does not build it. `redis`:
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
  const waiting = section('Waiting, on connections only', blockingTable.commands)
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
  return `## Of connections, on the native protocol only

\`AUTH [user] password\` comes before all of them.

| Command and arguments | Status |
|---|---|
${rows.join('\n').replaceAll(/(?<=`[^`\n]*)\|(?=[^`\n]*`)/g, '\\|')}
`
}

function introduction(commands: readonly Command[]): string {
  const documented = commands.filter(({ status }) => status === 'documented')
  return `# Commands

<!-- Generated from the command table and docs/protocol/commands.json: \`npm run docs\`. Do not edit. -->

The data store has ${documented.length} commands that the service documents, subcommands counted singly, and ${commands.length - documented.length} of
redis-server 7.0 for which the service has no page. Each of the latter leaves a sentence in \`store.diagnostics\`;
\`policy.commands: 'documented'\` refuses them with \`Command is not available\`. *Status* tells which is which, and
[one row for each](../protocol/commands.json) where that is known from. *Read-only* tells whether the read-only token
may run a command; *since* is the version of redis-server that brought it, or \`service\` where only the service has it.
What waits has a section of its own: it is there for connections, and not over REST. The last section has
[what is not there](#not-there).

Two guards are this package's and no facts of the service: all replies to one request have \`policy.maxResponseSize\` bytes
(104,857,600), and one request costs \`policy.maxWork\` units of work (4,000,000) at most; beyond either, \`ERR max answer
size exceeded\` or \`ERR max work exceeded\`. Over REST the work includes the reading of the body and the encoding of the
answer: by default some 60 MB of either, or 60,000 short commands of a pipeline.
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
  later: 'documented later than the rest, and not built',
  redis: 'only redis-server has it; [why](../limits.md#data-store)',
} as const

/** Returns known commands that are missing in the table under every policy. */
function absent(known: readonly DocumentedCommand[], bound: readonly BoundCommand[]): string {
  const there = [...commandTable.commands, ...blockingTable.commands, ...bound, { name: 'AUTH' }]
  const built = new Set(there.map(({ name }) => name))
  const rows = Object.entries(statuses).flatMap(([status, shown]) => {
    const missing = known.filter((one) => one.status === status && !built.has(one.name))
    return [false, true].flatMap((isNative) => {
      const names = missing.filter(({ door }) => (door === 'native') === isNative).map(({ name }) => `\`${name}\``)
      return names.length === 0 ? [] : [`| ${shown}${isNative ? '; native protocol' : ''} | ${names.join(', ')} |`]
    })
  })
  return `## Not there

Of what belongs to a connection, REST has \`/multi-exec\`, and streams for \`MONITOR\`, \`SUBSCRIBE\` and \`PSUBSCRIBE\`.

| Status | Commands |
|---|---|
${rows.join('\n')}
`
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
