import { newerSection, type Section, section } from '../support/steps.js'

export const steps: readonly Section[] = [
  section(
    'LPUSH and RPUSH',
    `
    LPUSH l a
    LPUSH l b c d
    LRANGE l 0 -1
    RPUSH l x
    RPUSH l y z
    LRANGE l 0 -1
    LLEN l
    TYPE l
    lpush l lower
    RPUSH other ""
    LRANGE other 0 -1
    LLEN other
    RPUSH bin "\\x00\\xff\\r\\n"
    LRANGE bin 0 -1
    LPUSH
    LPUSH l
    RPUSH
    RPUSH l
    LLEN
    LLEN l l
    SET s v
    LPUSH s a
    RPUSH s a
    LLEN s
    LLEN missing
    `,
  ),
  section(
    'LPUSHX and RPUSHX',
    `
    LPUSHX l a
    RPUSHX l a b
    EXISTS l
    RPUSH l m
    LPUSHX l a b
    RPUSHX l y z
    LRANGE l 0 -1
    LPUSHX
    LPUSHX l
    RPUSHX l
    SET s v
    LPUSHX s a
    RPUSHX s a
    `,
  ),
  section(
    'LPOP and RPOP',
    `
    RPUSH l a b c d e f g
    LPOP l
    RPOP l
    LPOP l 2
    RPOP l 2
    LRANGE l 0 -1
    LPOP l 0
    RPOP l 0
    LPOP l 100
    EXISTS l
    LPOP l
    RPOP l
    LPOP l 1
    RPOP l 1
    LPOP l 0
    RPOP l 0
    RPUSH l a b c
    RPOP l 9223372036854775807
    RPUSH l a
    LPOP l -1
    RPOP l -1
    LPOP l x
    RPOP l 1.5
    LPOP l 9223372036854775808
    LPOP l ""
    LPOP missing -1
    RPOP missing x
    LPOP l 1 2
    RPOP l 1 2
    LPOP
    RPOP
    SET s v
    LPOP s
    RPOP s
    LPOP s 1
    RPOP s 0
    LPOP s -1
    LRANGE l 0 -1
    LPOP l 1
    TYPE l
    `,
  ),
  section(
    'LINDEX',
    `
    RPUSH l a b c
    LINDEX l 0
    LINDEX l 2
    LINDEX l 3
    LINDEX l -1
    LINDEX l -3
    LINDEX l -4
    LINDEX l 9223372036854775807
    LINDEX l -9223372036854775808
    LINDEX l x
    LINDEX l 1.0
    LINDEX l ""
    LINDEX l 9223372036854775808
    LINDEX missing 0
    LINDEX missing x
    LINDEX l
    LINDEX l 0 0
    SET s v
    LINDEX s 0
    LINDEX s x
    `,
  ),
  section(
    'LSET',
    `
    RPUSH l a b c
    LSET l 0 A
    LSET l -1 C
    LSET l 1 ""
    LRANGE l 0 -1
    LSET l 3 x
    LSET l -4 x
    LSET l x x
    LSET l 9223372036854775807 x
    LSET missing 0 x
    LSET missing x x
    LSET l 0
    LSET l 0 a b
    SET s v
    LSET s 0 x
    LSET s x x
    `,
  ),
  section(
    'LINSERT',
    `
    RPUSH l a b c b
    LINSERT l BEFORE b X
    LINSERT l AFTER b Y
    LRANGE l 0 -1
    linsert l before a first
    linsert l After b2 nothing
    LINSERT l AFTER nope x
    LINSERT missing BEFORE a x
    EXISTS missing
    LINSERT l MIDDLE a x
    LINSERT missing MIDDLE a x
    LINSERT l BEFORE a
    LINSERT l BEFORE a b c
    SET s v
    LINSERT s BEFORE a x
    LINSERT s NEAR a x
    LRANGE l 0 -1
    LLEN l
    `,
  ),
  section(
    'LRANGE',
    `
    RPUSH l a b c d e
    LRANGE l 0 0
    LRANGE l 1 3
    LRANGE l 3 1
    LRANGE l -3 -2
    LRANGE l -100 100
    LRANGE l 5 10
    LRANGE l 4 10
    LRANGE l -1 0
    LRANGE l 0 -6
    LRANGE l -100 -100
    LRANGE l 0 9223372036854775807
    LRANGE l -9223372036854775808 -1
    LRANGE l x 1
    LRANGE l 1 x
    LRANGE l 0 1.5
    LRANGE l 0 9223372036854775808
    LRANGE missing 0 -1
    LRANGE missing x y
    LRANGE l 0
    LRANGE l 0 1 2
    SET s v
    LRANGE s 0 -1
    LRANGE s x 1
    `,
  ),
  section(
    'LTRIM',
    `
    RPUSH l a b c d e f
    LTRIM l 1 -2
    LRANGE l 0 -1
    LTRIM l 0 100
    LRANGE l 0 -1
    LTRIM l -2 -1
    LRANGE l 0 -1
    LTRIM l 5 10
    EXISTS l
    RPUSH l a b c
    LTRIM l 2 1
    EXISTS l
    RPUSH l a b c
    LTRIM l -100 0
    LRANGE l 0 -1
    LTRIM missing 0 1
    LTRIM missing x 1
    LTRIM l x 1
    LTRIM l 0 x
    LTRIM l 0
    LTRIM l 0 1 2
    SET s v
    LTRIM s 0 1
    LTRIM s x 1
    `,
  ),
  section(
    'LREM',
    `
    RPUSH l a b a c a d a
    LREM l 2 a
    LRANGE l 0 -1
    LREM l -1 a
    LRANGE l 0 -1
    LREM l 0 a
    LRANGE l 0 -1
    LREM l 0 nope
    RPUSH l x x x
    LREM l -2 x
    LRANGE l 0 -1
    LREM l 100 x
    LREM l 0 b
    LREM l 0 c
    LREM l 0 d
    EXISTS l
    LREM missing 0 a
    LREM missing x a
    RPUSH l a
    LREM l x a
    LREM l 1.5 a
    LREM l 0
    LREM l 0 a b
    LREM l -9223372036854775808 a
    EXISTS l
    SET s v
    LREM s 0 a
    LREM s x a
    `,
  ),
  section(
    'LPOS',
    `
    RPUSH l a b c 1 2 3 c c
    LPOS l a
    LPOS l c
    LPOS l nope
    LPOS l c RANK 1
    LPOS l c RANK 2
    LPOS l c RANK 3
    LPOS l c RANK 4
    LPOS l c RANK -1
    LPOS l c RANK -2
    LPOS l c RANK -3
    LPOS l c RANK -4
    LPOS l c COUNT 0
    LPOS l c COUNT 1
    LPOS l c COUNT 2
    LPOS l c COUNT 10
    LPOS l nope COUNT 0
    LPOS l nope COUNT 2
    LPOS l c COUNT 2 RANK 2
    LPOS l c COUNT 0 RANK 2
    LPOS l c COUNT 2 RANK -1
    LPOS l c COUNT 0 RANK -2
    LPOS l c COUNT 10 RANK -4
    LPOS l c MAXLEN 2
    LPOS l c MAXLEN 3
    LPOS l c MAXLEN 0
    LPOS l c MAXLEN 1000
    LPOS l c COUNT 0 MAXLEN 7
    LPOS l c COUNT 0 MAXLEN 3 RANK -1
    LPOS l a COUNT 0 MAXLEN 3 RANK -1
    lpos l c rank 2 count 5 maxlen 8
    LPOS l c RANK 0
    LPOS l c RANK x
    LPOS l c RANK -9223372036854775808
      = -ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807 because redis src: versions after 7.0 refuse the number that has no opposite
    LPOS l c RANK 9223372036854775807
    LPOS l c COUNT -1
    LPOS l c COUNT x
    LPOS l c MAXLEN -1
    LPOS l c MAXLEN x
    LPOS l c RANK
    LPOS l c COUNT
    LPOS l c MAXLEN
    LPOS l c FOO 1
    LPOS l c RANK 1 FOO
    LPOS l c RANK 1 COUNT
    LPOS l c RANK 0 FOO 1
    LPOS missing c
    LPOS missing c COUNT 0
    LPOS missing c COUNT 1
    LPOS missing c RANK 0
    LPOS missing c FOO 1
    LPOS l
    SET s v
    LPOS s c
    LPOS s c COUNT 1
    LPOS s c RANK 0
    `,
  ),
  section(
    'LMOVE',
    `
    RPUSH a 1 2 3
    LMOVE a b LEFT LEFT
    LMOVE a b RIGHT LEFT
    LRANGE a 0 -1
    LRANGE b 0 -1
    LMOVE b a LEFT RIGHT
    LMOVE b a right right
    LRANGE a 0 -1
    EXISTS b
    LMOVE a a LEFT RIGHT
    LRANGE a 0 -1
    LMOVE a a RIGHT LEFT
    LMOVE a a LEFT LEFT
    LMOVE a a RIGHT RIGHT
    LRANGE a 0 -1
    LMOVE missing b LEFT LEFT
    EXISTS b
    LMOVE a b UP LEFT
    LMOVE a b LEFT UP
    LMOVE missing b UP LEFT
    LMOVE a b LEFT
    LMOVE a b LEFT LEFT LEFT
    SET s v
    LMOVE s b LEFT LEFT
    LMOVE a s LEFT LEFT
    LMOVE missing s LEFT LEFT
    LRANGE a 0 -1
    RPUSH one x
    LMOVE one one LEFT RIGHT
    LRANGE one 0 -1
    LMOVE one two LEFT RIGHT
    EXISTS one two
    `,
  ),
  section(
    'RPOPLPUSH',
    `
    RPUSH a 1 2 3
    RPOPLPUSH a b
    RPOPLPUSH a b
    LRANGE b 0 -1
    RPOPLPUSH a b
    EXISTS a
    RPOPLPUSH a b
    RPOPLPUSH b b
    LRANGE b 0 -1
    RPOPLPUSH missing other
    EXISTS other
    RPOPLPUSH a
    RPOPLPUSH a b c
    SET s v
    RPOPLPUSH s b
    RPOPLPUSH b s
    RPOPLPUSH missing s
    LRANGE b 0 -1
    `,
  ),
  section(
    'LMPOP',
    `
    RPUSH a 1 2 3 4 5
    RPUSH b x y z
    LMPOP 1 a LEFT
    LMPOP 1 a RIGHT
    LMPOP 2 missing a LEFT COUNT 2
    LRANGE a 0 -1
    LMPOP 2 a b LEFT COUNT 10
    EXISTS a
    LMPOP 2 a b RIGHT COUNT 2
    LMPOP 2 a b right count 1
    EXISTS b
    LMPOP 2 a b LEFT
    LMPOP 1 missing LEFT COUNT 3
    RPUSH a 1
    LMPOP 0 a LEFT
    LMPOP -1 a LEFT
    LMPOP x a LEFT
    LMPOP 2 a LEFT
    LMPOP 3 a b LEFT
    LMPOP 9223372036854775807 a LEFT
    LMPOP 1 a
    LMPOP 1
    LMPOP
    LMPOP 1 a UP
    LMPOP 1 a LEFT COUNT
    LMPOP 1 a LEFT COUNT 0
    LMPOP 1 a LEFT COUNT -1
    LMPOP 1 a LEFT COUNT x
    LMPOP 1 a LEFT COUNT 1 COUNT 2
    LMPOP 1 a LEFT FOO 1
    LMPOP 1 a LEFT FOO
    LMPOP 1 a b LEFT
    LRANGE a 0 -1
    SET s v
    LMPOP 1 s LEFT
    LMPOP 2 s a LEFT
    LMPOP 2 a s LEFT
    LMPOP 2 missing s LEFT
    `,
  ),
  section(
    'lists keep their deadline, and lose it with their last element',
    `
    RPUSH l a b
    EXPIRE l 100
    RPUSH l c
    LPOP l
    LSET l 0 x
    TTL l
    LTRIM l 5 9
    RPUSH l a
    TTL l
    `,
  ),
  section(
    'many elements',
    `
    RPUSH l 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40
    LPUSH l -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12 -13 -14 -15 -16 -17 -18 -19 -20 {long*3000}
    LLEN l
    LINDEX l 0
    LINDEX l 30
    LINDEX l -30
    LINSERT l AFTER 20 between
    LINSERT l BEFORE -15 between
    LPOS l between COUNT 0
    LREM l 0 between
    LRANGE l 10 25
    LTRIM l 20 40
    LRANGE l 0 -1
    LPOP l 30
    LLEN l
    `,
  ),
  newerSection(
    'commands that would block',
    'store.md 7.4: not supported over REST, answered like an unknown command',
    `
    RPUSH l a
      = 1
    BLPOP l 0
      = -ERR Command is not available: 'BLPOP'. See https://docs.test/redis/overall/rediscompatibility for details
    brpop l 0
      = -ERR Command is not available: 'BRPOP'. See https://docs.test/redis/overall/rediscompatibility for details
    BRPOPLPUSH l m 0
      = -ERR Command is not available: 'BRPOPLPUSH'. See https://docs.test/redis/overall/rediscompatibility for details
    BLMOVE l m LEFT RIGHT 0
      = -ERR Command is not available: 'BLMOVE'. See https://docs.test/redis/overall/rediscompatibility for details
    BLMPOP 0 1 l LEFT
      = -ERR Command is not available: 'BLMPOP'. See https://docs.test/redis/overall/rediscompatibility for details
    BZPOPMIN z 0
      = -ERR Command is not available: 'BZPOPMIN'. See https://docs.test/redis/overall/rediscompatibility for details
    BZPOPMAX z 0
      = -ERR Command is not available: 'BZPOPMAX'. See https://docs.test/redis/overall/rediscompatibility for details
    BZMPOP 0 1 z MIN
      = -ERR Command is not available: 'BZMPOP'. See https://docs.test/redis/overall/rediscompatibility for details
    `,
  ),
]
