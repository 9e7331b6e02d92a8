import type { Work } from '../../kernel/work.js'
import type { CommandStore } from '../command/command.js'
import type { Database, KeyspaceValue } from '../keyspace/database.js'
import { measure, sizeOfValue } from '../keyspace/measure.js'
import { JsonDocument } from '../values/json-value.js'
import { RawString } from '../values/raw-string.js'

// Content of INFO. The content depends only on the virtual clock, the store and its cost meter, so equal runs return
// equal text.

/** Version of redis that the service claims to be compatible with. [store.md 7.2] */
export const redisVersion = '8.2.0'

type Lines = readonly (readonly [name: string, value: string | number])[]

const sections: Readonly<Record<string, (store: CommandStore) => Lines>> = {
  server: ({ options }) => [
    ['redis_version', redisVersion],
    ['redis_mode', 'standalone'],
    ['arch_bits', 64],
    ['server_time_usec', options.clock.now() * 1000],
  ],
  clients: ({ connections, waiting }) => [
    // The client that sends INFO counts as one connected client.
    ['connected_clients', Math.max(1, connections)],
    ['blocked_clients', waiting.size],
  ],
  memory: ({ db }) => [['used_memory', usedMemory(db, db.work)]],
  persistence: ({ persistence }) => [
    ['rdb_last_save_time', Math.floor(persistence.savedAt / 1000)],
    ['rdb_saves', persistence.saves],
    ['aof_enabled', 0],
    ['aof_rewrites', persistence.rewrites],
  ],
  stats: ({ meter }) => {
    const spend = meter.statistics()
    return [
      ['total_commands_processed', spend.commands],
      ['total_reads_processed', spend.reads],
      ['total_writes_processed', spend.writes],
      ['total_net_input_bytes', spend.bytesIn],
      ['total_net_output_bytes', spend.bytesOut],
    ]
  },
  cluster: () => [['cluster_enabled', 0]],
  keyspace: ({ db }) => {
    const keys = db.size
    db.work.charge(keys)
    return keys === 0 ? [] : [['db0', `keys=${keys},expires=${db.expiring},avg_ttl=0`]]
  },
}

/** Returns the text of INFO. An unknown section has only its heading. */
export function infoText(wanted: readonly string[], store: CommandStore): string {
  const names = wanted.flatMap((name) => (/^(all|default|everything)$/i.test(name) ? Object.keys(sections) : [name]))
  const chosen = [...new Set((names.length > 0 ? names : Object.keys(sections)).map((name) => name.toLowerCase()))]
  return chosen.map((name) => sectionText(name, linesOf(name, store))).join('\r\n')
}

function linesOf(name: string, store: CommandStore): Lines {
  return Object.hasOwn(sections, name) ? sections[name]!(store) : []
}

function sectionText(name: string, lines: Lines): string {
  const heading = `# ${name.charAt(0).toUpperCase()}${name.slice(1)}\r\n`
  return heading + lines.map(([field, value]) => `${field}:${value}\r\n`).join('')
}

function isString(value: KeyspaceValue): boolean {
  return typeof value === 'string' || value instanceof RawString
}

/** Returns the bytes of all keys and values. Visits every element. */
export function usedMemory(db: Database, work?: Work): number {
  let bytes = 0
  db.forEach((value, key) => {
    work?.charge(2 + (isString(value) ? 0 : 2 * sizeOfValue(value)))
    if (work !== undefined && value instanceof JsonDocument) value.pay(work)
    bytes += key.length + measure(value).bytes
  })
  return bytes
}
