import { newerSection, type Section, section } from '../support/steps.js'

const commands = ['EXPIRE', 'PEXPIRE', 'EXPIREAT', 'PEXPIREAT']
const conditions = ['NX', 'XX', 'GT', 'LT']

/** Returns a time for the command about this many seconds ahead. */
function ahead(command: string, seconds: number): string {
  if (command === 'EXPIRE') return String(seconds)
  if (command === 'PEXPIRE') return String(1000 * seconds)
  return command === 'EXPIREAT' ? `{now+${seconds}}` : `{ms+${1000 * seconds}}`
}

/**
 * Returns every command with every pair of conditions on a key without expiration, with an earlier one, with a later
 * one.
 */
function expireConditions(): string {
  const rows: string[] = []
  for (const command of commands) {
    for (const first of conditions) {
      for (const second of ['', ...conditions]) {
        for (const before of ['', 'EX 100', 'EX 5000']) {
          rows.push(`SET k v ${before}`, `${command} k ${ahead(command, 1000)} ${first} ${second}`, '~near TTL k')
        }
        rows.push(`${command} missing ${ahead(command, 1000)} ${first} ${second}`)
      }
    }
  }
  return rows.join('\n')
}

const times = [
  '0',
  '-1',
  'abc',
  '1.5',
  '""',
  '-9223372036854775808',
  '9223372036854775807',
  '9223372036854775808',
  '9223372036854775',
  '9223372036854776',
  '-9223372036854775',
  '-9223372036854776',
]

const everyType = `
    SET string v
    RPUSH list a b
    SADD set a b
    ZADD zset 1 a 2 b
    HSET hash f v
    XADD stream 1-1 f v
`

