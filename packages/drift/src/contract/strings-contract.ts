import type { Case } from '../case.js'
import { cases } from '../command-cases.js'

export const stringCases: readonly Case[] = cases(
  'string',
  `
  # GET and SET
  SET @k v
  GET @k
  GET @missing
  SET @k ""
  GET @k
  SET @ü "wörld ☃"
  GET @ü
  set @k mixed
  SET @k v NX
  SET @new v XX
  SET @k w GET
  SET @k x EX 100
  ~near TTL @k
  SET @k y KEEPTTL
  ~near TTL @k
  SET @k z EXAT {now+1000}
  ~near TTL @k
  SET @k z PXAT {ms+100000}
  ~nearms PTTL @k
  SET @k z PX 60000 GET
  RPUSH @l a
  SET @l v GET
  SET @l v
  TYPE @l
  GET
  GET @a @b
  SET @k
  SET @k v FOO
  SET @k v EX
  SET @k v EX 0
  SET @k v EX -1
  SET @k v EX abc
  SET @k v NX XX
  SET @k v EX 10 PX 10
  # conditions on values
  SET @k one
  SET @k two IFEQ one
  SET @k three IFEQ one
  SET @k three IFNE one
  GET @k
  DIGEST @k
  SET @k four IFDEQ 0000000000000000
  SET @k four IFDNE 0000000000000000
  SET @none v IFNE x
  DIGEST @missing
  SET @d bar
  DIGEST @d
  DELEX @k IFEQ five
  DELEX @k IFEQ four
  DELEX @d IFDEQ d463c860a032d362
  DELEX @d
  RPUSH @l a
  DIGEST @l
  DELEX @l IFEQ a
  DELEX @l
  DELEX
  DIGEST
  # several at once
  MSET @a 1 @b 2
  MGET @a @b @missing
  MSETNX @b 3 @c 4
  MSETNX @c 4 @d 5
  MGET @a @b @c @d
  MSETEX 2 @a 1 @e 2 EX 100
  MSETEX 2 @a 1 @f 2 NX
  MGET @a @e @f
  MSET @a
  MSET @a 1 @b
  MSETNX @a
  MGET
  RPUSH @l x
  MGET @a @l
  # parts
  SET @k "Hello world"
  STRLEN @k
  STRLEN @missing
  APPEND @k "!"
  APPEND @new abc
  GETRANGE @k 0 4
  GETRANGE @k -6 -1
  GETRANGE @k 5 2
  GETRANGE @missing 0 -1
  SETRANGE @k 6 Redis
  GET @k
  SETRANGE @pad 5 x
  STRLEN @pad
  SETRANGE @k -1 x
  SETRANGE @k 536870912 x
  GETRANGE @k a 1
  GETRANGE @k 0
  APPEND @k
  RPUSH @l a
  APPEND @l b
  STRLEN @l
  GETRANGE @l 0 1
  # counters
  INCR @n
  INCR @n
  INCRBY @n 10
  DECR @n
  DECRBY @n 5
  GET @n
  INCRBY @n -100
  SET @big 9223372036854775807
  INCR @big
  SET @min -9223372036854775808
  DECR @min
  DECRBY @n -9223372036854775808
  SET @text abc
  INCR @text
  INCRBY @n abc
  INCRBY @n 1.5
  INCR
  INCRBY @n
  RPUSH @l a
  INCR @l
  # fractions
  INCRBYFLOAT @f 1.5
  INCRBYFLOAT @f 0.1
  INCRBYFLOAT @f -1e1
  INCRBYFLOAT @f 3.0e3
  GET @f
  INCRBYFLOAT @f abc
  INCRBYFLOAT @f inf
  SET @text abc
  INCRBYFLOAT @text 1
  INCRBYFLOAT @f
  # expiration
  SETEX @k 100 v
  ~near TTL @k
  PSETEX @k 100000 v
  ~nearms PTTL @k
  SETEX @k 0 v
  SETEX @k -1 v
  SETEX @k abc v
  PSETEX @k 0 v
  SETNX @k other
  SETNX @new v
  GETSET @new w
  GETSET @fresh x
  GETDEL @new
  GETDEL @new
  GETEX @k EX 50
  ~near TTL @k
  GETEX @k PERSIST
  TTL @k
  GETEX @missing
  GETEX @k EX 0
  GETEX @k FOO
  RPUSH @l a
  GETEX @l
  GETDEL @l
  GETSET @l x
  SETEX @k
  SETNX @k
  # a key expires
  SET @k v PX 150
  ... 400
  GET @k
  EXISTS @k
  TTL @k
`,
)

export const bitmapCases: readonly Case[] = cases(
  'bitmap',
  `
  # bits
  SETBIT @b 7 1
  SETBIT @b 7 0
  SETBIT @b 100 1
  GETBIT @b 100
  GETBIT @b 1000
  GETBIT @missing 0
  STRLEN @b
  SETBIT @b 1 2
  SETBIT @b -1 1
  SETBIT @b abc 1
  GETBIT @b -1
  SETBIT @b 1
  RPUSH @l a
  SETBIT @l 0 1
  GETBIT @l 0
  # counting and searching
  SET @b foobar
  BITCOUNT @b
  BITCOUNT @b 0 0
  BITCOUNT @b 1 -1 BYTE
  BITCOUNT @b 5 30 BIT
  BITCOUNT @missing
  BITCOUNT @b 0
  BITCOUNT @b a b
  BITPOS @b 1
  BITPOS @b 0 2
  BITPOS @b 1 2 -1 BIT
  BITPOS @missing 1
  BITPOS @missing 0
  BITPOS @b 2
  BITPOS @b
  # BITOP
  SET @a abc
  SET @b abd
  BITOP AND @r @a @b
  BITOP OR @r @a @b
  BITOP XOR @r @a @b
  BITOP NOT @r @a
  STRLEN @r
  BITOP NOT @r @a @b
  BITOP FOO @r @a
  BITOP DIFF @r @a @b
  BITOP DIFF1 @r @a @b
  BITOP ANDOR @r @a @b
  BITOP ONE @r @a @b
  BITOP DIFF @r @a
  BITOP AND @r
  RPUSH @l x
  BITOP AND @r @l @a
  # BITFIELD
  BITFIELD @f SET u8 0 200 GET u8 0
  BITFIELD @f INCRBY u8 0 100
  BITFIELD @f OVERFLOW SAT INCRBY u8 0 250
  BITFIELD @f OVERFLOW FAIL INCRBY u8 0 250
  BITFIELD @f GET i8 #1 SET i16 #2 -5
  BITFIELD @f
  BITFIELD_RO @f GET u8 0
  BITFIELD_RO @f SET u8 0 1
  BITFIELD @f GET u64 0
  BITFIELD @f GET u8 abc
  BITFIELD @f OVERFLOW FOO
  BITFIELD @f FOO
  BITFIELD_RO @f
`,
)

export const hyperloglogCases: readonly Case[] = cases(
  'hyperloglog',
  `
  # counting
  PFADD @a x y z
  PFADD @a x
  PFADD @b z q
  PFADD @empty
  PFCOUNT @a
  PFCOUNT @a @b
  PFCOUNT @missing
  PFMERGE @m @a @b
  PFCOUNT @m
  SET @s text
  PFADD @s x
  PFCOUNT @s
  PFMERGE @m @s
  PFADD
  PFCOUNT
`,
)
