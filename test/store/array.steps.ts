import { newerSection, type Section } from '../support/steps.js'

// Redis-server 7.0 has no arrays. Each worked example of the fact sheet begins with an empty store.

/** The worked examples of array.md 9. The source names the test suite of an SDK or of redis-server. */
export const examples: readonly Section[] = [
  newerSection(
    'example 1',
    'array.md 9: redis-py and redis-js tests',
    `
    ARSET k 0 a b
      = 2
    ARSET k 1 B c
      = 1
    ARGETRANGE k 0 2
      = ["a", "B", "c"]
    ARGETRANGE k 0 3
      = ["a", "B", "c", nil]
    ARGETRANGE k 2 0
      = ["c", "B", "a"]
    ARSET k 7 seven
      = 1
    ARGET k 7
      = "seven"
    ARGET k 5
      = nil
    ARGET none 0
      = nil
    TYPE k
      = +array
    ARSET k 0
      = -ERR wrong number of arguments for 'arset' command
    `,
  ),
  newerSection(
    'example 2',
    'array.md 9: redis-py and redis-js tests',
    `
    ARMSET k 0 a 100 b
      = 2
    ARMSET k 100 B
      = 0
    ARMSET k 100 B 5 c
      = 1
    ARMGET k 100 50 0
      = ["B", nil, "a"]
    ARMGET none 0 1
      = [nil, nil]
    ARCOUNT k
      = 3
    ARLEN k
      = 101
    ARMSET k 0
      = -ERR wrong number of arguments for 'armset' command
    `,
  ),
  newerSection(
    'example 3',
    'array.md 9: redis-py and redis-js tests',
    `
    ARMSET k 10 a 1000 b 5000 c
      = 3
    ARSCAN k 0 10000
      = [[10, "a"], [1000, "b"], [5000, "c"]]
    ARSCAN k 0 10000 LIMIT 2
      = [[10, "a"], [1000, "b"]]
    ARSCAN k 0 10000 LIMIT 0
      = -ERR LIMIT must be positive
    ARSCAN none 0 10
      = []
    `,
  ),
  newerSection(
    'example 4',
    'array.md 9: redis-js tests',
    `
    ARSET k 0 "error: disk" ok "ERROR: net" apricot
      = 4
    ARGREP k - + MATCH error
      = [0]
    ARGREP k - + MATCH error NOCASE
      = [0, 2]
    ARGREP k - + EXACT ok EXACT apricot
      = [1, 3]
    ARGREP k - + RE ^[a-z]+$ WITHVALUES
      = [[1, "ok"], [3, "apricot"]]
    ARGREP k - + GLOB a* MATCH cot AND WITHVALUES
      = [[3, "apricot"]]
    ARGREP k - + MATCH o LIMIT 1
      = [0]
    ARGREP k - +
      = -ERR syntax error
    ARGREP k 1 2 MATCH o
      = [1]
    `,
  ),
  newerSection(
    'example 5',
    'array.md 9: redis-py tests',
    `
    ARSET k 0 apple apricot banana
      = 3
    ARGREP k - + GLOB a* MATCH cot AND
      = [1]
    ARGREP k - + GLOB a*
      = [0, 1]
    ARGREP k - + GLOB A* NOCASE
      = [0, 1]
    `,
  ),
  newerSection(
    'example 6',
    'array.md 9: redis-py and redis-js tests',
    `
    ARSET k 0 a b c d e
      = 5
    ARDEL k 1 1 99
      = 1
    ARCOUNT k
      = 4
    ARLEN k
      = 5
    ARDELRANGE k 0 2 4 4
      = 3
    ARCOUNT k
      = 1
    ARGET k 3
      = "d"
    ARDEL k 3
      = 1
    EXISTS k
      = 0
    ARDEL none 0
      = 0
    ARDELRANGE none 0 5
      = 0
    ARDELRANGE k 0
      = -ERR wrong number of arguments for 'ardelrange' command
    `,
  ),
  newerSection(
    'example 7',
    'array.md 9: redis-py and redis-js tests',
    `
    ARNEXT none
      = 0
    ARINSERT k a b
      = 1
    ARINSERT k c
      = 2
    ARNEXT k
      = 3
    ARDEL k 2
      = 1
    ARSET k 50 x
      = 1
    ARINSERT k d
      = 3
    ARLEN k
      = 51
    `,
  ),
  newerSection(
    'example 8',
    'array.md 9: redis-py and redis-js tests',
    `
    ARINSERT k a b c
      = 2
    ARSEEK k 10
      = 1
    ARNEXT k
      = 10
    ARINSERT k z
      = 10
    ARSEEK none 5
      = 0
    EXISTS none
      = 0
    ARSEEK k 0
      = 1
    ARNEXT k
      = 0
    `,
  ),
  newerSection(
    'example 9',
    'array.md 9: redis-py and redis-js tests',
    `
    ARRING k 3 a b c
      = 2
    ARRING k 3 d
      = 0
    ARLASTITEMS k 3
      = ["b", "c", "d"]
    ARLASTITEMS k 3 REV
      = ["d", "c", "b"]
    ARCOUNT k
      = 3
    ARNEXT k
      = 1
    ARRING k 0 x
      = -ERR size must be positive
    `,
  ),
  newerSection(
    'example 10',
    'array.md 9: redis-js tests',
    `
    ARRING k 5 0 1 2 3 4 5 6 7 8 9
      = 4
    ARGETRANGE k 0 4
      = ["5", "6", "7", "8", "9"]
    `,
  ),
  newerSection(
    'example 11',
    'array.md 9: redis tests',
    `
    ARRING k 5 v0 v1 v2 v3 v4 v5 v6 v7
      = 2
    ARGETRANGE k 0 4
      = ["v5", "v6", "v7", "v3", "v4"]
    ARRING k 8 grown
      = 5
    ARGETRANGE k 0 5
      = ["v3", "v4", "v5", "v6", "v7", "grown"]
    ARNEXT k
      = 6
    `,
  ),
  newerSection(
    'example 12',
    'array.md 9: redis tests',
    `
    ARRING k 10 v0 v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 v11 v12 v13 v14
      = 4
    ARRING k 5 new
      = 0
    ARGETRANGE k 0 4
      = ["new", "v11", "v12", "v13", "v14"]
    ARCOUNT k
      = 5
    `,
  ),
  newerSection(
    'example 13',
    'array.md 9: redis tests',
    `
    ARRING k 5 v0 v1 v2 v3 v4
      = 4
    ARDEL k 3
      = 1
    ARRING k 3 new
      = 1
    ARGETRANGE k 0 2
      = ["v4", "new", nil]
    `,
  ),
  newerSection(
    'example 14',
    'array.md 9: redis tests',
    `
    ARRING k 3 r0 r1 r2 r3 r4
      = 1
    ARSEEK k 0
      = 1
    ARRING k 8 grown
      = 0
    ARGETRANGE k 0 2
      = ["grown", "r4", "r2"]
    ARNEXT k
      = 1
    `,
  ),
  newerSection(
    'example 15',
    'array.md 9: redis tests',
    `
    ARRING k 3 r0 r1 r2 r3 r4
      = 1
    ARSET k 100 out
      = 1
    ARRING k 3 r5
      = 0
    ARCOUNT k
      = 3
    ARGET k 100
      = nil
    `,
  ),
  newerSection(
    'example 16',
    'array.md 9: redis tests',
    `
    ARINSERT k a b c d e
      = 4
    ARDEL k 1
      = 1
    ARLASTITEMS k 10
      = ["a", nil, "c", "d", "e"]
    ARDEL k 4
      = 1
    ARLASTITEMS k 10
      = ["a", nil, "c", "d"]
    ARLASTITEMS none 5
      = []
    `,
  ),
  newerSection(
    'example 17',
    'array.md 9: redis tests',
    `
    ARSET k 0 a
      = 1
    ARSET k 2000000 b
      = 1
    ARLASTITEMS k 2
      = [nil, "b"]
    ARLASTITEMS k 1000001
      = -ERR count exceeds maximum of 1000000 items
    ARGETRANGE k 0 1000000
      = -ERR range exceeds maximum of 1000000 items
    `,
  ),
  newerSection(
    'example 18',
    'array.md 9: redis-py and redis-js tests',
    `
    ARSET k 0 1 2 x 4
      = 4
    AROP k 0 3 SUM
      = "7"
    AROP k 0 3 MIN
      = "1"
    AROP k 0 3 MAX
      = "4"
    AROP k 0 3 USED
      = 4
    AROP k 0 3 MATCH x
      = 1
    AROP k 2 2 SUM
      = nil
    AROP k 50 60 USED
      = 0
    AROP k 0 1 XOR
      = 3
    AROP k 0 3 MATCH
      = -ERR MATCH requires a value argument
    AROP k 0 3 SUM x
      = -ERR wrong number of arguments for 'arop' command
    AROP k 0 3 AVG
      = -ERR unknown operation
    `,
  ),
  newerSection(
    'example 19',
    'array.md 9: redis-py tests',
    `
    ARSET k 0 1 2 x 4.5
      = 4
    AROP k 0 3 SUM
      = "7.5"
    `,
  ),
  newerSection(
    'example 20',
    'array.md 9: redis tests',
    `
    ARSET k 0 7.9 3.2 1.8
      = 3
    AROP k 0 2 AND
      = 1
    AROP k 0 2 OR
      = 7
    AROP k 0 2 XOR
      = 5
    `,
  ),
  newerSection(
    'example 21',
    'array.md 9: redis tests',
    `
    ARSET k 0 10.0 20.0 30.0
      = 3
    AROP k 0 2 SUM
      = "60"
    ARGET k 0
      = "10.0"
    AROP k 0 2 MATCH 10.0
      = 1
    `,
  ),
  newerSection(
    'example 22',
    'array.md 9: redis-py and redis-js tests',
    `
    ARSET k 18446744073709551613 x
      = 1
    ARLEN k
      = "18446744073709551614"
    ARSEEK k 18446744073709551613
      = 1
    ARINSERT k y
      = "18446744073709551613"
    ARINSERT k z
      = "18446744073709551614"
    ARNEXT k
      = nil
    ARINSERT k q
      = -ERR insert index overflow
    ARSET k 18446744073709551615 x
      = -ERR invalid array index
    ARSET k -1 x
      = -ERR invalid array index
    `,
  ),
  newerSection(
    'example 23',
    'array.md 9: redis tests',
    `
    SET s v
      = +OK
    ARGET s 0
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    ARLEN s
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    ARINFO none
      = -ERR no such key
    `,
  ),
  newerSection(
    'example 24',
    'array.md 9: redis-py tests',
    `
    ARINSERT k a b c
      = 2
    ARINFO k
      = ["count", 3, "len", 3, "next-insert-index", 3, "slices", 1, "directory-size", 1, "super-dir-entries", 0, "slice-size", 4096]
    `,
  ),
]

