import type { Case } from '../case.js'
import { cases } from '../command-cases.js'

export const streamCases: readonly Case[] = cases(
  'stream',
  `
  # entries
  XADD @x 1-1 f v
  XADD @x 1-* f w
  XADD @x 2-1 a 1 b 2
  ~shape XADD @x * f v
  XADD @x 1-1 f v
  XADD @x 0-0 f v
  XADD @x abc f v
  XADD @none NOMKSTREAM 1-1 f v
  XADD @x
  XADD @x 9999999999999-1 f
  XLEN @x
  XLEN @missing
  XRANGE @x 1-1 2-1
  XRANGE @x - + COUNT 1
  XREVRANGE @x 2-1 -
  XRANGE @x (1-1 2-1
  XRANGE @missing - +
  XRANGE @x abc +
  XRANGE @x - + COUNT abc
  XRANGE @x (18446744073709551615-18446744073709551615 +
  XREVRANGE @x + (0-0 COUNT 0
  XDEL @x 1-1 9-9
  XDEL @x abc
  SET @s v
  XADD @s * f v
  XLEN @s
  # trimming
  XADD @x 1-1 f v
  XADD @x 2-1 f v
  XADD @x 3-1 f v
  XADD @x MAXLEN 3 4-1 f v
  XTRIM @x MAXLEN 2
  XTRIM @x MINID 4
  XTRIM @x MAXLEN = 0
  XLEN @x
  XTRIM @x MAXLEN -1
  XTRIM @x MAXLEN 1 LIMIT 1
  XTRIM @x FOO 1
  XTRIM @x
  XADD @x MAXLEN 1 MINID 1 9-1 f v
  XADD @x LIMIT 1 9-1 f v
  XTRIM @x MAXLEN ~ 1 LIMIT -1
  # reading
  XADD @x 1-1 f v
  XADD @x 2-1 f v
  XADD @y 1-1 g w
  XREAD COUNT 1 STREAMS @x @y 0 0
  XREAD STREAMS @x 2-1
  XREAD STREAMS @x $
  XREAD STREAMS @missing 0
  XREAD STREAMS @x @y 0
  XREAD STREAMS @x >
  XREAD STREAMS @x abc
  XREAD COUNT abc STREAMS @x 0
  XREAD FOO @x 0
  XREAD GROUP g c STREAMS @x 0
  XREAD NOACK STREAMS @x 0
  # groups
  XADD @x 1-1 f v
  XADD @x 2-1 f v
  XGROUP CREATE @x g 0
  XGROUP CREATE @x g 0
  XGROUP CREATE @none g 0
  XGROUP CREATE @made g $ MKSTREAM
  XGROUP CREATECONSUMER @x g idle
  XGROUP CREATECONSUMER @x g idle
  XREADGROUP GROUP g c COUNT 1 STREAMS @x >
  XREADGROUP GROUP g c STREAMS @x >
  XREADGROUP GROUP g c STREAMS @x >
  XREADGROUP GROUP g c STREAMS @x 0
  XREADGROUP GROUP none c STREAMS @x >
  XREADGROUP GROUP g c STREAMS @x $
  XREADGROUP STREAMS @x >
  XPENDING @x g
  ~shape XPENDING @x g - + 10
  XPENDING @x none
  XPENDING @x g abc + 1
  XACK @x g 1-1 9-9
  XACK @x none 1-1
  XACKDEL @x g IDS 1 2-1
  XACKDEL @x g ACKED IDS 1 1-1
  XACKDEL @x g IDS 0 1-1
  XACKDEL @x g IDS 2 1-1
  XPENDING @x g
  XGROUP SETID @x g 0
  XGROUP SETID @x none 0
  XGROUP DELCONSUMER @x g c
  XGROUP DELCONSUMER @x none c
  XGROUP DESTROY @x g
  XGROUP DESTROY @x g
  XGROUP STUNTDOUBLE @x
  XGROUP CREATE @x
  ~kind XGROUP HELP
  # claiming
  XADD @x 1-1 f v
  XADD @x 2-1 f v
  XGROUP CREATE @x g 0
  XREADGROUP GROUP g a STREAMS @x >
  XCLAIM @x g b 0 1-1
  XCLAIM @x g b 0 2-1 JUSTID
  XCLAIM @x g b 99999999 1-1
  XCLAIM @x g b abc 1-1
  XCLAIM @x none b 0 1-1
  XCLAIM @x g b 0 1-1 FOO
  XCLAIM @x g b 0 1-1 IDLE abc
  XAUTOCLAIM @x g c 0 0 COUNT 1
  XAUTOCLAIM @x g c 0 0-0 JUSTID
  XAUTOCLAIM @x g c 99999999 0
  XAUTOCLAIM @x none c 0 0
  XAUTOCLAIM @x g c abc 0
  XAUTOCLAIM @x g c 0 0 COUNT 0
  XDELEX @x KEEPREF IDS 2 1-1 9-9
  XDELEX @x ACKED IDS 1 2-1
  XDELEX @x IDS 0 1-1
  # information about streams
  XADD @x 1-1 f v
  XGROUP CREATE @x g 0
  XREADGROUP GROUP g c STREAMS @x >
  ~near XINFO STREAM @x
  ~shape XINFO STREAM @x FULL
  XINFO GROUPS @x
  ~shape XINFO CONSUMERS @x g
  XINFO CONSUMERS @x none
  XINFO STREAM @missing
  XINFO GROUPS @missing
  XINFO STUNTDOUBLE @x
  ~kind XINFO HELP
`,
)
