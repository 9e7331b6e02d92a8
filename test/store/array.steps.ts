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
