import type { Case } from '../case.js'
import { cases } from '../command-cases.js'

export const hashCases: readonly Case[] = cases(
  'hash',
  `
  # fields
  HSET @h a 1 b 2
  HSET @h a 3 c 4
  HSETNX @h a 9
  HSETNX @h d 5
  HMSET @h e 6
  HGET @h a
  HGET @h none
  HGET @missing a
  HMGET @h a none b
  ~pairs HGETALL @h
  HGETALL @missing
  ~unordered HKEYS @h
  ~unordered HVALS @h
  HLEN @h
  HSTRLEN @h a
  HEXISTS @h a
  HEXISTS @h none
  HDEL @h a none
  HDEL @missing a
  HSET @h a
  HSET @h
  HGET @h
  HDEL @h
  HMGET @h
  SET @s v
  HSET @s a 1
  HGETALL @s
  # counters
  HINCRBY @h n 5
  HINCRBY @h n -7
  HSET @h text abc
  HINCRBY @h text 1
  HINCRBY @h n abc
  HSET @h big 9223372036854775807
  HINCRBY @h big 1
  HINCRBYFLOAT @h f 1.5
  HINCRBYFLOAT @h f 0.1
  HINCRBYFLOAT @h text 1
  HINCRBYFLOAT @h f abc
  HINCRBYFLOAT @h f inf
  HINCRBY @h n
  # random members and scans
  HSET @h a 1 b 2 c 3
  ~shape HRANDFIELD @h
  ~unordered HRANDFIELD @h 3
  ~pairs HRANDFIELD @h 3 WITHVALUES
  ~shape HRANDFIELD @h -5
  HRANDFIELD @missing
  HRANDFIELD @missing 2
  HRANDFIELD @h abc
  HSCAN @h 0 COUNT 100 MATCH a
  HSCAN @missing 0
  HSCAN @h 0 MATCH a NOVALUES
  HSCAN @h abc
  HSCAN @h 0 FOO
  # expiration of fields
  HSET @h a 1 b 2 c 3
  HEXPIRE @h 100 FIELDS 2 a none
  ~near HTTL @h FIELDS 3 a b none
  ~nearms HPTTL @h FIELDS 1 a
  HPEXPIRE @h 100000 NX FIELDS 1 a
  HPEXPIRE @h 200000 GT FIELDS 1 a
  HEXPIREAT @h {now+500} FIELDS 1 b
  ~near HEXPIRETIME @h FIELDS 1 b
  HPEXPIREAT @h {ms+500000} FIELDS 1 b
  ~nearms HPEXPIRETIME @h FIELDS 1 b
  HPERSIST @h FIELDS 3 a c none
  HTTL @missing FIELDS 1 a
  HEXPIRE @h 0 FIELDS 1 c
  HEXISTS @h c
  HEXPIRE @h abc FIELDS 1 a
  HEXPIRE @h -1 FIELDS 1 a
  HEXPIRE @h 10 FIELDS 2 a
  HEXPIRE @h 10 FIELDS 0 a
  HEXPIRE @h 10 FOO 1 a
  HEXPIRE @h 10 NX XX FIELDS 1 a
  HTTL @h FIELDS 0 a
  HTTL @h
  # fields with expiration in one command
  HSETEX @h EX 100 FIELDS 2 a 1 b 2
  ~near HTTL @h FIELDS 2 a b
  HSETEX @h FNX FIELDS 1 a 9
  HSETEX @h FXX KEEPTTL FIELDS 1 a 9
  HSETEX @h FNX FXX FIELDS 1 a 9
  HSETEX @h EX 10 KEEPTTL FIELDS 1 a 1
  HGETEX @h EX 50 FIELDS 2 a none
  HGETEX @h PERSIST FIELDS 1 a
  HTTL @h FIELDS 1 a
  HGETDEL @h FIELDS 2 a none
  HEXISTS @h a
  HGETDEL @h FIELDS 0 a
  HGETDEL @missing FIELDS 1 a
  HSETEX @h
  HGETEX @h
  HGETDEL @h
`,
)

