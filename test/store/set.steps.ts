import { newerSection, type Section, section } from '../support/steps.js'

export const steps: readonly Section[] = [
  section(
    'SADD and SREM',
    `
    SADD s a
    SADD s a
    SADD s a b c
    SADD s d d d
    SCARD s
    ~unordered SMEMBERS s
    TYPE s
    SADD numbers 1 2 3
    SADD numbers 2 x
    ~unordered SMEMBERS numbers
    SADD bin "" "\\x00" "\\xff\\r\\n"
    ~unordered SMEMBERS bin
    SADD s
    SADD
    SREM s a
    SREM s a
    SREM s b nope c
    ~unordered SMEMBERS s
    SREM s d
    EXISTS s
    SREM s d
    SREM missing a b
    SREM s
    SREM
    SCARD missing
    SCARD
    SCARD a b
    SMEMBERS missing
    SMEMBERS
    SMEMBERS a b
    SET str v
    SADD str a
    SREM str a
    SCARD str
    SMEMBERS str
    `,
  ),
  section(
    'SISMEMBER and SMISMEMBER',
    `
    SADD s a b 3
    SISMEMBER s a
    SISMEMBER s z
    SISMEMBER s 3
    SISMEMBER s 03
    SISMEMBER s ""
    SISMEMBER missing a
    SISMEMBER s
    SISMEMBER s a b
    SMISMEMBER s a
    SMISMEMBER s a z b a
    SMISMEMBER missing a b
    SMISMEMBER s
    SMISMEMBER
    SET str v
    SISMEMBER str a
    SMISMEMBER str a b
    `,
  ),
  section(
    'SMOVE',
    `
    SADD a 1 2 3
    SADD b 3 4
    SMOVE a b 1
    SMOVE a b 3
    ~unordered SMEMBERS a
    ~unordered SMEMBERS b
    SMOVE a b nope
    SMOVE a c 2
    EXISTS a
    SMEMBERS c
    SMOVE missing b 1
    SMOVE c c 2
    SMOVE c c nope
    SMEMBERS c
    SMOVE a b
    SMOVE a b c d
    SET str v
    SMOVE str b 1
    SMOVE b str 3
    SMOVE b str nope
    SMOVE missing str 1
    SMOVE str missing 1
    `,
  ),
  section(
    'SPOP',
    `
    SADD s a
    SPOP s
    EXISTS s
    SPOP s
    SPOP s 0
    SPOP s 5
    SADD s a b c d e
    ~shape SPOP s
    SCARD s
    ~shape SPOP s 2
    SCARD s
    SPOP s 0
    ~shape SPOP s 100
    EXISTS s
    SADD s a b c
    ~unordered SPOP s 3
    EXISTS s
    SADD s a b c d e f g h i j
    ~shape SPOP s 8
    SCARD s
    SPOP s -1
    SPOP s x
    SPOP s 1.5
    SPOP missing -1
    SPOP missing x
    SPOP s 1 2
    SPOP
    SET str v
    SPOP str
    SPOP str 1
    SPOP str 0
    SPOP str -1
    `,
  ),
  section(
    'SRANDMEMBER',
    `
    SADD s a
    SRANDMEMBER s
    SRANDMEMBER s 1
    SRANDMEMBER s 5
    SRANDMEMBER s -3
    SRANDMEMBER s 0
    SADD s b c
    ~shape SRANDMEMBER s
    ~shape SRANDMEMBER s 2
    ~unordered SRANDMEMBER s 3
    ~unordered SRANDMEMBER s 10
    ~shape SRANDMEMBER s -2
    ~shape SRANDMEMBER s -10
    SCARD s
    SRANDMEMBER missing
    SRANDMEMBER missing 1
    SRANDMEMBER missing -1
    SRANDMEMBER missing 0
    SRANDMEMBER s x
    SRANDMEMBER s 1.5
    SRANDMEMBER missing x
    SRANDMEMBER s -9223372036854775808
    SRANDMEMBER s 9223372036854775808
    SRANDMEMBER s 1 2
    SRANDMEMBER
    SET str v
    SRANDMEMBER str
    SRANDMEMBER str 1
    SRANDMEMBER str x
    `,
  ),
  section(
    'SINTER, SUNION, SDIFF',
    `
    SADD a 1 2 3 4 5
    SADD b 3 4 5 6
    SADD c 5 6 7
    ~unordered SINTER a
    ~unordered SINTER a b
    ~unordered SINTER a b c
    ~unordered SINTER a a
    SINTER a missing
    SINTER missing
    ~unordered SUNION a
    ~unordered SUNION a b
    ~unordered SUNION a b c missing
    SUNION missing
    ~unordered SDIFF a
    ~unordered SDIFF a b
    ~unordered SDIFF a b c
    ~unordered SDIFF b a
    SDIFF a a
    SDIFF missing a
    ~unordered SDIFF a missing
    SINTER
    SUNION
    SDIFF
    SET str v
    SINTER str
    SINTER a str
    SINTER missing str
    SINTER str missing
    SUNION a str
    SUNION str
    SUNION missing str
    SDIFF a str
    SDIFF str a
    SDIFF missing str
    `,
  ),
  section(
    'SINTERSTORE, SUNIONSTORE, SDIFFSTORE',
    `
    SADD a 1 2 3 4 5
    SADD b 3 4 5 6
    SADD c 5 6 7
    SINTERSTORE d a b
    ~unordered SMEMBERS d
    SUNIONSTORE d a c
    ~unordered SMEMBERS d
    SDIFFSTORE d a b
    ~unordered SMEMBERS d
    SINTERSTORE a a b c
    SMEMBERS a
    SINTERSTORE d a missing
    EXISTS d
    SUNIONSTORE d missing nope
    SDIFFSTORE d a a
    SADD d old
    SDIFFSTORE d missing a
    EXISTS d
    SET d string
    SUNIONSTORE d b
    TYPE d
    ~unordered SMEMBERS d
    EXPIRE d 100
    SUNIONSTORE d b
    TTL d
    SET str v
    SINTERSTORE d str
    SUNIONSTORE d a str
    SDIFFSTORE d a str
    SINTERSTORE d missing str
    ~unordered SMEMBERS d
    SINTERSTORE str a missing
    EXISTS str
    SINTERSTORE d
    SUNIONSTORE d
    SDIFFSTORE d
    SINTERSTORE
    `,
  ),
  section(
    'SINTERCARD',
    `
    SADD a 1 2 3 4 5
    SADD b 3 4 5 6
    SADD c 5 6 7
    SINTERCARD 1 a
    SINTERCARD 2 a b
    SINTERCARD 3 a b c
    SINTERCARD 2 a missing
    SINTERCARD 1 missing
    SINTERCARD 2 a b LIMIT 0
    SINTERCARD 2 a b LIMIT 1
    SINTERCARD 2 a b limit 2
    SINTERCARD 2 a b LIMIT 100
    SINTERCARD 2 a b LIMIT 1 LIMIT 2
    SINTERCARD 0 a
    SINTERCARD -1 a
    SINTERCARD x a
    SINTERCARD 1.5 a
    SINTERCARD 3 a b
    SINTERCARD 9223372036854775807 a b
    SINTERCARD 1 a b
    SINTERCARD 2 a b LIMIT
    SINTERCARD 2 a b LIMIT -1
    SINTERCARD 2 a b LIMIT x
    SINTERCARD 2 a b FOO 1
    SINTERCARD 2 a b FOO
    SINTERCARD 1
    SINTERCARD
    SET str v
    SINTERCARD 1 str
    SINTERCARD 2 a str
    SINTERCARD 2 missing str
    SINTERCARD 2 a str LIMIT -1
    `,
  ),
  newerSection(
    'SUNIONCARD and SDIFFCARD',
    'store.md 7.2: numkeys keys… [LIMIT n], SUNIONCARD also APPROX; errors as of SINTERCARD',
    `
    SADD a 1 2 3 4 5
      = 5
    SADD b 3 4 5 6
      = 4
    SUNIONCARD 2 a b
      = 6
    SUNIONCARD 3 a missing b
      = 6
    SUNIONCARD 2 a b LIMIT 4
      = 4
    SUNIONCARD 2 a b APPROX
      = 6
    sunioncard 2 a b approx limit 0
      = 6
    SUNIONCARD 2 a b LIMIT 3 APPROX
      = 3
    SUNIONCARD 2 a b APPROX LIMIT 3
      = 3
    SUNIONCARD 1 missing
      = 0
    SDIFFCARD 2 a b
      = 2
    SDIFFCARD 2 b a
      = 1
    SDIFFCARD 2 a missing LIMIT 3
      = 3
    SDIFFCARD 2 a b LIMIT 1
      = 1
    SDIFFCARD 2 a b LIMIT 0
      = 2
    SDIFFCARD 1 a
      = 5
    SDIFFCARD 2 a b APPROX
      = -ERR syntax error
    SDIFFCARD 2 a b LIMIT 1 APPROX
      = -ERR syntax error
    SDIFFCARD 2 missing a
      = 0
    SDIFFCARD 0 a
      = -ERR numkeys should be greater than 0
    SDIFFCARD 3 a b
      = -ERR Number of keys can't be greater than number of args
    SUNIONCARD 2 a b LIMIT -1
      = -ERR LIMIT can't be negative
    SUNIONCARD 2 a b FOO
      = -ERR syntax error
    SUNIONCARD 2 a b LIMIT
      = -ERR syntax error
    SUNIONCARD
      = -ERR wrong number of arguments for 'sunioncard' command
    SET str v
      = +OK
    SDIFFCARD 2 a str
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    `,
  ),
  section(
    'SSCAN',
    `
    SADD s a b c aa ab
    ~scan SSCAN s 0
    ~scan SSCAN s 0 COUNT 100
    ~scan SSCAN s 0 MATCH a* COUNT 100
    ~scan SSCAN s 0 COUNT 100 MATCH ?b
    ~scan sscan s 0 match nope count 100
    ~scan SSCAN s 0 MATCH * MATCH a COUNT 100
    # integers are kept in one piece: whole whatever COUNT says, ascending
    SADD integers 30 -1 2 10 9223372036854775807 -9223372036854775808
    SSCAN integers 0
    SSCAN integers 0 COUNT 1
    SSCAN integers 0 COUNT 1 MATCH *0
    SSCAN missing 0
    SSCAN missing 0 FOO
    SSCAN missing 5 COUNT 0
    SSCAN missing x
    SSCAN s x
    SSCAN s 1x
    SSCAN s " 1"
    SSCAN s 18446744073709551616
    ~scan SSCAN s ""
    ~scan SSCAN s +0
    SSCAN s -
    SSCAN s 0 COUNT
    SSCAN s 0 COUNT 0
    SSCAN s 0 COUNT -1
    SSCAN s 0 COUNT x
    SSCAN s 0 MATCH
    SSCAN s 0 FOO
    SSCAN s 0 TYPE set
    SSCAN s 0 NOVALUES
    SSCAN s
    SSCAN
    SET str v
    SSCAN str 0
    SSCAN str x
    SSCAN str 0 FOO
    `,
  ),
]
