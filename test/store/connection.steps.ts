import { newerSection, type Section, section } from '../support/steps.js'

const unavailable = (shown: string) =>
  `= -ERR Command is not available: '${shown}'. See https://docs.test/redis/overall/rediscompatibility for details`

const special = [
  'AUTH x',
  'MULTI',
  'EXEC',
  'DISCARD',
  'WATCH k',
  'UNWATCH',
  'HELLO',
  'HELLO 3',
  'RESET',
  'SUBSCRIBE c',
  'UNSUBSCRIBE',
  'PSUBSCRIBE c',
  'PUNSUBSCRIBE',
  'CLIENT LIST',
  'CLIENT',
  'CLIENT SETINFO LIB-NAME x',
  'MONITOR',
]

const missing = [
  'BLPOP l 0',
  'BRPOP l 0',
  'BRPOPLPUSH a b 0',
  'BLMOVE a b LEFT LEFT 0',
  'BLMPOP 0 1 l LEFT',
  'BZPOPMIN z 0',
  'BZPOPMAX z 0',
  'BZMPOP 0 1 z MIN',
  'MIGRATE h 1 k 0 1',
  'REPLICAOF a 1',
  'SLAVEOF a 1',
  'FAILOVER',
  'SYNC',
  'PSYNC a 1',
  'REPLCONF a',
  'SHUTDOWN',
  'SSUBSCRIBE c',
  'QUIT',
  'NONSENSE',
  '""',
  '"CONFIG GET" *',
  '"a b"',
  'set2 k v',
  '"get\\x00" k',
]

const withSubcommand = [
  ['CLUSTER INFO', 'CLUSTER INFO'],
  ['DEBUG SLEEP 1', 'DEBUG SLEEP'],
  ['SLOWLOG NONSENSE 10', 'SLOWLOG NONSENSE'],
  ['config rewrite', 'CONFIG REWRITE'],
  ['MODULE LOAD x', 'MODULE LOAD'],
  ['SCRIPT DEBUG YES', 'SCRIPT DEBUG'],
  ['OBJECT NONSENSE k', 'OBJECT NONSENSE'],
  ['CLUSTER', 'CLUSTER'],
]

export const steps: readonly Section[] = [
  section(
    'PING ECHO SELECT',
    String.raw`
    PING
    ping
    PING hello
    PING ""
    PING "\x00\xff"
    PING a b
    ECHO hello
    ECHO ""
    ECHO
    ECHO a b
    SELECT 0
    SELECT -1
    SELECT 16
    SELECT a
    SELECT
    SELECT 0 0
    `,
  ),
  newerSection(
    'one database',
    'store.md 7.4',
    `
    SELECT 1
    = -ERR DB index is out of range
    `,
  ),
  newerSection(
    'commands that need a connection',
    'store.md 7.4',
    special
      .map(
        (line) =>
          `${line}\n= -ERR Command "${line.split(' ')[0]}" is not allowed in REST or it has a special context path`,
      )
      .join('\n'),
  ),
  newerSection(
    'commands that the service does not have',
    'store.md 7.4',
    [
      ...missing.map((line) => {
        const name = /^"(.*)"/.exec(line)?.[1] ?? line.split(' ')[0]!
        return `${line}\n${unavailable(name.replace('\\x00', '\0').toUpperCase())}`
      }),
      ...withSubcommand.map(([line, shown]) => `${line}\n${unavailable(shown!)}`),
    ].join('\n'),
  ),
]
