import { newerSection, type Section, section } from '../support/steps.js'

const eventFlags = [
  'KEA',
  'gK',
  'Kg$n',
  'KEAm',
  'AnKm',
  'q',
  '',
  'EKng',
  'dtexzhsl$g',
  'KxtE',
  'K',
  'E',
  'A',
  'AA',
  'KK',
  'ge',
  'Kmn',
  'e$',
  'a',
  'KEA ',
]

export const steps: readonly Section[] = [
  section(
    'DBSIZE FLUSHALL FLUSHDB',
    `
    DBSIZE
    MSET a 1 b 2
    DBSIZE
    DBSIZE x
    FLUSHDB
    DBSIZE
    MSET a 1 b 2
    FLUSHALL
    DBSIZE
    SET a 1
    FLUSHALL ASYNC
    SET a 1
    FLUSHALL sync
    SET a 1
    FLUSHDB async
    SET a 1
    FLUSHDB SYNC
    DBSIZE
    SET a 1
    FLUSHALL FOO
    FLUSHDB FOO
    FLUSHALL ASYNC SYNC
    FLUSHDB ASYNC ASYNC
    DBSIZE
    `,
  ),
  section(
    'TIME',
    `
    ~shape TIME
    TIME x
    `,
  ),
  section(
    'CONFIG',
    [
      ...eventFlags.flatMap((flags) => [
        `CONFIG SET notify-keyspace-events "${flags}"`,
        'CONFIG GET notify-keyspace-events',
      ]),
      'CONFIG GET NOTIFY-*-events',
      'config get notify-keyspace-event?',
      'CONFIG GET no-such-setting',
      'CONFIG GET no-such-setting notify-k* notify-k*',
      'CONFIG SET no-such-setting x',
      'CONFIG SET NOTIFY-KEYSPACE-EVENTS KA',
      'CONFIG GET notify-keyspace-events',
      'CONFIG SET notify-keyspace-events K notify-keyspace-events E',
      'CONFIG SET notify-keyspace-events',
      'CONFIG SET notify-keyspace-events K foo',
      'CONFIG SET',
      'CONFIG SET x',
      'CONFIG GET',
      'CONFIG',
    ].join('\n'),
  ),
  newerSection(
    'the only setting',
    'store.md 7.2: CONFIG, pairs are processed left to right and earlier ones stick',
    `
    CONFIG GET *
    = ["notify-keyspace-events", ""]
    CONFIG SET notify-keyspace-events KEA maxmemory 100
    = -ERR Unknown option or number of arguments for CONFIG SET - 'maxmemory'
    CONFIG GET *
    = ["notify-keyspace-events", "AKE"]
    CONFIG GET maxmemory
    = []
    CONFIG RESETSTAT
    = -ERR Command is not available: 'CONFIG RESETSTAT'. See https://docs.test/redis/overall/rediscompatibility for details
    CONFIG REWRITE
    = -ERR Command is not available: 'CONFIG REWRITE'. See https://docs.test/redis/overall/rediscompatibility for details
    `,
  ),
  newerSection(
    'COMMAND INFO',
    'store.md 7.2: COMMAND is an empty list, an unknown section of INFO has its heading only',
    String.raw`
    COMMAND
    = []
    COMMAND COUNT
    = -ERR Command is not available: 'COMMAND COUNT'. See https://docs.test/redis/overall/rediscompatibility for details
    command docs get
    = -ERR Command is not available: 'COMMAND DOCS'. See https://docs.test/redis/overall/rediscompatibility for details
    INFO cluster
    = "# Cluster\r\ncluster_enabled:0\r\n"
    INFO keyspace
    = "# Keyspace\r\n"
    MSET a 1 b 2
    = +OK
    EXPIRE a 100
    = 1
    INFO KEYSPACE
    = "# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=0\r\n"
    INFO clients cluster
    = "# Clients\r\nconnected_clients:1\r\nblocked_clients:0\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n"
    INFO nonsense
    = "# Nonsense\r\n"
    INFO constructor __proto__
    = "# Constructor\r\n\r\n# __proto__\r\n"
    TIME
    = ["1767225600", "0"]
    @advance 1234
    TIME
    = ["1767225601", "234000"]
    `,
  ),
]
