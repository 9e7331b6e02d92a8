import { newerSection, type Section, section } from '../support/steps.js'
import { randomStreamRows } from './stream-rows.js'

export const steps: readonly Section[] = [
  section(
    'XADD: ids',
    `
    XADD s 1-1 f v
    XADD s 1-1 f v
    XADD s 1-0 f v
    XADD s 0-0 f v
    XADD s 0 f v
    XADD s 1 f v
    XADD s 1-2 f v
    XADD s 1-* f v
    XADD s 1-* f v
    XADD s 0-* f v
    XADD s 2-* f v
    XADD s 5 f v
    XADD s 5-* f v
    XADD s 007-09 f v
    XADD s +8-1 f v
    XADD s " 9-1" f v
    XADD s -9-1 f v
    XADD s 9--1 f v
    XADD s 9- f v
    XADD s - f v
    XADD s + f v
    XADD s "" f v
    XADD s 10-1* f v
    XADD s *-1 f v
    XADD s 1-1-1 f v
    XADD s $ f v
    XADD s > f v
    XADD s {0*120}20-1 f v
    XADD s {0*130}21-1 f v
    XRANGE s - +
    XADD zero 0-* f v
    XADD zero 0-* f v
    XADD zero 0-1 f v
    XADD zero 0-3 f v
    XRANGE zero - +
  `,
  ),
  section(
    'XADD: ids that the clock makes',
    `
    ~shape XADD s * f v
    ~shape XADD s * f v
    XLEN s
    XADD future 9999999999999-5 f v
    XADD future * f v
    XADD future * f v
    XADD future 9999999999999-* f v
    XRANGE future - +
  `,
  ),
  section(
    'XADD: ids of 64 bits',
    `
    XADD s 9007199254740991-9007199254740991 f v
    XADD s 9007199254740991-* f v
    XADD s 9007199254740991-9007199254740993 f v
    XADD s 9007199254740991-9007199254740992 f v
    XADD s 9007199254740992-0 f v
    XADD s 9007199254740993-1 f v
    XADD s 9007199254740993 f v
    XADD s 9007199254740993-* f v
    XADD s 18446744073709551615-18446744073709551613 f v
    XADD s 18446744073709551615-* f v
    XADD s 18446744073709551616-1 f v
    XADD s 18446744073709551615-18446744073709551616 f v
    XRANGE s - +
    XRANGE s (9007199254740991-9007199254740991 9007199254740993-1
    XRANGE s 9007199254740993 9007199254740993
    XREVRANGE s + (9007199254740992-0
    XADD s 18446744073709551615-18446744073709551615 f v
    XADD s * f v
    XADD s 18446744073709551615-* f v
    XADD s 1-1 f v
    XRANGE s (18446744073709551615-18446744073709551615 +
    XRANGE s - (0-0
    XRANGE s - (0
    XREVRANGE s + (18446744073709551615-18446744073709551615
    XLEN s
    XDEL s 18446744073709551615-18446744073709551615
    XADD s * f v
    XINFO STREAM s FULL
      = ["length", 8, "radix-tree-keys", 1, "radix-tree-nodes", 2, "last-generated-id", "18446744073709551615-18446744073709551615", "max-deleted-entry-id", "18446744073709551615-18446744073709551615", "entries-added", 9, "recorded-first-entry-id", "9007199254740991-9007199254740991", "entries", [["9007199254740991-9007199254740991", ["f", "v"]], ["9007199254740991-9007199254740992", ["f", "v"]], ["9007199254740991-9007199254740993", ["f", "v"]], ["9007199254740992-0", ["f", "v"]], ["9007199254740993-1", ["f", "v"]], ["9007199254740993-2", ["f", "v"]], ["18446744073709551615-18446744073709551613", ["f", "v"]], ["18446744073709551615-18446744073709551614", ["f", "v"]]], "groups", []] because the numbers about redis' radix tree are estimates
  `,
  ),
  section(
    'XADD: fields and arity',
    String.raw`
    XADD
    XADD s
    XADD s *
    XADD s * f
    XADD s 1-1 f
    XADD s 1-1 f v g
    XADD s x f
    XADD s 1-1 f v g w f again
    XADD s 2-1 "" ""
    XADD s 3-1 "a b" "\x00\xff"
    XRANGE s - +
    SET str x
    XADD str 1-1 f v
    XADD str x f v
    XADD str 0-0 f v
    TYPE s
    XADD s NOMKSTREAM 4-1 f v
    XADD none NOMKSTREAM 1-1 f v
    EXISTS none
    XADD none NOMKSTREAM x f v
    xadd s nomkstream 5-1 f v
    XADD s NOMKSTREAM NOMKSTREAM 6-1 f v
    XLEN s
    XLEN none
    XLEN str
    XLEN
    XLEN s s
  `,
  ),
  section(
    'XADD and XTRIM: trimming',
    `
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XADD s 3-1 n 3
    XADD s 4-1 n 4
    XADD s MAXLEN 3 5-1 n 5
    XRANGE s - +
    XADD s MAXLEN = 2 6-1 n 6
    XRANGE s - +
    XADD s MINID 6-1 7-1 n 7
    XRANGE s - +
    XADD s MINID = 8 8-1 n 8
    XRANGE s - +
    XADD s MAXLEN 0 9-1 n 9
    XLEN s
    EXISTS s
    XADD s MAXLEN -1 10-1 n 1
    XADD s MAXLEN x 10-1 n 1
    XADD s MAXLEN 9223372036854775808 10-1 n 1
    XADD s MINID x 10-1 n 1
    XADD s MINID - 10-1 n 1
    XADD s MINID + 10-1 n 1
    XADD s MINID 10-* 10-1 n 1
    XADD s MAXLEN 5 MINID 1 10-1 n 1
    XADD s MINID 5 MAXLEN 1 10-1 n 1
    XADD s MAXLEN 5 MAXLEN 1 10-1 n 1
    XADD s MAXLEN 5 LIMIT 1 10-1 n 1
    XADD s MAXLEN = 5 LIMIT 1 10-1 n 1
    XADD s MAXLEN ~ 5 LIMIT -1 10-1 n 1
    XADD s MAXLEN ~ 5 LIMIT x 10-1 n 1
    XADD s LIMIT 5 10-1 n 1
    XADD s LIMIT 0 10-1 n 1
    XADD s MAXLEN ~ 100 LIMIT 0 11-1 n 1
    XADD s MAXLEN ~ 100 LIMIT 5 12-1 n 1
    XADD s NOMKSTREAM MAXLEN 2 13-1 n 1
    XADD s MAXLEN 2 NOMKSTREAM 14-1 n 1
    XADD none NOMKSTREAM MAXLEN 2 14-1 n 1
    XADD s MAXLEN ~ 15-1 n 1
    XADD s MAXLEN = 15-1 n 1
    XRANGE s - +
    XTRIM s
    XTRIM s MAXLEN
    XTRIM s MAXLEN 1
    XTRIM s MAXLEN 1
    XTRIM none MAXLEN 1
    XTRIM s MAXLEN -1
    XTRIM s MAXLEN ~
    XTRIM s MAXLEN = 
    XTRIM s MINID 15-1
    XTRIM s MINID 0
    XTRIM s LIMIT 5
    XTRIM s LIMIT 0 MAXLEN 5
    XTRIM s MAXLEN 5 LIMIT 0
    XTRIM s MAXLEN 5 BAD
    XTRIM s 5
    XTRIM s NOMKSTREAM MAXLEN 5
    XTRIM s MAXLEN 5 MINID 5
    SET str x
    XTRIM str MAXLEN 5
    XTRIM str MAXLEN x
    XTRIM s MAXLEN 0
    XTRIM s MINID +
    XINFO GROUPS s
  `,
  ),
  section(
    'XTRIM and XADD: about so many',
    `
    EVAL "for n = 1, 119 do redis.call('XADD', KEYS[1], n .. '-1', 'n', n) end" 1 s
    XADD s MAXLEN ~ 30 120-1 n 120
    XTRIM s MAXLEN ~ 30
    XTRIM s MAXLEN ~ 21
    XTRIM s MINID ~ 100-1
    XTRIM s MINID ~ 100-1 LIMIT 0
    XLEN s
    XTRIM s MAXLEN ~ 20
    XLEN s
    EVAL "for n = 121, 220 do redis.call('XADD', KEYS[1], n .. '-1', 'n', n) end" 1 s
    XTRIM s MINID = 121-1
    XTRIM s MINID ~ 300-1
    XLEN s
    EVAL "for n = 1, 1000 do redis.call('XADD', KEYS[1], n .. '-1', 'n', n) end" 1 t
    XTRIM t MAXLEN ~ 30 LIMIT 150
      = 150 because of the nodes of redis-server only one goes whole
    XTRIM t MAXLEN ~ 30
      = 820 because store.md 7.2: about so many stay, redis-server deletes whole nodes
    XLEN t
      = 30 because as above
    EVAL "for n = 1, 150 do redis.call('XADD', KEYS[1], n .. '-1', 'n', n) end" 1 u
    XADD u MINID ~ 121-1 151-1 n 151
    XLEN u
      = 31 because store.md 7.2: about so many stay, redis-server deletes whole nodes
  `,
  ),
  section(
    'XRANGE and XREVRANGE',
    `
    XADD s 1-1 n 1
    XADD s 1-2 n 2
    XADD s 2-0 n 3
    XADD s 2-5 n 4
    XADD s 3-0 n 5
    XRANGE s - +
    XRANGE s + -
    XREVRANGE s + -
    XREVRANGE s - +
    XRANGE s 1 1
    XRANGE s 1 2
    XRANGE s 1-2 2-0
    XRANGE s (1-2 2-0
    XRANGE s (1-2 (2-5
    XRANGE s (1 2
    XRANGE s 1 (2
    XRANGE s (1-2 (2-0
    XRANGE s 2-1 2-4
    XRANGE s (- +
    XRANGE s - (+
    XRANGE s ( +
    XRANGE s x +
    XRANGE s - x
    XRANGE s 1-* +
    XRANGE s $ +
    XREVRANGE s 2 1
    XREVRANGE s (2 (1-1
    XREVRANGE s (2-5 1-2
    XREVRANGE s 2-4 2-1
    XREVRANGE s x -
    XREVRANGE s + x
    XREVRANGE s (0-0 x
    XRANGE s - + COUNT 2
    XRANGE s - + COUNT 0
    XRANGE s - + COUNT -1
    XRANGE s - + COUNT -5
    XRANGE s - + COUNT 99
    XRANGE s - + COUNT x
    XRANGE s - + COUNT
    XRANGE s - + COUNT 1 COUNT 2
    XRANGE s - + BAD
    XRANGE s - + count 1
    XRANGE s x + COUNT x
    XREVRANGE s + - COUNT 2
    XREVRANGE s + - COUNT 0
    XREVRANGE s 2 - COUNT 1
    XRANGE none - +
    XRANGE none - + COUNT 0
    XRANGE none x +
    XRANGE s -
    XRANGE
    SET str x
    XRANGE str - +
    XRANGE str x +
    XREVRANGE str + -
    XREVRANGE none + -
  `,
  ),
  section(
    'XDEL',
    `
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XADD s 3-1 n 3
    XADD s 4-1 n 4
    XDEL s 2-1
    XDEL s 2-1
    XDEL s 1-1 9-9 1-1 3
    XDEL s 3
    XDEL s 3-1 x
    XRANGE s - +
    XDEL s -
    XDEL s
    XDEL none 1-1
    XDEL none x
    XDEL s 3-1 4-1
    EXISTS s
    XLEN s
    XRANGE s - +
    XREVRANGE s + -
    XADD s 4-1 n 1
    XADD s 4-* n 1
    XDEL s 4-2
    SET str x
    XDEL str 1-1
    XDEL str x
  `,
  ),
  section(
    'XREAD',
    `
    XADD a 1-1 n 1
    XADD a 2-1 n 2
    XADD a 3-1 n 3
    XADD b 1-5 m 1
    XREAD STREAMS a 0
    XREAD STREAMS a 0-0
    XREAD STREAMS a 1
    XREAD STREAMS a 1-1
    XREAD STREAMS a 2-1
    XREAD STREAMS a 3-1
    XREAD STREAMS a 9
    XREAD STREAMS a $
    XREAD STREAMS none $
    XREAD STREAMS none 0
    XREAD STREAMS a b 0 0
    XREAD STREAMS a none b 2-1 0 0
    XREAD STREAMS a b 3-1 0
    XREAD STREAMS a a 2-1 0
    XREAD COUNT 1 STREAMS a b 0 0
    XREAD COUNT 0 STREAMS a 0
    XREAD COUNT -3 STREAMS a 0
    XREAD COUNT x STREAMS a 0
    XREAD COUNT 2 COUNT 1 STREAMS a 0
    XREAD BLOCK 1 STREAMS a 0
    XREAD BLOCK 1 STREAMS a 3-1
    XREAD BLOCK -1 STREAMS a 0
    XREAD BLOCK x STREAMS a 0
    XREAD BLOCK 1.5 STREAMS a 0
    XREAD BLOCK 9223372036854775807 STREAMS a 0
    XREAD BLOCK 9223372036854775808 STREAMS a 0
    XREAD BLOCK 1000000000000000000 STREAMS a 0
    XREAD BLOCK -1000000000000000000 STREAMS a 0
    XREAD BLOCK -0 STREAMS a 0
    XREAD count 1 block 1 streams a 0
    XREAD STREAMS a b 0
    XREAD STREAMS a
    XREAD STREAMS
    XREAD a 0 0
    XREAD COUNT 1 a 0
    XREAD NOACK STREAMS a 0
    XREAD GROUP g c STREAMS a 0
    XREAD STREAMS a >
    XREAD STREAMS a -
    XREAD STREAMS a x
    XREAD STREAMS a b 0 x
    XREAD STREAMS a 18446744073709551615-18446744073709551615
    SET str x
    XREAD STREAMS str 0
    XREAD STREAMS a str 0 0
    XREAD STREAMS a str x 0
    XDEL a 1-1 2-1 3-1
    XREAD STREAMS a 0
    XREAD STREAMS a b 0 0
    XREAD STREAMS a $
  `,
  ),
  section(
    'XGROUP',
    `
    XGROUP
    XGROUP CREATE
    XGROUP CREATE s
    XGROUP CREATE s g
    XGROUP CREATE s g 0
    XGROUP CREATE s g 0 BAD
    XGROUP CREATE s g 0 MKSTREAM BAD
    XGROUP CREATE s g x MKSTREAM
    XGROUP CREATE s g - MKSTREAM
    EXISTS s
    XGROUP CREATE s g $ MKSTREAM
    TYPE s
    XLEN s
    XGROUP CREATE s g $ MKSTREAM
    XGROUP CREATE s g 0
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XGROUP CREATE s g2 $
    XGROUP CREATE s g3 1-1
    XGROUP CREATE s g4 0 ENTRIESREAD 1
    XGROUP CREATE s g5 0 ENTRIESREAD -1
    XGROUP CREATE s g6 0 ENTRIESREAD -2
    XGROUP CREATE s g6 0 ENTRIESREAD x
    XGROUP CREATE s g6 0 ENTRIESREAD
    XGROUP CREATE s g6 0 ENTRIESREAD 1 MKSTREAM
    XGROUP CREATE s g61 0 MKSTREAM MKSTREAM
    XGROUP CREATE s g62 0 MKSTREAM MKSTREAM MKSTREAM
    XGROUP CREATE s g63 0 MKSTREAM MKSTREAM MKSTREAM MKSTREAM
    XGROUP CREATE s g64 0 ENTRIESREAD 1 ENTRIESREAD 2
    XGROUP CREATE s g65 x MKSTREAM ENTRIESREAD 1 ENTRIESREAD 2
    XGROUP CREATE missing g 0 ENTRIESREAD 1 ENTRIESREAD 2
    XGROUP CREATE missing g 0 MKSTREAM ENTRIESREAD 1 MKSTREAM
    XGROUP CREATE missing g 0 ENTRIESREAD 1 ENTRIESREAD x
    EXISTS missing
    XGROUP SETID s g61 0 ENTRIESREAD 1 ENTRIESREAD 2
    XGROUP SETID s nobody 0 ENTRIESREAD 1 ENTRIESREAD 2
    XGROUP SETID s g61 x ENTRIESREAD 1 ENTRIESREAD 2
    XGROUP CREATE s g7 5-1
    XGROUP CREATE s g8 x
    XGROUP CREATE s g8 1-*
    XINFO GROUPS s
    XGROUP SETID s g 0
    XGROUP SETID s g $
    XGROUP SETID s g - ENTRIESREAD 1
    XGROUP SETID s g + ENTRIESREAD 2
    XGROUP SETID s g 1-1 ENTRIESREAD 1
    XGROUP SETID s g 1-1 MKSTREAM
    XGROUP SETID s g x
    XGROUP SETID s none 0
    XGROUP SETID none g 0
    XGROUP SETID s g
    XINFO GROUPS s
    XGROUP CREATECONSUMER s g alice
    XGROUP CREATECONSUMER s g alice
    XGROUP CREATECONSUMER s none alice
    XGROUP CREATECONSUMER none g alice
    XGROUP CREATECONSUMER s g
    XGROUP CREATECONSUMER s g a b
    XGROUP DELCONSUMER s g alice
    XGROUP DELCONSUMER s g alice
    XGROUP DELCONSUMER s none alice
    XGROUP DELCONSUMER none g alice
    XGROUP DESTROY s g
    XGROUP DESTROY s g
    XGROUP DESTROY none g
    XGROUP DESTROY s
    XGROUP DESTROY s g g
    XGROUP FOO s g
    SET str x
    XGROUP CREATE str g 0
    XGROUP CREATE str g 0 MKSTREAM
    XGROUP SETID str g 0
    XGROUP DESTROY str g
    XGROUP CREATECONSUMER str g c
    XGROUP DELCONSUMER str g c
  `,
  ),
  section(
    'XREADGROUP',
    `
    XREADGROUP GROUP g alice STREAMS s >
    XGROUP CREATE s g 0 MKSTREAM
    XREADGROUP GROUP g alice STREAMS s >
    XINFO CONSUMERS s g
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XADD s 3-1 n 3
    XADD s 4-1 n 4
    XADD s 5-1 n 5
    XREADGROUP GROUP g alice COUNT 2 STREAMS s >
    XREADGROUP GROUP g bob COUNT 1 STREAMS s >
    XREADGROUP GROUP g alice STREAMS s 0
    XREADGROUP GROUP g bob STREAMS s 0
    XREADGROUP GROUP g carl STREAMS s 0
    XREADGROUP GROUP g alice COUNT 1 STREAMS s 0
    XREADGROUP GROUP g alice STREAMS s 1-1
    XREADGROUP GROUP g alice STREAMS s 2-1
    XPENDING s g
    XDEL s 1-1
    XREADGROUP GROUP g alice STREAMS s 0
    XREADGROUP GROUP g bob STREAMS s >
    XREADGROUP GROUP g bob STREAMS s >
    XINFO GROUPS s
    XGROUP CREATE s h $
    XADD s 6-1 n 6
    XADD t 1-1 m 1
    XGROUP CREATE t g 0
    XREADGROUP GROUP g alice STREAMS s t > >
    XREADGROUP GROUP g alice STREAMS s t > 0
    XREADGROUP GROUP g alice STREAMS s t 0 >
    XREADGROUP GROUP h alice STREAMS s >
    XREADGROUP GROUP h alice STREAMS s t > >
    XREADGROUP GROUP g alice COUNT 0 STREAMS s 0
    XREADGROUP GROUP g alice COUNT -1 STREAMS s 0
    XREADGROUP GROUP g alice COUNT x STREAMS s 0
    XREADGROUP GROUP g alice BLOCK 1 STREAMS s >
    XREADGROUP GROUP g alice BLOCK -1 STREAMS s >
    XREADGROUP GROUP g alice STREAMS s $
    XREADGROUP GROUP g alice STREAMS s x
    XREADGROUP GROUP g alice STREAMS s t >
    XREADGROUP GROUP g STREAMS s >
    XREADGROUP GROUP g alice s > >
    XREADGROUP COUNT 1 COUNT 1 STREAMS s >
    XREADGROUP COUNT 1 BLOCK 1 STREAMS s >
    XREADGROUP GROUP none alice STREAMS s >
    XREADGROUP GROUP g alice STREAMS none >
    XREADGROUP GROUP g alice STREAMS s 18446744073709551615-18446744073709551615
    SET str x
    XREADGROUP GROUP g alice STREAMS str >
    XREADGROUP GROUP g alice STREAMS s str > >
    XADD s 7-1 n 7
    XREADGROUP GROUP g alice NOACK STREAMS s >
    XREADGROUP GROUP g alice NOACK STREAMS s 0
    XPENDING s g
    XINFO GROUPS s
    XGROUP SETID s g 0
    XREADGROUP GROUP g bob STREAMS s >
    ~times XPENDING s g - + 10
  `,
  ),
  newerSection(
    'XREADGROUP: NOACK leaves no consumer',
    'store.md 7.2: the service does not register the consumer',
    `
    XADD s 1-1 n 1
      = "1-1"
    XGROUP CREATE s g 0
      = +OK
    XREADGROUP GROUP g alice NOACK STREAMS s >
      = [["s", [["1-1", ["n", "1"]]]]]
    XINFO CONSUMERS s g
      = []
    XREADGROUP GROUP g alice NOACK STREAMS s 0
      = [["s", []]]
    XINFO CONSUMERS s g
      = []
    XPENDING s g
      = [0, nil, nil, nilarray]
    XREADGROUP GROUP g alice NOACK STREAMS s >
      = nilarray
  `,
  ),
  section(
    'XACK and XPENDING',
    `
    XGROUP CREATE s g 0 MKSTREAM
    XPENDING s g
    XPENDING s g - + 10
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XADD s 3-1 n 3
    XADD s 4-1 n 4
    XREADGROUP GROUP g zoe COUNT 1 STREAMS s >
    XREADGROUP GROUP g bob COUNT 2 STREAMS s >
    XREADGROUP GROUP g alice COUNT 1 STREAMS s >
    XPENDING s g
    ~times XPENDING s g - + 10
    ~times XPENDING s g - + 2
    ~times XPENDING s g (1-1 (4-1 10
    ~times XPENDING s g 2 3 10
    ~times XPENDING s g - + 10 bob
    XPENDING s g - + 10 nobody
    XPENDING s g - + 0
    XPENDING s g - + -1
    XPENDING s g - + x
    XPENDING s g x + 10
    XPENDING s g - x 10
    XPENDING s g (18446744073709551615-18446744073709551615 + 1
    XPENDING s g - (0-0 1
    XPENDING s g -
    XPENDING s g - +
    ~times XPENDING s g - + 10 bob extra
    ~times XPENDING s g - + 10 bob extra more
    ~times XPENDING s g - + 10 bob extra more most
    XPENDING s g IDLE 0
    XPENDING s g IDLE x - + 10
    XPENDING s g IDLE 5 - +
    XPENDING s g IDLE 9999999 - + 10
    ~times XPENDING s g IDLE 0 - + 10
    ~times XPENDING s g IDLE -1 - + 10 bob
    XPENDING s none
    XPENDING none g
    XPENDING s
    XACK s g 2-1
    XACK s g 2-1
    XACK s g 1-1 9-9 3
    XACK s g 3-1 x
    XPENDING s g
    XACK s none 3-1
    XACK none g 3-1
    XACK none g x
    XACK s g
    XACK s g 3-1 4-1
    XPENDING s g
    XPENDING s g - + 10
    SET str x
    XACK str g 1-1
    XPENDING str g
    XPENDING str g - + x
  `,
  ),
  section(
    'XPENDING: idle times',
    `
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XGROUP CREATE s g 0
    XREADGROUP GROUP g alice COUNT 1 STREAMS s >
    @advance 600
    XREADGROUP GROUP g bob COUNT 1 STREAMS s >
    XPENDING s g IDLE 1000 - + 10
    ~times XPENDING s g IDLE 300 - + 10
    ~times XPENDING s g - + 10
    ~times XINFO CONSUMERS s g
    XREADGROUP GROUP g alice STREAMS s 0
    ~times XPENDING s g - + 10
    ~times XINFO CONSUMERS s g
    XCLAIM s g bob 1000 1-1
    XCLAIM s g bob 0 1-1 IDLE 5000 JUSTID
    ~times XPENDING s g - + 10
    XCLAIM s g carl 4000 1-1 2-1
    XCLAIM s g carl 0 2-1 TIME {ms-3000} RETRYCOUNT 7 JUSTID
    ~times XPENDING s g - + 10
    XCLAIM s g carl 0 2-1 TIME {ms+3000} JUSTID
    ~times XPENDING s g - + 10
    XCLAIM s g carl 0 2-1 IDLE -1000 JUSTID
    ~times XPENDING s g - + 10
    XCLAIM s g carl 0 2-1 TIME -5 JUSTID
    ~times XPENDING s g - + 10
    XAUTOCLAIM s g dan 1000 0
    XAUTOCLAIM s g dan 0 0 JUSTID
    ~times XPENDING s g - + 10
    ~times XINFO CONSUMERS s g
  `,
  ),
  section(
    'XCLAIM',
    `
    XCLAIM s g alice 0 1-1
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XADD s 3-1 n 3
    XCLAIM s g alice 0 1-1
    XGROUP CREATE s g 0
    XCLAIM s g alice 0 1-1
    XINFO GROUPS s
    XREADGROUP GROUP g alice COUNT 2 STREAMS s >
    XCLAIM s g bob 0 1-1
    XCLAIM s g bob 0 1-1 2-1 3-1
    XCLAIM s g bob 0 3-1 JUSTID
    XCLAIM s g bob 0 3-1 JUSTID FORCE
    XCLAIM s g carl 0 3-1 FORCE
    XCLAIM s g carl 0 9-9 FORCE
    XCLAIM s g carl 0 1-1 RETRYCOUNT 9
    XCLAIM s g carl 0 1-1 RETRYCOUNT -1
    XCLAIM s g carl 0 1-1 RETRYCOUNT 0 JUSTID
    ~times XPENDING s g - + 10
    XCLAIM s g carl 0 1-1 LASTID 3-1
    XINFO GROUPS s
    XCLAIM s g carl 0 1-1 LASTID 1-1
    XCLAIM s g carl 0 1-1 LASTID x
    XCLAIM s g carl 0 1-1 LASTID
    XCLAIM s g carl 0 1-1 IDLE
    XCLAIM s g carl 0 1-1 IDLE x
    XCLAIM s g carl 0 1-1 TIME x
    XCLAIM s g carl 0 1-1 RETRYCOUNT x
    XCLAIM s g carl 0 1-1 BAD
    XCLAIM s g carl 0 1-1 FORCE 2-1
    XCLAIM s g carl 0 x
    XCLAIM s g carl 0 -
    XCLAIM s g carl x 1-1
    XCLAIM s g carl -5 1-1
    XCLAIM s g carl 99999999 1-1
    XCLAIM s g new 99999999 1-1
    XCLAIM s g carl 0
    XCLAIM s g carl
    XCLAIM s none carl 0 1-1
    XCLAIM none g carl 0 1-1
    XCLAIM none g carl x 1-1
    XDEL s 1-1
    XCLAIM s g bob 0 1-1
    XPENDING s g
    XCLAIM s g bob 0 1-1 FORCE
    XCLAIM s g bob 0 FORCE
    XINFO GROUPS s
    SET str x
    XCLAIM str g bob 0 1-1
  `,
  ),
  section(
    'XAUTOCLAIM',
    `
    XAUTOCLAIM s g alice 0 0
    XGROUP CREATE s g 0 MKSTREAM
    XAUTOCLAIM s g alice 0 0
    XAUTOCLAIM s g alice 0 -
    XINFO CONSUMERS s g
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XADD s 3-1 n 3
    XADD s 4-1 n 4
    XADD s 5-1 n 5
    XREADGROUP GROUP g alice STREAMS s >
    XAUTOCLAIM s g bob 0 0 COUNT 2
    XAUTOCLAIM s g bob 0 3-1 COUNT 2
    XAUTOCLAIM s g bob 0 5-1 COUNT 2
    XAUTOCLAIM s g bob 0 (5-1 COUNT 2
    XPENDING s g
    XAUTOCLAIM s g carl 0 (1-1 COUNT 1 JUSTID
    ~times XPENDING s g - + 10
    XAUTOCLAIM s g carl 99999999 0
    XAUTOCLAIM s g carl -1 0 COUNT 1
    XAUTOCLAIM s g carl x 0
    XAUTOCLAIM s g carl 0 x
    XAUTOCLAIM s g carl 0 +
    XAUTOCLAIM s g carl 0 (18446744073709551615-18446744073709551615
    XAUTOCLAIM s g carl 0 0 COUNT 0
    XAUTOCLAIM s g carl 0 0 COUNT -1
    XAUTOCLAIM s g carl 0 0 COUNT x
    XAUTOCLAIM s g carl 0 0 COUNT 9223372036854775807
    XAUTOCLAIM s g carl 0 0 COUNT
    XAUTOCLAIM s g carl 0 0 BAD
    XAUTOCLAIM s g carl 0
    XAUTOCLAIM s none carl 0 0
    XAUTOCLAIM none g carl 0 0
    XDEL s 1-1 3-1
    XAUTOCLAIM s g dan 0 0 COUNT 2
    XAUTOCLAIM s g dan 0 3-1 COUNT 10
    XAUTOCLAIM s g dan 0 0 JUSTID
    XPENDING s g
    XDEL s 2-1 4-1 5-1
    XAUTOCLAIM s g erik 0 0 COUNT 2
    XAUTOCLAIM s g erik 0 0
    XPENDING s g
    SET str x
    XAUTOCLAIM str g bob 0 0
    XAUTOCLAIM str g bob 0 0 COUNT x
  `,
  ),
  newerSection(
    'XREAD: the last entry',
    'redis 7.4 documentation: + is the last entry of the stream, whatever COUNT says',
    `
    XADD s 1-1 n 1
      = "1-1"
    XREAD STREAMS s +
      = [["s", [["1-1", ["n", "1"]]]]]
    XADD s 2-0 n 2
      = "2-0"
    XADD s 2-1 n 3
      = "2-1"
    XREAD COUNT 5 STREAMS s none + +
      = [["s", [["2-1", ["n", "3"]]]]]
    XDEL s 2-1
      = 1
    XREAD STREAMS s +
      = [["s", [["2-0", ["n", "2"]]]]]
    XREAD STREAMS s s + 1-1
      = [["s", [["2-0", ["n", "2"]]]], ["s", [["2-0", ["n", "2"]]]]]
    XTRIM s MAXLEN 0
      = 2
    XREAD STREAMS s +
      = nilarray
    XREAD STREAMS none +
      = nilarray
    SET str x
      = +OK
    XREAD STREAMS str +
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    `,
  ),
  section(
    'XINFO',
    `
    XINFO
    XINFO STREAM
    XINFO STREAM none
    XINFO STREAM none FULL COUNT x
    XINFO GROUPS none
    XINFO CONSUMERS none g
    XGROUP CREATE s g $ MKSTREAM
    XINFO GROUPS s
    XINFO CONSUMERS s g
    XINFO CONSUMERS s none
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XREADGROUP GROUP g alice COUNT 1 STREAMS s >
    XINFO GROUPS s
    ~times XINFO CONSUMERS s g
    XINFO STREAM s BAD
    XINFO STREAM s FULL COUNT
    XINFO STREAM s FULL BAD 1
    XINFO STREAM s FULL COUNT x
    XINFO STREAM s FULL COUNT 1 more
    XINFO GROUPS
    XINFO GROUPS s g
    XINFO CONSUMERS s
    XINFO HELP x
    XGROUP HELP x
    XINFO CONSUMERS s g c
    XINFO FOO s
    ~times XINFO STREAM s
    ~times XINFO STREAM s FULL
    ~times XINFO STREAM s FULL COUNT 1
    ~times XINFO STREAM s FULL COUNT 0
    ~times XINFO STREAM s full count -1
    XDEL s 1-1
    XGROUP CREATE s a 0
    ~times XINFO STREAM s FULL
    XDEL s 2-1
    ~times XINFO STREAM s
    SET str x
    XINFO STREAM str
    XINFO GROUPS str
    XINFO CONSUMERS str g
  `,
  ),
  section(
    'entries-read and lag',
    `
    XGROUP CREATE s fresh 0 MKSTREAM
    XINFO GROUPS s
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XADD s 3-1 n 3
    XADD s 4-1 n 4
    XADD s 5-1 n 5
    XINFO GROUPS s
    XGROUP CREATE s first 1-1
    XGROUP CREATE s middle 3-1
    XGROUP CREATE s told 3-1 ENTRIESREAD 3
    XGROUP CREATE s liar 3-1 ENTRIESREAD 100
    XGROUP CREATE s last $
    XGROUP CREATE s beyond 9-9
    XINFO GROUPS s
    XREADGROUP GROUP fresh c COUNT 1 STREAMS s >
    XREADGROUP GROUP middle c COUNT 1 STREAMS s >
    XREADGROUP GROUP told c COUNT 1 STREAMS s >
    XREADGROUP GROUP liar c COUNT 1 STREAMS s >
    XINFO GROUPS s
    XDEL s 3-1
    XINFO GROUPS s
    XREADGROUP GROUP fresh c COUNT 2 STREAMS s >
    XREADGROUP GROUP middle c COUNT 9 STREAMS s >
    XINFO GROUPS s
    XTRIM s MINID 4-1
    XINFO GROUPS s
    XADD s 6-1 n 6
    XREADGROUP GROUP first c COUNT 1 STREAMS s >
    XINFO GROUPS s
    XDEL s 6-1
    XINFO GROUPS s
    XREADGROUP GROUP last c STREAMS s >
    XGROUP SETID s told 0
    XGROUP SETID s liar 5-1 ENTRIESREAD 5
    XINFO GROUPS s
    XTRIM s MAXLEN 0
    XINFO GROUPS s
    XADD s 7-1 n 7
    XINFO GROUPS s
    XREADGROUP GROUP told c STREAMS s >
    XREADGROUP GROUP beyond c STREAMS s >
    XINFO GROUPS s
    XSETID s 8-1 ENTRIESADDED 50
    XINFO GROUPS s
    XADD s 9-1 n 9
    XREADGROUP GROUP told c STREAMS s >
    XINFO GROUPS s
  `,
  ),
  section(
    'XSETID',
    `
    XSETID s 1-1
    XSETID s x
    XSETID s
    XADD s 5-1 n 1
    XSETID s 5-1
    XSETID s 4-1
    XSETID s 9-1
    XADD s 9-1 n 1
    XADD s 9-* n 1
    XSETID s -
    XSETID s 10-1 ENTRIESADDED 10
    XSETID s 10-1 ENTRIESADDED 1
    XSETID s 10-1 ENTRIESADDED -1
    XSETID s 10-1 ENTRIESADDED x
    XSETID s 10-1 ENTRIESADDED
    XSETID s 10-1 MAXDELETEDID 11-1
    XSETID s 10-1 MAXDELETEDID 9-1
    XSETID s 10-1 MAXDELETEDID x
    XSETID s 10-1 ENTRIESADDED 20 MAXDELETEDID 0-0
    XSETID s 10-1 BAD
    XSETID s x ENTRIESADDED x
    ~times XINFO STREAM s
    SET str x
    XSETID str 1-1
    XGROUP CREATE e g 0 MKSTREAM
    XSETID e 3-3 ENTRIESADDED 7
    XINFO GROUPS e
    XADD e * n 1 extra
    XADD e 3-3 n 1
    XADD e 3-4 n 1
    XINFO GROUPS e
  `,
  ),
  section(
    'streams and other commands',
    `
    XADD s 1-1 n 1
    XADD s 2-1 n 2
    XGROUP CREATE s g 0
    XREADGROUP GROUP g alice COUNT 1 STREAMS s >
    COPY s c
    XDEL s 1-1
    XACK s g 1-1
    XADD s 3-1 n 3
    XRANGE c - +
    XPENDING c g
    XREADGROUP GROUP g alice STREAMS c >
    XPENDING c g
    XPENDING s g
    XINFO GROUPS c
    XINFO GROUPS s
    RENAME c d
    XRANGE d - +
    XLEN c
    TYPE d
    GET d
    LPUSH d x
    APPEND d x
    DEL d
    XLEN d
    EXPIRE s 100
    XADD s 4-1 n 4
    TTL s
    XTRIM s MAXLEN 0
    TTL s
    EXISTS s
    EXPIRE s -1
    XLEN s
  `,
  ),
  newerSection(
    'XDEL with references: XDELEX',
    'the command page of redis 8.2; store.md 7.2',
    `
    XADD s 1-1 n 1
      = "1-1"
    XADD s 2-1 n 2
      = "2-1"
    XADD s 3-1 n 3
      = "3-1"
    XADD s 4-1 n 4
      = "4-1"
    XGROUP CREATE s g 0
      = +OK
    XGROUP CREATE s h 0
      = +OK
    XREADGROUP GROUP g alice COUNT 3 STREAMS s >
      = [["s", [["1-1", ["n", "1"]], ["2-1", ["n", "2"]], ["3-1", ["n", "3"]]]]]
    XREADGROUP GROUP h alice COUNT 2 STREAMS s >
      = [["s", [["1-1", ["n", "1"]], ["2-1", ["n", "2"]]]]]
    # pending in both groups
    XDELEX s ACKED IDS 1 1-1
      = [2]
    XACK s g 1-1
      = 1
    XDELEX s ACKED IDS 1 1-1
      = [2]
    XACK s h 1-1
      = 1
    XDELEX s ACKED IDS 2 1-1 9-9
      = [1, -1]
    # 3-1 is acknowledged in one group and not yet read by the other
    XACK s g 3-1
      = 1
    XDELEX s ACKED IDS 1 3-1
      = [2]
    XDELEX s KEEPREF IDS 1 2-1
      = [1]
    XPENDING s g
      = [1, "2-1", "2-1", [["alice", "1"]]]
    XREADGROUP GROUP g alice STREAMS s 0
      = [["s", [["2-1", nilarray]]]]
    XREADGROUP GROUP g alice STREAMS s >
      = [["s", [["4-1", ["n", "4"]]]]]
    XDELEX s DELREF IDS 1 4-1
      = [1]
    XPENDING s g
      = [1, "2-1", "2-1", [["alice", "1"]]]
    XDELEX s IDS 1 3-1
      = [1]
    XLEN s
      = 0
    XDELEX none IDS 2 1-1 2-1
      = [-1, -1]
    XDELEX s IDS 2 1-1
      = -ERR The \`numids\` parameter must match the number of arguments
    XDELEX s IDS 0 1-1
      = -ERR Number of IDs must be a positive integer
    XDELEX s IDS x 1-1
      = -ERR Number of IDs must be a positive integer
    XDELEX s IDS 1 x
      = -ERR Invalid stream ID specified as stream command argument
    XDELEX s IDS 1 1-1 2-1
      = -ERR syntax error
    XDELEX s KEEPREF DELREF IDS 1 1-1
      = -ERR syntax error
    XDELEX s IDS 1 1-1 ACKED
      = [-1]
    XDELEX s 1-1 2-1 3-1
      = -ERR syntax error
    XDELEX s IDS 1
      = -ERR wrong number of arguments for 'xdelex' command
    SET str x
      = +OK
    XDELEX str IDS 1 1-1
      = -WRONGTYPE Operation against a key holding the wrong kind of value
  `,
  ),
  newerSection(
    'acknowledge and delete: XACKDEL',
    'the command page of redis 8.2; store.md 7.2',
    `
    XADD s 1-1 n 1
      = "1-1"
    XADD s 2-1 n 2
      = "2-1"
    XADD s 3-1 n 3
      = "3-1"
    XGROUP CREATE s g 0
      = +OK
    XGROUP CREATE s h 0
      = +OK
    XREADGROUP GROUP g alice STREAMS s >
      = [["s", [["1-1", ["n", "1"]], ["2-1", ["n", "2"]], ["3-1", ["n", "3"]]]]]
    XREADGROUP GROUP h bob STREAMS s >
      = [["s", [["1-1", ["n", "1"]], ["2-1", ["n", "2"]], ["3-1", ["n", "3"]]]]]
    XACKDEL s g ACKED IDS 2 1-1 9-9
      = [2, -1]
    XPENDING s g
      = [2, "2-1", "3-1", [["alice", "2"]]]
    XACKDEL s h ACKED IDS 1 1-1
      = [1]
    XACKDEL s g IDS 1 2-1
      = [1]
    XPENDING s h
      = [2, "2-1", "3-1", [["bob", "2"]]]
    XACKDEL s g DELREF IDS 1 3-1
      = [1]
    XPENDING s h
      = [1, "2-1", "2-1", [["bob", "1"]]]
    XLEN s
      = 0
    XACKDEL s g IDS 1 3-1
      = [-1]
    XADD s 4-1 n 4
      = "4-1"
    XADD s 5-1 n 5
      = "5-1"
    XADD s 6-1 n 6
      = "6-1"
    # What a group has not read is not acknowledged; what it acknowledged may be deleted.
    XACKDEL s g IDS 1 4-1
      = [-1]
    XREADGROUP GROUP g alice STREAMS s >
      = [["s", [["4-1", ["n", "4"]], ["5-1", ["n", "5"]], ["6-1", ["n", "6"]]]]]
    XACK s g 4-1 5-1 6-1
      = 3
    XACKDEL s g IDS 2 4-1 4-1
      = [1, -1] because store.md 7.2
    XACKDEL s g ACKED IDS 1 5-1
      = [2] because as above; the other group has yet to read it
    XACKDEL s g DELREF IDS 2 5-1 6-1
      = [1, 1] because as above
    XLEN s
      = 0
    XACKDEL none g IDS 1 1-1
      = [-1]
    XACKDEL s none IDS 2 1-1 2-1
      = [-1, -1]
    XACKDEL s g IDS 1
      = -ERR wrong number of arguments for 'xackdel' command
  `,
  ),
  newerSection(
    'trimming with references',
    'the command pages of XADD and XTRIM of redis 8.2',
    `
    XADD s 1-1 n 1
      = "1-1"
    XADD s 2-1 n 2
      = "2-1"
    XADD s 3-1 n 3
      = "3-1"
    XADD s 4-1 n 4
      = "4-1"
    XGROUP CREATE s g 0
      = +OK
    XREADGROUP GROUP g alice COUNT 3 STREAMS s >
      = [["s", [["1-1", ["n", "1"]], ["2-1", ["n", "2"]], ["3-1", ["n", "3"]]]]]
    XACK s g 2-1
      = 1
    # 1-1 is pending, 2-1 acknowledged, 4-1 unread
    XTRIM s MAXLEN 1 ACKED
      = 1
    XRANGE s - +
      = [["1-1", ["n", "1"]], ["3-1", ["n", "3"]], ["4-1", ["n", "4"]]]
    XTRIM s KEEPREF MINID 3-1
      = 1
    XPENDING s g
      = [2, "1-1", "3-1", [["alice", "2"]]]
    XADD s DELREF MAXLEN 1 5-1 n 5
      = "5-1"
    XPENDING s g
      = [1, "1-1", "1-1", [["alice", "1"]]]
    XRANGE s - +
      = [["5-1", ["n", "5"]]]
    XADD s ACKED MAXLEN = 1 6-1 n 6
      = "6-1"
    XLEN s
      = 2
    XTRIM s MAXLEN 0 ACKED DELREF
      = -ERR syntax error
  `,
  ),
  section(
    'errors that repeat what was sent, up to its first zero byte',
    `
    XADD "a\\x00b" 1-1 n 1
    XREADGROUP GROUP "g\\x00h" c STREAMS "a\\x00b" >
    XGROUP SETID "a\\x00b" "g\\x00h" 0
    XPENDING "a\\x00b" "\\x00h"
    XINFO CONSUMERS "a\\x00b" "g\\x00h"
    XGROUP CREATE "a\\x00b" g 0
    XCLAIM "a\\x00b" g c 0 1-1 "fo\\x00o"
    XINFO "ST\\x00REAM" a
  `,
  ),
  ...Array.from({ length: 8 }, (_, index) =>
    section(`at random, ${index + 1}`, randomStreamRows(`streams ${index}`, 110).join('\n')),
  ),
]