/** Errors and rules of array.md 2 to 6 that the worked examples do not have. */
const errors: readonly Section[] = [
  newerSection(
    'indexes',
    'array.md 1, 6',
    `
    ARSET k 01 a
      = 1
    ARGET k 1
      = "a"
    ARSET k 18446744073709551614 a b
      = -ERR invalid array index
    ARSET k +1 a
      = -ERR invalid array index
    ARSET k 1.0 a
      = -ERR invalid array index
    ARSET k "" a
      = -ERR invalid array index
    ARSET k " 1" a
      = -ERR invalid array index
    ARMSET k 5 a x b
      = -ERR invalid array index
    ARCOUNT k
      = 1
    ARDEL none x
      = -ERR invalid array index
    ARDELRANGE none 0 x
      = -ERR invalid array index
    ARGET none x
      = -ERR invalid array index
    ARSEEK k 18446744073709551616
      = -ERR invalid array index
    ARSEEK k 18446744073709551615
      = 1
    ARNEXT k
      = nil
    ARINSERT k a
      = -ERR insert index overflow
    ARINFO k
      = ["count", 1, "len", 2, "next-insert-index", "18446744073709551615", "slices", 1, "directory-size", 1, "super-dir-entries", 0, "slice-size", 4096]
    ARRING k 5 b
      = 0
    ARSEEK k 18446744073709551613
      = 1
    ARINSERT k c d e
      = -ERR insert index overflow
    ARCOUNT k
      = 2
    SET s v
      = +OK
    ARSET s x v
      = -ERR invalid array index
    ARGET s x
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    ARMGET s x
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    GET k
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    `,
  ),
  newerSection(
    'numbers of arguments',
    'array.md 6',
    `
    ARGET k
      = -ERR wrong number of arguments for 'arget' command
    ARGET k 0 1
      = -ERR wrong number of arguments for 'arget' command
    ARMSET k 0 a 1
      = -ERR wrong number of arguments for 'armset' command
    ARDELRANGE k 0 1 2
      = -ERR wrong number of arguments for 'ardelrange' command
    ARGREP k -
      = -ERR wrong number of arguments for 'argrep' command
    ARINSERT k
      = -ERR wrong number of arguments for 'arinsert' command
    ARRING k 3
      = -ERR wrong number of arguments for 'arring' command
    ARCOUNT
      = -ERR wrong number of arguments for 'arcount' command
    AROP k 0 1
      = -ERR wrong number of arguments for 'arop' command
    AROP k 0 1 MATCH a b
      = -ERR wrong number of arguments for 'arop' command
    AROP k 0 1 avg x
      = -ERR unknown operation
    ARINFO k FULL x
      = -ERR syntax error
    ARINFO k SOME
      = -ERR syntax error
    ARSCAN k 0 1 LIMIT
      = -ERR syntax error
    ARSCAN k 0 1 COUNT 5
      = -ERR syntax error
    ARSCAN k 0 1 LIMIT -1
      = -ERR LIMIT must be positive
    ARLASTITEMS k x
      = -ERR invalid COUNT
    ARLASTITEMS k 1 REVERSE
      = -ERR syntax error
    ARLASTITEMS k 0
      = []
    ARLASTITEMS k -5
      = []
    ARRING k x a
      = -ERR invalid size
    ARRING k -1 a
      = -ERR size must be positive
    EXISTS k
      = 0
    `,
  ),
  newerSection(
    'ARGREP',
    'array.md 3',
    `
    ARSET k 0 foo bar "foo bar" Bar ""
      = 5
    argrep k + - match BAR nocase
      = [3, 2, 1]
    ARGREP k 3 1 MATCH bar LIMIT 1
      = [2]
    ARGREP k - + MATCH ""
      = [0, 1, 2, 3, 4]
    ARGREP k - + EXACT ""
      = [4]
    ARGREP k - + RE foo|bar
      = [0, 1, 2]
    ARGREP k - + LIMIT 1 AND MATCH foo WITHVALUES MATCH bar OR AND
      = [[2, "foo bar"]]
    ARGREP k - + LIMIT 1 LIMIT 3 MATCH o MATCH a
      = [0, 1, 2]
    ARGREP k - + AND MATCH foo MATCH bar OR
      = [0, 1, 2]
    ARGREP k - 18446744073709551614 GLOB ?ar
      = [1, 3]
    ARGREP k - + GLOB [A-C]* NOCASE
      = [1, 3]
    ARGREP k - + RE ^[[:upper:]]
      = [3]
    ARGREP k - + RE ^[[:alpha:]]{3}$ WITHVALUES
      = [[0, "foo"], [1, "bar"], [3, "Bar"]]
    ARGREP k - + RE (
      = -ERR invalid regular expression: Missing ')'
    ARGREP k - + RE (a)\\1
      = -ERR regular expression backreferences are not supported
    ARGREP k - + RE ""
      = -ERR regular expression is empty
    ARGREP k - + RE {x*2049}
      = -ERR regular expression is too long, maximum is 2048 bytes
    ARGREP k - + RE {x*2048}
      = []
    ARGREP k - + LIMIT 0 MATCH a
      = -ERR LIMIT must be positive
    ARGREP k - + MATCH
      = -ERR syntax error
    ARGREP k - + NOCASE
      = -ERR syntax error
    ARGREP k - + RANGE 1 2
      = -ERR syntax error
    ARGREP k - x MATCH a
      = -ERR invalid array index
    ARGREP none - + MATCH a
      = []
    ARGREP none - + RE (
      = -ERR invalid regular expression: Missing ')'
    `,
  ),
  newerSection(
    'ARDELRANGE and AROP',
    'array.md 5, 9',
    `
    ARSET k 0 0 1 2 3 4 5 6 7 8 9
      = 10
    ARDELRANGE k 6 2
      = 5
    AROP k 18446744073709551614 0 SUM
      = "25"
    ARSET k 100 inf nan 1e2 0x10 -0.5
      = 5
    AROP k 100 104 SUM
      = "115.5"
    AROP k 100 104 MIN
      = "-0.5"
    AROP k 100 104 OR
      = 116
    ARSET k 200 9223372036854775807 -1 9223372036854775809
      = 3
    AROP k 200 201 AND
      = 9223372036854775807
    AROP k 201 202 XOR
      = -9223372036854775808
    AROP k 200 202 used
      = 3
    AROP none 0 5 SUM
      = nil
    AROP none 0 5 USED
      = 0
    AROP none 0 5 MATCH x
      = 0
    `,
  ),
  newerSection(
    'OBJECT ENCODING, MEMORY USAGE and SCAN',
    'array.md 7',
    `
    ARSET k 0 a b
      = 2
    OBJECT ENCODING k
      = "sliced-array"
    SCAN 0 TYPE array
      = ["0", ["k"]]
    SCAN 0 TYPE list
      = ["0", []]
    MEMORY USAGE k
      = 83
    EXPIRE k 100
      = 1
    ARSET k 0 c
      = 0
    TTL k
      = 100
    `,
  ),
]

export const steps: readonly Section[] = [...examples, ...errors]
