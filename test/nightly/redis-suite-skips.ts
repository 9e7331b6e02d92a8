// Lists what `redis-suite.ts` runs of the tests of redis-server, and what it leaves out, each with its reason.

/** Parts whose tests run. All other parts test what the service does not have, or need a server of their own. */
export const units: readonly string[] = [
  'unit/protocol',
  'unit/keyspace',
  'unit/scan',
  'unit/info',
  'unit/type/string',
  'unit/type/incr',
  'unit/type/list',
  'unit/type/list-2',
  'unit/type/list-3',
  'unit/type/set',
  'unit/type/zset',
  'unit/type/hash',
  'unit/type/stream',
  'unit/type/stream-cgroups',
  'unit/sort',
  'unit/expire',
  'unit/other',
  'unit/multi',
  'unit/quit',
  'unit/pubsub',
  'unit/scripting',
  'unit/functions',
  'unit/introspection',
  'unit/bitops',
  'unit/bitfield',
  'unit/geo',
  'unit/hyperloglog',
  'unit/dump',
  'unit/violations',
]

/** Tests that need what a double does not have: its own process, its memory, other servers. */
export const deniedTags: readonly string[] = [
  'needs:debug',
  'needs:repl',
  'needs:save',
  'needs:pfdebug',
  'needs:latency',
  'needs:local-process',
  'needs:config-maxmemory',
  'needs:config-resetstat',
  'large-memory',
]

export interface Skip {
  readonly why: string
  /** Names as the suite prints them. A regular expression begins with a slash. */
  readonly tests: readonly string[]
}

export const skips: readonly Skip[] = [
  {
    why: 'A score has as few digits as tell it from its neighbors, as in later versions; redis-server 7.0 has 17. [store.md 3.4]',
    tests: ['/^ZM?SCORE - (?:listpack|skiplist)$'],
  },
  {
    why: 'The service says "value is not an int or out of range" where redis-server says "integer". [store.md, errors]',
    tests: [
      'COPY for string does not copy data to no-integer DB',
      'client unblock tests',
      'EXPIRE with empty string as TTL should report an error',
      'EVAL - Redis error reply -> Lua type conversion',
    ],
  },
  {
    why: 'ZRANGE and ZRANGESTORE take LIMIT with ranks, too. [store.md 7.2]',
    tests: ['ZRANGESTORE invalid syntax', 'ZRANGE invalid syntax'],
  },
  {
    why: 'Nobody can set how many entries a node of a stream has: approximate trimming keeps up to 100.',
    tests: [
      'XTRIM with MAXLEN option basic test',
      'XADD with LIMIT consecutive calls',
      'XTRIM with ~ is limited',
      'XTRIM with LIMIT delete entries no more than limit',
    ],
  },
  {
    why: 'RESTORE reads what redis-server 7 dumps, not the streams of earlier versions.',
    tests: ['Loading from legacy (Redis <= v6.2.x, rdb_ver < 10) persistence'],
  },
  {
    why: 'There is no COMMAND GETKEYS. [search.md, commands without a page]',
    tests: [
      'SORT extracts STORE correctly',
      'SORT_RO get keys',
      'SORT extracts multiple STORE correctly',
      '/^FUNCTION - test command get keys on fcall',
    ],
  },
  {
    why: 'An unknown subcommand is told in the words of the service. [store.md 7.4]',
    tests: ['Subcommand syntax error crash (issue #10070)', 'FUNCTION - test wrong subcommand'],
  },
  {
    why: 'A subcommand with words too many is told with its name in upper case, however it was written.',
    tests: [
      'FUNCTION - test function restore with wrong number of arguments',
      'FUNCTION - test function wrong argument',
    ],
  },
  {
    why: 'No script is ever seen running: it ends, or is stopped after a number of steps, before anything else is served. [store.md 9]',
    tests: [
      '/script timeout$',
      '/^Timedout ',
      'FUNCTION - test function kill',
      'FUNCTION - test script kill not working on function',
      'FUNCTION - test function kill not working on eval',
      'LIBRARIES - load timeout',
    ],
  },
  {
    why: 'Errors of scripts are told as the service tells them, with the trace of another interpreter. [store.md 9]',
    tests: [
      'EVAL_RO - Cannot run write commands',
      'Scripts can handle commands with incorrect arity',
      'CLUSTER RESET can not be invoke from within a script',
      'Binary code loading failed',
      'no-writes shebang flag',
      'LUA test pcall with non string/integer arg',
    ],
  },
  {
    why: 'XREAD with BLOCK in a script is answered at once, as over HTTP. [store.md 7.4]',
    tests: ["EVAL - Scripts can't run XREAD and XREADGROUP with BLOCK option"],
  },
  {
    why: 'FCALL_RO runs a function that only reads, whatever its flags. [store.md, deviations]',
    tests: ['FUNCTION - write script on fcall_ro'],
  },
  {
    why: 'Passwords of users are tokens that the store has made. [store.md 6.3]',
    tests: ['Script ACL check', 'RESET clears authenticated state'],
  },
  {
    why: 'There is no CLIENT TRACKING. [search.md, connection commands]',
    tests: ['RESET clears client state'],
  },
  {
    why: 'CLIENT LIST takes no arguments, and tells nothing of buffers and files; CLIENT KILL has the filters that clients use. [search.md, connection commands]',
    tests: ['CLIENT LIST', 'CLIENT LIST with IDs', 'CLIENT INFO', 'CLIENT KILL with illegal arguments'],
  },
  {
    why: 'CONFIG knows notify-keyspace-events only. [search.md, connection commands]',
    tests: ['/^CONFIG SET ', 'CONFIG GET multiple args', 'MULTI with config error'],
  },
  {
    why: 'There is no CONFIG RESETSTAT, and INFO has no counts of commands and errors. [search.md, commands without a page]',
    tests: [
      'XGROUP DESTROY should unblock XREADGROUP with -NOGROUP',
      'Consistent eval error reporting',
      '/^LUA redis\\.(?:error|status)_reply API',
    ],
  },
  {
    why: 'INFO has few fields: no counts of changes, of cached scripts, or of sockets. [store.md 7.2]',
    tests: [
      'SETBIT/BITFIELD only increase dirty when the value changed',
      'SCRIPTING FLUSH ASYNC',
      'MIGRATE cached connections are released after some time',
    ],
  },
  {
    why: 'What is not there is refused as such, in a transaction, too: SAVE and SHUTDOWN. [store.md 7.4]',
    tests: ['MULTI with SAVE', 'MULTI with SHUTDOWN'],
  },
  {
    why: 'Nothing is refused for want of memory or of replicas.',
    tests: ['not enough good replicas', 'reject script do not cause a Lua stack leak'],
  },
]
