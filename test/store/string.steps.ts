import { newerSection, type Section, section } from '../support/steps.js'

/** Numbers at and around the limits of integers. */
const integers = [
  '0',
  '-0',
  '+0',
  '00',
  '1',
  '-1',
  '+1',
  '01',
  '1.0',
  '1e3',
  ' 1',
  '1 ',
  '0x10',
  'abc',
  '""',
  '-',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775806',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775807',
  '-9223372036854775808',
  '-9223372036854775809',
  '99999999999999999999',
  '"1\\x00"',
].map((each) => (/[" ]/.test(each) && !each.startsWith('"') ? `"${each}"` : each))

const floats = [
  '0',
  '-0',
  '1',
  '1.5',
  '-1.5',
  '.5',
  '5.',
  '+2.25',
  '1e3',
  '1E-3',
  '3.0e3',
  '10.50',
  '0x10',
  '0x1p4',
  'inf',
  '-inf',
  'infinity',
  'nan',
  'abc',
  '""',
  '1.5x',
  '" 1"',
  '"1 "',
  '1e308',
  '-1e308',
  '1e17',
  '1e20',
  '0.1',
  '0.0001',
  '123456789.125',
  '99999999',
  '1.7976931348623157e308',
]

const setOptions = ['NX', 'XX', 'GET', 'EX 10', 'PX 10000', 'EXAT {now+1000}', 'PXAT {ms+1000000}', 'KEEPTTL']

/** Returns all pairs of options, on a key with an expiration and on a missing one. */
function setPairs(): string {
  const rows: string[] = []
  for (const first of setOptions) {
    for (const second of ['', ...setOptions]) {
      rows.push('DEL new old', 'SET old before EX 100', `SET old after ${first} ${second}`, 'GET old', '~near TTL old')
      rows.push(`SET new after ${first} ${second}`, 'GET new', '~near TTL new')
    }
  }
  return rows.join('\n')
}

/** Valid and invalid times of an expiration. */
const times = [
  '0',
  '-1',
  '100',
  'abc',
  '1.5',
  '""',
  '9223372036854775',
  '9223372036854776',
  '9223372036854775807',
  '9223372036854775808',
]

const rangeEnds = [0, 1, 4, 9, 10, 11, 100, -1, -2, -10, -11, -100]

export const steps: readonly Section[] = [
  section(
    'GET and SET',
    String.raw`
    SET k v
    GET k
    GET missing
    SET k ""
    GET k
    SET "" empty
    GET ""
    SET bin "\x00\xff\r\n\x80"
    GET bin
    SET ünïcode "wörld ☃"
    GET ünïcode
    sEt k mixed
    gEt k
    GET
    GET a b
    SET
    SET k
    SET k v EX
    SET k v PX
    SET k v EXAT
    SET k v PXAT
    SET k v FOO
    SET k v NX XX
    SET k v XX NX
    SET k v nx FOO
    SET k v EX 10 FOO
    SET k v EX abc FOO
    SET k v EX abc
    SET k v NX NX
    SET k v XX XX
    SET k v GET GET
    SET k v KEEPTTL KEEPTTL
    SET k v EX 10 EX 20
    TTL k
    SET k v ex 10 get xx
    SET k v PERSIST
    SET k v EX 10 PERSIST
    RPUSH l a
    GET l
    SET l v GET
    LRANGE l 0 -1
    SET l v NX
    SET l v NX GET
    SET l v EX 0 GET
    SET l v XX
    TYPE l
    RPUSH l2 a
    SET l2 v
    GET l2
    SET k v EX 100
    SET k v
    TTL k
    SET k w EX 100
    SET k x KEEPTTL
    TTL k
    GET k
    SET fresh v KEEPTTL
    TTL fresh
    SET gone v EXAT 1
    EXISTS gone
    SET gone v PXAT 1
    EXISTS gone
    SET k v PXAT 1 GET
    GET k
    `,
  ),
  section('SET with pairs of options', setPairs()),
  section(
    'SET and SETEX with every kind of time',
    times
      .flatMap((time) => [
        ...['EX', 'PX', 'EXAT', 'PXAT'].flatMap((unit) => [`SET k v ${unit} ${time}`, 'EXISTS k', 'DEL k']),
        `SETEX k ${time} v`,
        `PSETEX k ${time} v`,
        'EXISTS k',
        'SET k v',
        ...['EX', 'PX', 'EXAT', 'PXAT'].flatMap((unit) => [`GETEX k ${unit} ${time}`, 'SET k v']),
        'DEL k',
      ])
      .join('\n'),
  ),
  section(
    'expiry',
    `
    SET k v PX 60
    GET k
    ~near PTTL k
    @advance 80
    GET k
    TTL k
    EXISTS k
    SET k v PX 60
    SET k w KEEPTTL
    @advance 80
    GET k
    PSETEX k 60 v
    GETSET k w
    @advance 80
    GET k
    SET n 1 PX 60
    INCR n
    @advance 80
    INCR n
    TTL n
    SET a x PX 60
    APPEND a y
    STRLEN a
    @advance 80
    APPEND a z
    GET a
    SET s 1 PX 60
    SETNX s 2
    @advance 80
    SETNX s 2
    GET s
    MSET m1 1 m2 2
    PEXPIRE m1 60
    @advance 80
    MGET m1 m2
    MSETNX m1 3
    `,
  ),
  section(
    'SETNX SETEX PSETEX GETSET GETDEL',
    `
    SETNX k a
    SETNX k b
    GET k
    SETNX
    SETNX k
    SETNX k a b
    RPUSH l x
    SETNX l a
    SETEX k 100 v
    TTL k
    GET k
    SETEX l 100 v
    GET l
    SETEX
    SETEX k 10
    SETEX k 10 v x
    PSETEX k 100000 v
    TTL k
    PSETEX
    PSETEX k 10
    PSETEX k 10 v x
    GETSET k new
    TTL k
    GETSET missing v
    GET missing
    GETSET
    GETSET k
    GETSET k a b
    DEL l
    RPUSH l x
    GETSET l v
    GETDEL k
    GETDEL k
    EXISTS k
    GETDEL l
    EXISTS l
    GETDEL
    GETDEL a b
    `,
  ),
  section(
    'GETEX',
    `
    GETEX missing
    GETEX missing EX 10
    GETEX missing EX 0
    GETEX missing FOO
    SET k v
    GETEX k
    TTL k
    GETEX k EX 100
    TTL k
    GETEX k
    TTL k
    GETEX k PERSIST
    TTL k
    GETEX k PERSIST
    GETEX k PX 100000
    TTL k
    GETEX k EXAT {now+200}
    ~near TTL k
    GETEX k PXAT {ms+300000}
    ~near TTL k
    GETEX k ex 10
    GETEX k EX 10 PX 10
    GETEX k EX 10 PERSIST
    GETEX k PERSIST EX 10
    GETEX k PERSIST PERSIST
    GETEX k KEEPTTL
    GETEX k NX
    GETEX k GET
    GETEX k EX
    GETEX k FOO
    GETEX k EXAT 1
    EXISTS k
    SET k v
    GETEX k PXAT 1
    EXISTS k
    RPUSH l a
    GETEX l
    GETEX l EX 10
    GETEX l EX 0
    GETEX l FOO
    GETEX
    `,
  ),
  section(
    'MGET MSET MSETNX',
    `
    MSET a 1 b 2 c 3
    MGET a b c d
    MGET a a a
    RPUSH l x
    MGET a l b
    MGET
    MSET
    MSET a
    MSET a 1 b
    MSET l v
    GET l
    SET a 1 EX 100
    MSET a 2 a 3
    GET a
    TTL a
    MSETNX x 1 y 2
    MSETNX x 3 z 4
    MGET x y z
    MSETNX
    MSETNX x
    MSETNX x 1 y
    MSETNX p 1 p 2
    GET p
    MSETNX l 1
    `,
  ),
  section(
    'APPEND STRLEN',
    String.raw`
    APPEND k Hello
    APPEND k " World"
    GET k
    STRLEN k
    STRLEN missing
    APPEND k ""
    APPEND fresh ""
    EXISTS fresh
    STRLEN fresh
    APPEND bin "\x00\xff"
    APPEND bin "\x00\xff"
    GET bin
    STRLEN bin
    SET n 10
    APPEND n 5
    GET n
    INCR n
    GET n
    SET t v EX 100
    APPEND t w
    TTL t
    RPUSH l a
    APPEND l x
    STRLEN l
    APPEND
    APPEND k
    APPEND k a b
    STRLEN
    STRLEN a b
    SET snow ☃
    STRLEN snow
    `,
  ),
  section(
    'LCS',
    `
    MSET a ohmytext b mynewtext
    LCS a b
    LCS b a
    LCS a b LEN
    LCS a b IDX
    LCS b a IDX
    LCS a b IDX WITHMATCHLEN
    LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN
    LCS a b idx minmatchlen 4
    LCS a b IDX MINMATCHLEN -5
    LCS a b IDX MINMATCHLEN 9223372036854775807
    LCS a b IDX MINMATCHLEN 9223372036854775808
    LCS a b MINMATCHLEN 4
    LCS a b LEN MINMATCHLEN 4 WITHMATCHLEN
    LCS a b WITHMATCHLEN
    LCS a b IDX IDX MINMATCHLEN 1 MINMATCHLEN 4
    LCS a b LEN IDX
    LCS a b LEN IDX x
    LCS a b MINMATCHLEN
    LCS a b MINMATCHLEN x
    LCS a b x
    LCS a b ""
    LCS a
    LCS
    LCS a a IDX
    LCS a missing
    LCS missing a LEN
    LCS missing missing IDX
    RPUSH list x
    LCS list a
    LCS a list IDX LEN
    LCS missing list x
    MSET c abcbdab d bdcaba e aaaa f aa g "" h abab i baba
    LCS c d
    LCS d c
    LCS c d IDX
    LCS d c IDX WITHMATCHLEN
    LCS e f IDX
    LCS f e IDX
    LCS g a IDX
    LCS h i IDX
    LCS i h IDX
    SET bytes1 "\\x00\\xff\\x80a\\x00"
    SET bytes2 "\\xff\\x80\\x00"
    LCS bytes1 bytes2
    LCS bytes1 bytes2 IDX
    SET n 12345
    SET m 2345
    LCS n m
    APPEND raw mynewtext
    LCS a raw IDX
    SETRANGE m1 11583 x
    SETRANGE m2 11583 x
    SETRANGE m3 11584 x
    LCS m1 m2 LEN
    LCS m1 m3 LEN
    LCS m1 m2 IDX
    SETRANGE m4 20000 x
    LCS m4 m4
    LCS m4 m4 LEN
    LCS m4 m4 x
    LCS m4 m4 LEN IDX
    LCS m4 list
    LCS m4 missing LEN
    LCS m4 f LEN
    `,
  ),
  section(
    'GETRANGE and SUBSTR',
    [
      'SET k 0123456789',
      ...rangeEnds.flatMap((start) => rangeEnds.map((end) => `GETRANGE k ${start} ${end}`)),
      'SUBSTR k 2 4',
      'SUBSTR k -3 -1',
      'SUBSTR missing 0 1',
      'SUBSTR k a b',
      'SUBSTR k 1',
      'GETRANGE missing 0 -1',
      'GETRANGE k a 1',
      'GETRANGE k 1 a',
      'GETRANGE k 9223372036854775808 1',
      'GETRANGE k 9223372036854775807 -9223372036854775808',
      'GETRANGE k -9223372036854775808 9223372036854775807',
      'GETRANGE',
      'GETRANGE k',
      'GETRANGE k 1',
      'GETRANGE k 1 2 3',
      'SET e ""',
      'GETRANGE e 0 -1',
      'GETRANGE e -1 -1',
      'RPUSH l a',
      'GETRANGE l 0 1',
      'GETRANGE l a b',
      'APPEND k abc',
      'GETRANGE k 8 11',
      String.raw`SET bin "\x00\xff\x01"`,
      'GETRANGE bin 1 1',
    ].join('\n'),
  ),
  section(
    'SETRANGE',
    `
    SET k "Hello World"
    SETRANGE k 6 Redis
    GET k
    SETRANGE fresh 5 x
    GET fresh
    SETRANGE k 0 ""
    SETRANGE none 0 ""
    SETRANGE none 10 ""
    EXISTS none
    SETRANGE none 0 v
    GET none
    SETRANGE k 20 "!"
    GET k
    STRLEN k
    SETRANGE k -1 x
    SETRANGE k a x
    SETRANGE k 536870911 x2
    SETRANGE k 536870912 x
    SETRANGE k 9223372036854775807 x
    SETRANGE k 9223372036854775808 x
    SETRANGE none 536870912 ""
    SETRANGE e 536870912 x
    RPUSH l a
    SETRANGE l 0 x
    SETRANGE l 0 ""
    SETRANGE l -1 x
    SET n 12345
    SETRANGE n 1 9
    INCR n
    SET t abc EX 100
    SETRANGE t 1 x
    TTL t
    SETRANGE
    SETRANGE k
    SETRANGE k 1
    SETRANGE k 1 x y
    `,
  ),
  section(
    'INCR DECR INCRBY DECRBY',
    `
    INCR n
    INCR n
    DECR n
    DECR n
    DECR n
    INCRBY n 10
    DECRBY n 3
    INCRBY n -5
    DECRBY n -5
    GET n
    TYPE n
    SET t 5 EX 100
    INCR t
    TTL t
    RPUSH l a
    INCR l
    DECR l
    INCRBY l 1
    DECRBY l 1
    INCRBY l a
    DECRBY l a
    INCR
    INCR a b
    DECR
    DECR a b
    INCRBY
    INCRBY n
    INCRBY n 1 2
    DECRBY
    DECRBY n
    DECRBY n 1 2
    SET n 9223372036854775807
    INCR n
    GET n
    DECR n
    INCRBY n 1
    INCRBY n 1
    SET n -9223372036854775808
    DECR n
    INCR n
    DECRBY n 1
    DECRBY n 1
    DECRBY n -9223372036854775808
    INCRBY n -9223372036854775808
    SET n 9007199254740991
    INCR n
    INCR n
    INCR n
    DECRBY n 2
    GET n
    SET n -9007199254740991
    DECR n
    DECR n
    DECR n
    GET n
    `,
  ),
  section(
    'what counts as an integer',
    integers
      .flatMap((each) => [
        `SET n ${each}`,
        'INCR n',
        'DEL n',
        `INCRBY n ${each}`,
        'GET n',
        'DEL n',
        `DECRBY n ${each}`,
        'DEL n',
      ])
      .join('\n'),
  ),
  section(
    'INCRBYFLOAT',
    `
    INCRBYFLOAT f 10.5
    INCRBYFLOAT f 0.25
    GET f
    INCRBYFLOAT f -5
    INCRBYFLOAT f 5.0e3
    SET f 5.0e3
    INCRBYFLOAT f 2.0e2
    SET f 3
    INCRBYFLOAT f 1
    GET f
    INCR f
    SET f abc
    INCRBYFLOAT f 1
    SET f 1
    INCRBYFLOAT f abc
    INCRBYFLOAT f inf
    INCRBYFLOAT f nan
    SET f inf
    INCRBYFLOAT f 1
    INCRBYFLOAT f -inf
    SET t 1 EX 100
    INCRBYFLOAT t 1
    TTL t
    RPUSH l a
    INCRBYFLOAT l 1
    INCRBYFLOAT l abc
    INCRBYFLOAT
    INCRBYFLOAT f
    INCRBYFLOAT f 1 2
    `,
  ),
  section(
    'what counts as a float',
    floats
      .filter((each) => !/^0\.1$|1e308|1\.797|0\.0001|1E-3|1e20/.test(each))
      .flatMap((each) => [`SET f ${each}`, 'INCRBYFLOAT f 0', 'DEL f', `INCRBYFLOAT f ${each}`, 'DEL f'])
      .join('\n'),
  ),
  newerSection(
    'double precision',
    'store.md 3.4 and 8: INCRBYFLOAT is computed in double precision',
    `
    INCRBYFLOAT f 0.1
    = "0.1"
    INCRBYFLOAT f 0.2
    = "0.30000000000000004"
    SET f 1e20
    = +OK
    INCRBYFLOAT f 1
    = "100000000000000000000"
    SET f 1e-7
    = +OK
    INCRBYFLOAT f 0
    = "0.0000001"
    SET f 3.0e3
    = +OK
    INCRBYFLOAT f 0
    = "3000"
    SET f 1.7976931348623157e308
    = +OK
    INCRBYFLOAT f 1.7976931348623157e308
    = -ERR increment would produce NaN or Infinity
    `,
  ),
  newerSection(
    'SET IFEQ IFNE IFDEQ IFDNE',
    'store.md 7.2: SET',
    `
    SET k v IFEQ v
    = nil
    EXISTS k
    = 0
    SET k v IFNE v
    = +OK
    SET k w IFEQ x
    = nil
    SET k w IFEQ v
    = +OK
    SET k x IFNE w
    = nil
    SET k x IFNE v
    = +OK
    GET k
    = "x"
    SET k bar
    = +OK
    SET k new IFDEQ d463c860a032d363
    = nil
    SET k new IFDEQ d463c860a032d362
    = +OK
    SET none v IFDEQ d463c860a032d362
    = nil
    SET none v IFDNE d463c860a032d362
    = +OK
    SET k bar
    = +OK
    SET k new IFDNE d463c860a032d362
    = nil
    SET k new IFDNE d463c860a032d363
    = +OK
    SET k newer IFEQ new GET
    = "new"
    SET k newest IFEQ new GET
    = "newer"
    GET k
    = "newer"
    SET fresh v IFNE x GET
    = nil
    GET fresh
    = "v"
    SET k v IFEQ newer EX 100
    = +OK
    TTL k
    = 100
    SET k v IFEQ v KEEPTTL
    = +OK
    TTL k
    = 100
    SET k v ifeq v
    = +OK
    TTL k
    = -1
    SET k v NX IFEQ v
    = -ERR syntax error
    SET k v XX IFNE v
    = -ERR syntax error
    SET k v IFEQ a IFNE b
    = -ERR syntax error
    SET k v IFEQ
    = -ERR syntax error
    RPUSH l a
    = 1
    SET l v IFEQ a
    = -WRONGTYPE Operation against a key holding the wrong kind of value
    SET l v IFDNE a
    = -WRONGTYPE Operation against a key holding the wrong kind of value
    `,
  ),
  newerSection(
    'DELEX DIGEST MSETEX',
    'store.md 7.2',
    `
    DIGEST missing
    = nil
    SET e ""
    = +OK
    DIGEST e
    = "2d06800538d394c2"
    SET k bar
    = +OK
    DIGEST k
    = "d463c860a032d362"
    SET k "Hello world"
    = +OK
    DIGEST k
    = "b6acb9d84a38ff74"
    SET k {a*300}
    = +OK
    DIGEST k
    = "c1d17581d8eb7e21"
    RPUSH l a
    = 1
    DIGEST l
    = -WRONGTYPE Operation against a key holding the wrong kind of value
    DIGEST
    = -ERR wrong number of arguments for 'digest' command
    DIGEST a b
    = -ERR wrong number of arguments for 'digest' command
    SET k bar
    = +OK
    DELEX k IFEQ baz
    = 0
    DELEX k IFNE bar
    = 0
    DELEX k IFDEQ 2d06800538d394c2
    = 0
    DELEX k IFDNE d463c860a032d362
    = 0
    GET k
    = "bar"
    DELEX k IFEQ bar
    = 1
    EXISTS k
    = 0
    SET k bar
    = +OK
    DELEX k IFNE baz
    = 1
    SET k bar
    = +OK
    DELEX k IFDEQ d463c860a032d362
    = 1
    SET k bar
    = +OK
    DELEX k IFDNE 2d06800538d394c2
    = 1
    DELEX k
    = 0
    DELEX missing IFEQ v
    = 0
    DELEX missing IFNE v
    = 0
    DELEX l IFEQ a
    = -WRONGTYPE Operation against a key holding the wrong kind of value
    DELEX l
    = 1
    DELEX k IFEQ
    = -ERR syntax error
    DELEX k FOO bar
    = -ERR syntax error
    DELEX k IFEQ a IFNE b
    = -ERR syntax error
    DELEX
    = -ERR wrong number of arguments for 'delex' command
    MSETEX 2 a 1 b 2
    = 1
    MGET a b
    = ["1", "2"]
    MSETEX 2 a 3 c 4 NX
    = 0
    MSETEX 2 a 3 c 4 XX
    = 0
    EXISTS c
    = 0
    MSETEX 2 a 3 b 4 XX EX 100
    = 1
    TTL a
    = 100
    TTL b
    = 100
    MSETEX 1 a 5 KEEPTTL
    = 1
    TTL a
    = 100
    MSETEX 1 a 5
    = 1
    TTL a
    = -1
    MSETEX 2 c 1 d 2 NX PX 100000
    = 1
    TTL d
    = 100
    MSETEX 1 a 1 NX XX
    = -ERR syntax error
    MSETEX 1 a 1 EX 10 KEEPTTL
    = -ERR syntax error
    MSETEX 1 a 1 EX 10 PX 10
    = -ERR syntax error
    MSETEX 1 a 1 b
    = -ERR syntax error
    MSETEX 1 a 1 EX 0
    = -ERR invalid expire time in 'msetex' command
    MSETEX 1 a 1 EX abc
    = -ERR value is not an int or out of range
    MSETEX x a 1
    = -ERR value is not an int or out of range
    MSETEX 0 a 1
    = -ERR numkeys should be greater than 0
    MSETEX -1 a 1
    = -ERR numkeys should be greater than 0
    MSETEX 2 a 1
    = -ERR Number of keys can't be greater than number of args
    MSETEX 1 a
    = -ERR wrong number of arguments for 'msetex' command
    MSETEX
    = -ERR wrong number of arguments for 'msetex' command
    MSETEX 1 e 1 EXAT 1
    = 1
    EXISTS e
    = 0
    `,
  ),
]