export const steps: readonly Section[] = [
  section(
    'DEL UNLINK EXISTS TOUCH TYPE',
    `${everyType}
    TYPE string
    TYPE list
    TYPE set
    TYPE zset
    TYPE hash
    TYPE stream
    TYPE missing
    TYPE
    TYPE a b
    EXISTS string
    EXISTS string string string
    EXISTS string missing list
    EXISTS missing
    EXISTS
    TOUCH string
    TOUCH string string missing list
    TOUCH
    DBSIZE
    DEL string missing list list
    DEL missing
    DEL
    UNLINK set zset missing
    UNLINK missing
    UNLINK
    DEL hash stream
    DBSIZE
    `,
  ),
  section(
    'EXPIRE and its kin',
    `
    SET k v
    EXPIRE k 100
    TTL k
    ~near PTTL k
    PERSIST k
    PERSIST k
    TTL k
    PTTL k
    EXPIRETIME k
    PEXPIRETIME k
    PERSIST missing
    TTL missing
    PTTL missing
    EXPIRETIME missing
    PEXPIRETIME missing
    PEXPIRE k 100400
    TTL k
    PEXPIRE k 100700
    TTL k
    EXPIREAT k 4102444800
    EXPIRETIME k
    PEXPIRETIME k
    PEXPIREAT k 4102444800499
    EXPIRETIME k
    PEXPIREAT k 4102444800500
    EXPIRETIME k
    PEXPIRETIME k
    EXPIRE missing 100
    PEXPIRE missing 100
    EXPIREAT missing 4102444800
    PEXPIREAT missing 4102444800000
    EXPIRE k 10 FOO
    EXPIRE k abc FOO
    EXPIRE k abc NX XX
    EXPIRE k 10 nx
    EXPIRE k 10 xx
    EXPIRE missing abc
    EXPIRE missing 9223372036854775807
    EXPIRE
    EXPIRE k
    PEXPIRE
    PEXPIRE k
    EXPIREAT
    EXPIREAT k
    PEXPIREAT
    PEXPIREAT k
    TTL
    TTL a b
    PTTL
    PTTL a b
    EXPIRETIME
    EXPIRETIME a b
    PEXPIRETIME
    PEXPIRETIME a b
    PERSIST
    PERSIST a b
    EXPIRE k -1
    EXISTS k
    SET k v
    PEXPIREAT k 1
    EXISTS k
    SET k v EX 100
    EXPIRE k 0 NX
    EXPIRE k 0 GT
    EXPIRE k 0 LT
    EXISTS k
    RPUSH l a
    EXPIRE l 100
    TTL l
    `,
  ),
  section('EXPIRE with every condition', expireConditions()),
  section(
    'EXPIRE with every kind of time',
    times.flatMap((time) => commands.flatMap((command) => ['SET k v', `${command} k ${time}`, 'EXISTS k'])).join('\n'),
  ),
  section(
    'time goes by',
    `
    SET k v PX 60
    RPUSH l a
    PEXPIRE l 60
    HSET h f v
    PEXPIRE h 5000
    DBSIZE
    @advance 80
    EXISTS k l h
    TYPE l
    TTL k
    DBSIZE
    KEYS *
    RANDOMKEY
    SCAN 0
    SET a 1 PX 60
    RENAME a b
    @advance 80
    EXISTS b
    SET a 1 PX 60
    COPY a c
    @advance 80
    EXISTS a c
    RENAME a b
    COPY a b
    RPUSH l fresh
    PTTL l
    LRANGE l 0 -1
    `,
  ),
  section(
    'KEYS RANDOMKEY',
    `
    RANDOMKEY
    KEYS *
    MSET one 1 two 2 three 3 four 4 [x] 5
    ~unordered KEYS *
    ~unordered KEYS *o*
    ~unordered KEYS t??
    KEYS "[ot]ne"
    ~unordered KEYS "[^o]*"
    KEYS "\\\\[x]"
    KEYS none
    KEYS one
    KEYS ""
    KEYS
    KEYS a b
    ~shape RANDOMKEY
    RANDOMKEY x
    `,
  ),
  section(
    'SCAN',
    `
    SCAN 0
    MSET one 1 two 2 three 3
    RPUSH list a
    SADD set a
    ~scan SCAN 0
    ~scan SCAN 0 COUNT 100
    ~scan SCAN 0 MATCH t* COUNT 100
    ~scan SCAN 0 match t* count 100 type string
    ~scan SCAN 0 TYPE list COUNT 100
    ~scan SCAN 0 TYPE LIST COUNT 100
    ~scan SCAN 0 TYPE zset COUNT 100
    ~scan SCAN 0 TYPE nonsense COUNT 100
    ~scan SCAN 0 MATCH nothing COUNT 100
    ~scan SCAN 0 MATCH a MATCH one COUNT 100
    SCAN a
    SCAN -
    SCAN 1.5
    SCAN 18446744073709551616
    SCAN 0 COUNT 0
    SCAN 0 COUNT -1
    SCAN 0 COUNT a
    SCAN 0 COUNT
    SCAN 0 MATCH
    SCAN 0 TYPE
    SCAN 0 FOO
    SCAN 0 FOO BAR
    SCAN a COUNT b
    SCAN a FOO
    SCAN
    `,
  ),
  newerSection(
    'SCAN WITHTYPE',
    'store.md 7.2: SCAN',
    `
    SET s v
    = +OK
    RPUSH l a
    = 1
    JSON.SET j $ {}
    = +OK
    SCAN 0 WITHTYPE
    = ["0", ["s", "string", "l", "list", "j", "json"]]
    SCAN 0 MATCH s COUNT 100 WITHTYPE
    = ["0", ["s", "string"]]
    SCAN 0 withtype TYPE json
    = ["0", ["j", "json"]]
    TYPE j
    = +json
    `,
  ),
  section(
    'RENAME RENAMENX',
    `
    SET a 1 EX 100
    RENAME a b
    GET b
    TTL b
    EXISTS a
    RENAME missing x
    RENAMENX missing x
    RENAME missing missing
    RENAME b b
    RENAMENX b b
    SET c 3
    RENAMENX b c
    RENAME b c
    GET c
    TTL c
    RPUSH l x
    RENAME l c
    TYPE c
    TTL c
    RENAMENX c d
    LRANGE d 0 -1
    SET e 1
    SET f 2 EX 100
    RENAME e f
    TTL f
    RENAME
    RENAME a
    RENAME a b c
    RENAMENX
    RENAMENX a
    RENAMENX a b c
    `,
  ),
  section(
    'COPY',
    `${everyType}
    COPY string s2
    GET s2
    COPY list l2
    RPUSH l2 c
    LRANGE list 0 -1
    LRANGE l2 0 -1
    COPY set set2
    SREM set2 a
    SCARD set
    COPY zset z2
    ZADD z2 9 a
    ZSCORE zset a
    COPY hash h2
    HSET h2 f w
    HGET hash f
    COPY stream x2
    XADD x2 2-1 f v
    XLEN stream
    COPY string list
    COPY string list REPLACE
    TYPE list
    COPY string list replace
    COPY missing x
    COPY missing list REPLACE
    EXISTS list
    SET t v EX 100
    COPY t t2
    TTL t2
    COPY string t2 REPLACE
    TTL t2
    COPY string s3 DB 0
    COPY string s4 DB 0 REPLACE
    COPY string string
    COPY string string REPLACE
    COPY string string DB 0
    COPY missing missing
    COPY string x DB
    COPY string x DB a
    COPY string x DB 100
    COPY string x DB -1
    COPY string x DB 100 FOO
    COPY string x FOO
    COPY string x REPLACE REPLACE
    COPY
    COPY a
    APPEND string more
    COPY string s5
    APPEND s5 x
    MGET string s5
    `,
  ),
  section(
    'OBJECT',
    `
    SET int 123
    SET embstr abc
    SET raw {x*45}
    SET short {x*44}
    SET big 12345678901234567890
    SET zeros 007
    SET appended a
    APPEND appended b
    SET counted 1
    INCR counted
    SETRANGE ranged 0 abc
    RPUSH list a b
    SADD intset 1 2 3
    SADD set a 1
    ZADD zset 1 a
    ZADD longzset 1 {x*65}
    HSET hash f v
    HSET longhash f {x*65}
    HSET longfield {x*65} v
    XADD stream 1-1 f v
    PFADD hll a
    OBJECT ENCODING int
    OBJECT ENCODING embstr
    OBJECT ENCODING raw
    OBJECT ENCODING short
    OBJECT ENCODING big
    OBJECT ENCODING zeros
    OBJECT ENCODING appended
    OBJECT ENCODING counted
    OBJECT ENCODING ranged
    OBJECT ENCODING list
    OBJECT ENCODING intset
    OBJECT ENCODING set
    OBJECT ENCODING zset
    OBJECT ENCODING longzset
    OBJECT ENCODING hash
    OBJECT ENCODING longhash
    OBJECT ENCODING longfield
    OBJECT ENCODING stream
    OBJECT ENCODING missing
    object encoding embstr
    Object Encoding embstr
    OBJECT REFCOUNT embstr
    OBJECT REFCOUNT missing
    OBJECT REFCOUNT int
    OBJECT REFCOUNT counted
    OBJECT REFCOUNT zeros
    OBJECT REFCOUNT appended
    OBJECT REFCOUNT list
    MSET shared 9999 unshared 10000 negative -1 nought 0
    OBJECT REFCOUNT shared
    OBJECT REFCOUNT unshared
    OBJECT REFCOUNT negative
    OBJECT REFCOUNT nought
    OBJECT IDLETIME embstr
    OBJECT IDLETIME missing
    OBJECT FREQ embstr
    OBJECT FREQ missing
    OBJECT ENCODING
    OBJECT ENCODING a b
    OBJECT REFCOUNT
    OBJECT IDLETIME
    OBJECT FREQ
    OBJECT HELP x
    OBJECT
    COPY appended copied
    OBJECT ENCODING copied
    `,
  ),
  newerSection(
    'OBJECT IDLETIME on the virtual clock',
    'redis 7.0 documentation: seconds since the key was last used; TTL, TYPE, EXISTS and OBJECT do not count as a use',
    `
    SET k v
    = +OK
    @advance 5000
    OBJECT IDLETIME k
    = 5
    TTL k
    = -1
    TYPE k
    = +string
    EXISTS k
    = 1
    OBJECT IDLETIME k
    = 5
    GET k
    = "v"
    OBJECT IDLETIME k
    = 0
    @advance 2500
    OBJECT IDLETIME k
    = 2
    TOUCH k
    = 1
    OBJECT IDLETIME k
    = 0
    RPUSH l a
    = 1
    @advance 3000
    LRANGE l 0 -1
    = ["a"]
    OBJECT IDLETIME l
    = 0
    `,
  ),
  section(
    'MEMORY USAGE',
    `${everyType}
    ~shape MEMORY USAGE string
    ~shape MEMORY USAGE list
    ~shape MEMORY USAGE set
    ~shape MEMORY USAGE zset
    ~shape MEMORY USAGE hash
    ~shape MEMORY USAGE stream
    MEMORY USAGE missing
    ~shape MEMORY USAGE string SAMPLES 5
    ~shape memory usage string samples 0
    MEMORY USAGE string SAMPLES -1
    MEMORY USAGE string SAMPLES a
    MEMORY USAGE string SAMPLES -1 SAMPLES a
    MEMORY USAGE string SAMPLES
    MEMORY USAGE string FOO
    MEMORY USAGE
    MEMORY
    `,
  ),
  section(
    'WAIT',
    `
    WAIT 0 0
    WAIT 0 10
    WAIT a 0
    WAIT 0 a
    WAIT 0 -1
    WAIT
    WAIT 0
    WAIT 0 0 0
    `,
  ),
  newerSection(
    'WAITAOF',
    'store.md 7.2: WAITAOF',
    `
    WAITAOF 1 0 0
    = [1, 0]
    WAITAOF 0 0 0
    = [1, 0]
    WAITAOF 2 0 0
    = -ERR value is out of range, must be between 0 and 1
    WAITAOF 1 0 -1
    = -ERR timeout is negative
    WAITAOF 1 0
    = -ERR wrong number of arguments for 'waitaof' command
    `,
  ),
  section(
    'RESTORE',
    String.raw`
    SET k v
    RESTORE k 0 abc
    RESTORE k abc abc
    RESTORE k -1 abc
    RESTORE fresh -1 abc
    RESTORE fresh abc abc
    RESTORE fresh 0 abc
    RESTORE fresh 0 ""
    RESTORE fresh 0 "\x00\x01vxx\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    RESTORE k 0 abc REPLACE
    RESTORE k 0 abc FOO
    RESTORE k 0 abc replace ABSTTL
    RESTORE fresh 0 abc IDLETIME
    RESTORE fresh 0 abc IDLETIME a
    RESTORE fresh 0 abc IDLETIME -1
    RESTORE fresh 0 abc IDLETIME 5
    RESTORE fresh 0 abc FREQ
    RESTORE fresh 0 abc FREQ a
    RESTORE fresh 0 abc FREQ -1
    RESTORE fresh 0 abc FREQ 256
    RESTORE fresh 0 abc FREQ 255
    RESTORE fresh 0 abc FREQ 5 IDLETIME 5
    RESTORE fresh 0 abc FREQ 300 FOO
    RESTORE fresh 0 abc IDLETIME a FOO
    RESTORE
    RESTORE k
    RESTORE k 0
    GET k
    DUMP missing
    DUMP
    DUMP a b
    ~shape DUMP k
    `,
  ),
  section(
    'SORT',
    `
    RPUSH l 3 1 2 10 -5 1.5
    SORT l
    SORT l ASC
    SORT l DESC
    SORT l ALPHA
    SORT l ALPHA DESC
    SORT l DESC ASC
    SORT l LIMIT 0 2
    SORT l LIMIT 1 2
    SORT l LIMIT 1 -1
    SORT l LIMIT -5 2
    SORT l LIMIT 4 10
    SORT l LIMIT 6 10
    SORT l LIMIT 100 10
    SORT l LIMIT 0 0
    SORT l LIMIT a 0
    SORT l LIMIT 0 a
    SORT l LIMIT 0
    SORT l LIMIT
    SORT l BY nosort
    SORT l BY nosort DESC
    SORT l BY nosort LIMIT 1 2
    SORT l BY nosort DESC LIMIT 1 2
    SORT l GET #
    SORT l FOO
    SORT l BY
    SORT l GET
    SORT l STORE
    SORT missing
    SORT missing FOO
    SORT missing ALPHA DESC LIMIT 0 10 GET x* GET #
    SORT_RO l
    SORT_RO l STORE x
    SORT_RO missing
    SORT_RO
    SORT
    RPUSH words banana apple cherry "" Apple
    SORT words
    SORT words ALPHA
    SORT words ALPHA DESC
    SET s v
    SORT s
    SORT s FOO
    HSET h f v
    SORT h
    SADD set 3 1 2
    SORT set
    SORT set DESC LIMIT 0 2
    ~unordered SORT set BY nosort
    ZADD z 3 a 2 b 1 c
    SORT z ALPHA
    SORT z ALPHA DESC
    SORT z BY nosort
    SORT z BY nosort DESC
    SORT z BY nosort LIMIT 0 2
    SORT z BY nosort DESC LIMIT 1 1
    SORT z
    RPUSH odd inf -inf 0 1e2
    SORT odd
    RPUSH nan nan 1
    SORT nan
    RPUSH blank " 1" 0
    SORT blank
    RPUSH trailing "1 " 0
    SORT trailing
    RPUSH ties 1 1.0 01 1e0
    SORT ties
    SORT ties DESC
    `,
  ),
  section(
    'MOVE',
    `
    SET a 1
    MOVE a 0
    MOVE a 99
    MOVE a -1
    MOVE a x
    MOVE missing 0
    MOVE missing 99
    MOVE a
    MOVE a 0 x
    GET a
    `,
  ),
  section(
    'SORT with BY, GET and STORE',
    `
    RPUSH ids 1 2 3 4
    MSET weight_1 30 weight_2 10 weight_3 20 name_1 one name_2 two name_4 four
    HSET user_1 name Ann age 30
    HSET user_2 name Bob age 20
    HSET user_3 name Cid age 25
    SORT ids BY weight_*
    SORT ids BY weight_* DESC
    SORT ids BY weight_* LIMIT 1 2
    SORT ids BY weight_* GET name_*
    SORT ids BY weight_* GET # GET name_* GET weight_*
    SORT ids GET name_*
    SORT ids GET missing_*
    SORT ids GET nostar
    SORT ids GET ""
    SORT ids BY user_*->age
    SORT ids BY user_*->age DESC
    SORT ids BY user_*->name ALPHA
    SORT ids BY user_*->name ALPHA DESC
    SORT ids BY user_*->name
    SORT ids BY user_*->missing
    SORT ids GET user_*->name
    SORT ids GET user_*->
    SORT ids GET *->name
    SORT ids GET user_*
    SORT ids GET name_*->f
    SORT ids BY name_* ALPHA
    SORT ids BY name_*
    SORT ids BY ids GET #
    SORT ids BY weight_* BY nosort
    SORT ids DESC STORE dest
    LRANGE dest 0 -1
    TYPE dest
    SORT ids GET name_* STORE dest
    LRANGE dest 0 -1
    SET strdest v EX 100
    SORT ids STORE strdest
    TYPE strdest
    TTL strdest
    SORT missing STORE strdest
    EXISTS strdest
    SORT missing STORE missing2
    SORT ids LIMIT 0 0 STORE dest
    EXISTS dest
    SORT ids STORE ids
    LRANGE ids 0 -1
    SADD set c a b
    SORT set BY nosort STORE sorted
    LRANGE sorted 0 -1
    SORT set BY nosort DESC STORE sorted
    LRANGE sorted 0 -1
    EVAL "return redis.call('SORT', KEYS[1], 'BY', 'nosort')" 1 set
    EVAL "return redis.call('SORT_RO', KEYS[1], 'BY', 'nosort', 'DESC', 'LIMIT', 0, 1)" 1 set
    ZADD z 3 a 2 b 1 c
    SORT z BY nosort STORE sorted
    LRANGE sorted 0 -1
    SORT ids STORE one STORE two
    EXISTS one two
    sort ids by weight_* desc limit 0 2 get # store low
    LRANGE low 0 -1
    SORT_RO ids BY weight_* GET # LIMIT 0 2
    RPUSH longer 1 2 3
    MSET a1b 3 a2b 1 a3b 2
    SORT longer BY a*b
    SORT longer BY a*b GET a*b
    `,
  ),
]