export const listCases: readonly Case[] = cases(
  'list',
  `
  # both ends
  RPUSH @l a b c
  LPUSH @l z
  RPUSHX @l d
  LPUSHX @missing x
  RPUSHX @missing x
  LPUSHX @l y
  LRANGE @l 0 -1
  LLEN @l
  LLEN @missing
  LPOP @l
  RPOP @l
  LPOP @l 2
  RPOP @l 0
  LPOP @missing
  LPOP @missing 2
  RPOP @l 100
  EXISTS @l
  LPOP @l -1
  LPUSH @l
  RPUSH
  LPOP
  SET @s v
  RPUSH @s a
  LRANGE @s 0 -1
  LLEN @s
  # indexes
  RPUSH @l a b c a b
  LINDEX @l 1
  LINDEX @l -1
  LINDEX @l 99
  LSET @l 0 x
  LSET @l 99 x
  LSET @missing 0 x
  LINSERT @l BEFORE c new
  LINSERT @l AFTER none new
  LINSERT @missing BEFORE a b
  LINSERT @l FOO a b
  LREM @l 1 b
  LREM @l 0 none
  LTRIM @l 1 3
  LRANGE @l 0 -1
  LRANGE @l 5 10
  LRANGE @l a 1
  LINDEX @l abc
  LREM @l abc b
  LTRIM @l 0
  # searching
  RPUSH @l a b c a b a
  LPOS @l a
  LPOS @l a RANK 2
  LPOS @l a RANK -1
  LPOS @l a COUNT 0
  LPOS @l a COUNT 2 MAXLEN 4
  LPOS @l none
  LPOS @l none COUNT 0
  LPOS @l a RANK 0
  LPOS @l a COUNT -1
  LPOS @l a MAXLEN -1
  LPOS @l a FOO 1
  # from list to list
  RPUSH @l a b c
  LMOVE @l @m LEFT RIGHT
  LMOVE @l @m RIGHT LEFT
  RPOPLPUSH @l @m
  LMOVE @l @m LEFT LEFT
  LRANGE @m 0 -1
  LMOVE @m @m LEFT RIGHT
  LMOVE @m @l UP DOWN
  LMPOP 2 @l @m LEFT
  LMPOP 2 @l @m RIGHT COUNT 5
  LMPOP 1 @missing LEFT
  LMPOP 0 @m LEFT
  LMPOP 1 @m UP
  LMPOP 1 @m LEFT COUNT 0
  LMPOP abc @m LEFT
  RPOPLPUSH @l
`,
)

export const setCases: readonly Case[] = cases(
  'set',
  `
  # members
  SADD @s a b c
  SADD @s a d
  SCARD @s
  SCARD @missing
  SISMEMBER @s a
  SISMEMBER @s none
  SMISMEMBER @s a none b
  ~unordered SMEMBERS @s
  SMEMBERS @missing
  SREM @s a none
  SMOVE @s @t b
  SMOVE @s @t none
  SADD @s
  SISMEMBER @s
  SET @str v
  SADD @str a
  SMEMBERS @str
  # random members and scans
  SADD @s a b c
  ~shape SRANDMEMBER @s
  ~unordered SRANDMEMBER @s 5
  ~shape SRANDMEMBER @s -5
  SRANDMEMBER @missing
  SRANDMEMBER @missing 3
  SRANDMEMBER @s abc
  SSCAN @s 0 MATCH a COUNT 100
  SSCAN @missing 0
  SSCAN @s abc
  ~unordered SPOP @s 3
  SPOP @s
  SPOP @missing 2
  SPOP @s -1
  # several sets
  SADD @a 1 2 3
  SADD @b 2 3 4
  ~unordered SINTER @a @b
  ~unordered SUNION @a @b
  ~unordered SDIFF @a @b
  SINTER @a @missing
  SINTERSTORE @r @a @b
  SUNIONSTORE @r @a @b
  SDIFFSTORE @r @a @b
  ~unordered SMEMBERS @r
  SINTERCARD 2 @a @b
  SINTERCARD 2 @a @b LIMIT 1
  SDIFFCARD 2 @a @b
  SUNIONCARD 2 @a @b
  SUNIONCARD 2 @a @b LIMIT 2
  SINTERCARD 0 @a
  SINTERCARD 5 @a
  SINTERCARD 1 @a LIMIT -1
  SINTERCARD abc @a
  SINTER
  SET @str v
  SINTER @a @str
  SINTERSTORE @r
`,
)
