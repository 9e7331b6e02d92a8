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
  'b',
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
  section(
    'one server in memory',
    `
    ROLE
    ROLE x
    SWAPDB 0 0
    SWAPDB 0 99
    SWAPDB 99 0
    SWAPDB x 0
    SWAPDB 0 x
    SWAPDB 0 -1
    SWAPDB 0
    SAVE
    SAVE x
    ~shape LASTSAVE
    LASTSAVE x
    BGSAVE foo
    BGSAVE SCHEDULE x
    BGREWRITEAOF x
    CONFIG RESETSTAT
    CONFIG RESETSTAT x
    MODULE LIST
    MODULE LIST x
    MODULE
    ~shape LOLWUT
    ~shape LOLWUT VERSION 1
    ~shape LOLWUT foo
    LOLWUT VERSION x
    `,
  ),
  section(
    'nothing is slow',
    `
    SLOWLOG RESET
    SLOWLOG GET
    SLOWLOG GET 5
    SLOWLOG GET -1
    SLOWLOG GET -2
    SLOWLOG GET x
    SLOWLOG GET 1 2
    SLOWLOG LEN
    SLOWLOG LEN x
    SLOWLOG RESET x
    SLOWLOG
    LATENCY LATEST
    LATENCY LATEST x
    LATENCY HISTORY command
    LATENCY HISTORY
    LATENCY GRAPH command
    LATENCY RESET
    LATENCY RESET a b
    LATENCY HISTOGRAM nosuch
    ~shape LATENCY DOCTOR
    LATENCY DOCTOR x
    LATENCY
    `,
  ),
  section(
    'MEMORY of a server',
    `
    SET a 1
    ~shape MEMORY DOCTOR
    MEMORY DOCTOR x
    MEMORY PURGE
    MEMORY PURGE x
    MEMORY STATS x
    MEMORY MALLOC-STATS x
    MEMORY
    `,
  ),
  section(
    'COMMAND tells of commands',
    `
    COMMAND COUNT x
    COMMAND GETKEYS GET a
    COMMAND GETKEYS GET
    COMMAND GETKEYS nosuch a
    COMMAND GETKEYS PING x
    COMMAND GETKEYS GET a b
    COMMAND GETKEYS
    COMMAND GETKEYS EVAL x 2 a b c
    COMMAND GETKEYS EVAL x 0
    COMMAND GETKEYS MSET a 1 b 2
    COMMAND GETKEYS SORT a STORE b
    COMMAND GETKEYS ZUNION 2 a b
    COMMAND GETKEYS ZUNIONSTORE d 2 a b
    COMMAND GETKEYS ZUNION x a
    COMMAND GETKEYS XREAD COUNT 2 STREAMS a b 0 0
    COMMAND GETKEYS XREADGROUP GROUP g c STREAMS a >
    COMMAND GETKEYS OBJECT ENCODING k
    COMMAND GETKEYS BLPOP a b 0
    COMMAND GETKEYS BITOP AND d a b
    COMMAND GETKEYS COPY a b
    COMMAND GETKEYS lmove a b left left
    COMMAND GETKEYSANDFLAGS GET a
    COMMAND GETKEYSANDFLAGS STRLEN a
    COMMAND GETKEYSANDFLAGS SET a b GET
    COMMAND GETKEYSANDFLAGS INCR a
    COMMAND GETKEYSANDFLAGS PING x
    COMMAND INFO nosuch
    COMMAND LIST FILTERBY ACLCAT nosuch
    ~unordered COMMAND LIST FILTERBY ACLCAT hyperloglog
    ~unordered COMMAND LIST FILTERBY PATTERN xinfo*
    ~unordered COMMAND LIST FILTERBY PATTERN PF*
    COMMAND LIST FILTERBY MODULE foo
    COMMAND LIST FILTERBY FOO a
    COMMAND LIST FILTERBY PATTERN
    COMMAND LIST FILTERBY
    COMMAND LIST x
    COMMAND DOCS nosuch
    COMMAND HELP x
    `,
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
    COMMAND NOSUCH
    = -ERR Command is not available: 'COMMAND NOSUCH'. See https://docs.test/redis/overall/rediscompatibility for details
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
