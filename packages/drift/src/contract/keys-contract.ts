import type { Case } from '../case.js'
import { cases } from '../command-cases.js'

export const keyCases: readonly Case[] = cases(
  'keys',
  `
  # existence
  SET @a 1
  RPUSH @l x
  EXISTS @a @l @missing @a
  TYPE @a
  TYPE @l
  TYPE @missing
  TOUCH @a @missing
  DEL @a @missing
  UNLINK @l
  DEL
  UNLINK
  EXISTS
  TOUCH
  TYPE
  # names
  SET @a 1
  SET @b 2
  RENAME @a @c
  RENAME @missing @c
  RENAMENX @c @b
  RENAMENX @c @d
  RENAMENX @missing @d
  COPY @b @copy
  COPY @b @copy
  COPY @b @copy REPLACE
  COPY @missing @x
  COPY @b @x DB 0
  COPY @b @x FOO
  COPY @b @b
  GET @copy
  RENAME @b
  # expiration
  SET @k v
  TTL @k
  PTTL @missing
  EXPIRE @k 100
  ~near TTL @k
  PEXPIRE @k 100000
  ~nearms PTTL @k
  EXPIREAT @k {now+1000}
  ~near EXPIRETIME @k
  PEXPIREAT @k {ms+1000000}
  ~nearms PEXPIRETIME @k
  EXPIRE @k 50 NX
  EXPIRE @k 50 XX
  EXPIRE @k 10 GT
  EXPIRE @k 10 LT
  PERSIST @k
  PERSIST @k
  EXPIRETIME @k
  PEXPIRETIME @missing
  EXPIRE @missing 10
  EXPIRE @k abc
  EXPIRE @k 10 FOO
  EXPIRE @k 10 NX XX
  EXPIRE @k 10 GT LT
  EXPIRE @k 9223372036854775807
  PEXPIRE @k abc
  EXPIREAT @k abc
  EXPIRE @k
  EXPIRE @k -1
  EXISTS @k
  # DUMP and RESTORE
  SET @k v
  ~kind =dump DUMP @k
  DUMP @missing
  RESTORE @bad 0 nonsense
  RESTORE @bad -1 nonsense
  RESTORE @bad abc nonsense
  RESTORE @k 0 nonsense
  # finding keys
  SET @one 1
  RPUSH @two x
  ~unordered KEYS {p}*
  KEYS {p}t?o
  KEYS {p}none*
  ~kind SCAN 0 MATCH {p}* COUNT 1000
  ~kind SCAN 0 MATCH {p}* TYPE list COUNT 1000
  ~kind SCAN 0 MATCH {p}* WITHTYPE COUNT 1000
  SCAN abc MATCH {p}*
  SCAN 0 MATCH {p}* FOO
  SCAN 0 MATCH {p}* COUNT 0
  KEYS
  # the server
  SET @k v
  ~kind MEMORY USAGE @k
  MEMORY USAGE @missing
  ~kind TIME
  ~kind INFO server
  ~kind INFO
  ~kind COMMAND
  PING
  PING hello
  PING a b
  ECHO hello
  ECHO
  SELECT 0
  SELECT abc
  WAIT 0 10
  ~kind WAIT 1 1
  WAIT abc 1
  WAIT 0 -1
  ~kind WAITAOF 0 0 10
  WAITAOF 2 0 1
  ~kind PUBSUB NUMPAT
  # channels without subscribers
  PUBLISH @channel hello
  PUBSUB CHANNELS {p}*
  PUBSUB NUMSUB @channel
  PUBSUB NUMSUB
  PUBSUB STUNTDOUBLE
  PUBLISH @channel
  # unknown commands
  STUNTDOUBLE
  STUNTDOUBLE @k
  OBJECT ENCODING @k
  SORT @k
  LCS @a @b
  ROLE
  MULTI
  EXEC
  DISCARD
  WATCH @k
  UNWATCH
  SUBSCRIBE @channel
  UNSUBSCRIBE @channel
  PSUBSCRIBE {p}*
  PUNSUBSCRIBE {p}*
  HELLO
  RESET
  MONITOR
  BLPOP @l 1
  BRPOP @l 1
  BLMOVE @l @m LEFT LEFT 1
  BZPOPMIN @z 1
  XREAD BLOCK 1 STREAMS @x $
`,
)
