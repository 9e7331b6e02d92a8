import type { Case } from '../case.js'
import { cases } from '../command-cases.js'

export const sortedSetCases: readonly Case[] = cases(
  'sorted set',
  `
  # adding
  ZADD @z 1 a 2 b 3 c
  ZADD @z 1 a 5 d
  ZADD @z CH 9 a
  ZADD @z NX 1 a 1 new
  ZADD @z XX 1 a 1 none
  ZADD @z GT 5 a
  ZADD @z LT CH 1 a
  ZADD @z INCR 1.5 a
  ZADD @z NX INCR 1 a
  ZINCRBY @z 0.1 b
  ZINCRBY @z inf b
  ZADD @z -inf low
  ZSCORE @z b
  ZINCRBY @z -inf b
  ZSCORE @z a
  ZSCORE @z none
  ZMSCORE @z a none c
  ZCARD @z
  ZCARD @missing
  ZADD @z 0.1 shortest
  ZSCORE @z shortest
  ZADD @z 1e20 large
  ZSCORE @z large
  ZADD @z XX NX 1 a
  ZADD @z GT NX 1 a
  ZADD @z INCR 1 a 2 b
  ZADD @z abc a
  ZADD @z nan a
  ZADD @z 1
  ZADD @z FOO 1 a
  ZINCRBY @z abc a
  SET @s v
  ZADD @s 1 a
  ZSCORE @s a
  # ranges
  ZADD @z 1 a 2 b 3 c 4 d
  ZRANGE @z 0 -1
  ZRANGE @z 0 -1 WITHSCORES
  ZRANGE @z 0 1 REV
  ZRANGE @z (1 3 BYSCORE
  ZRANGE @z +inf -inf BYSCORE REV LIMIT 1 2 WITHSCORES
  ZRANGE @z [b [d BYLEX
  ZRANGE @missing 0 -1
  ZREVRANGE @z 0 1 WITHSCORES
  ZRANGEBYSCORE @z (1 +inf LIMIT 0 2
  ZREVRANGEBYSCORE @z 3 1 WITHSCORES
  ZRANGEBYLEX @z - + LIMIT 0 2
  ZREVRANGEBYLEX @z + [b
  ZCOUNT @z (1 3
  ZLEXCOUNT @z [a (c
  ZRANGESTORE @r @z 1 2
  ZRANGE @r 0 -1 WITHSCORES
  ZRANGE @z a b
  ZRANGE @z 0 -1 BYLEX
  ZRANGE @z - + BYLEX WITHSCORES
  ZRANGE @z 0 -1 LIMIT 0 1
  ZRANGE @z 0 -1 FOO
  ZRANGEBYSCORE @z a b
  ZRANGEBYSCORE @z 0 1 LIMIT 0
  ZRANGEBYLEX @z a b
  ZCOUNT @z a b
  ZLEXCOUNT @z a b
  ZRANGE @z 0
  # ranks
  ZADD @z 1 a 2 b 3 c
  ZRANK @z b
  ZRANK @z none
  ZREVRANK @z a
  ZRANK @z b WITHSCORE
  ZREVRANK @z b WITHSCORE
  ZRANK @z none WITHSCORE
  ZRANK @z b FOO
  ZRANK @z
  # removing
  ZADD @z 1 a 2 b 3 c 4 d 5 e 6 f 7 g
  ZREM @z a none
  ZPOPMIN @z
  ZPOPMAX @z 2
  ZPOPMIN @missing
  ZPOPMIN @z 0
  ZPOPMIN @z -1
  ZPOPMAX @z abc
  ZMPOP 1 @z MIN
  ZMPOP 2 @missing @z MAX COUNT 1
  ZMPOP 1 @missing MIN
  ZMPOP 0 @z MIN
  ZMPOP 1 @z UP
  ZMPOP 1 @z MIN COUNT 0
  ZADD @z 1 a 2 b 3 c 4 d 5 e 6 f
  ZREMRANGEBYRANK @z 0 0
  ZREMRANGEBYSCORE @z 2 (3
  ZADD @lex 0 a 0 b 0 c
  ZREMRANGEBYLEX @lex [a (c
  ZREMRANGEBYLEX @lex a c
  ZREMRANGEBYSCORE @z a b
  ZREMRANGEBYRANK @z a b
  ZREM @z
  # random members and scans
  ZADD @z 1 a 2 b 3 c
  ~shape ZRANDMEMBER @z
  ~unordered ZRANDMEMBER @z 3
  ~pairs ZRANDMEMBER @z 5 WITHSCORES
  ~shape ZRANDMEMBER @z -4
  ZRANDMEMBER @missing
  ZRANDMEMBER @missing 2
  ZRANDMEMBER @z abc
  ZSCAN @z 0 MATCH a COUNT 100
  ZSCAN @missing 0
  ZSCAN @z abc
  # several sets
  ZADD @a 1 x 2 y
  ZADD @b 10 y 20 w
  ZUNION 2 @a @b WITHSCORES
  ZUNION 2 @a @b WEIGHTS 2 3 AGGREGATE MAX WITHSCORES
  ZINTER 2 @a @b WITHSCORES
  ZINTER 2 @a @b AGGREGATE MIN WITHSCORES
  ZDIFF 2 @a @b WITHSCORES
  ZUNIONSTORE @r 2 @a @b
  ZINTERSTORE @r 2 @a @b WEIGHTS 1 2
  ZDIFFSTORE @r 2 @a @b
  ZINTERCARD 2 @a @b
  ZINTERCARD 2 @a @b LIMIT 1
  SADD @s x q
  ZUNION 2 @a @s WITHSCORES
  ZUNION 0 @a
  ZUNIONSTORE @r 0 @a
  ZINTER 0 @a
  ZDIFF 0 @a
  ZUNION 5 @a
  ZUNION 1 @a WEIGHTS abc
  ZUNION 1 @a AGGREGATE FOO
  ZINTERCARD 0 @a
  ZINTERCARD 1 @a LIMIT -1
  ZUNION abc @a
`,
)

export const geoCases: readonly Case[] = cases(
  'geo',
  `
  # places
  GEOADD @g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
  GEOADD @g NX 1 1 Palermo
  GEOADD @g XX CH 13.4 38.1 Palermo
  GEOADD @g 13.361389 38.115556 Palermo
  GEOADD @g 200 10 x
  GEOADD @g abc 10 x
  GEOADD @g XX NX 1 1 x
  GEOADD @g 1 1
  GEODIST @g Palermo Catania
  GEODIST @g Palermo Catania km
  GEODIST @g Palermo none
  GEODIST @g Palermo Catania parsec
  GEOHASH @g Palermo none
  GEOPOS @g Palermo none
  GEOPOS @missing a
  # searching
  GEOADD @g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania 12.758489 38.788135 edge
  GEOSEARCH @g FROMLONLAT 15 37 BYRADIUS 200 km ASC
  GEOSEARCH @g FROMMEMBER Palermo BYRADIUS 100 km ASC WITHDIST WITHCOORD WITHHASH
  GEOSEARCH @g FROMLONLAT 15 37 BYBOX 400 400 km ASC COUNT 2
  GEOSEARCH @g FROMLONLAT 15 37 BYBOX 400 400 km DESC
  GEOSEARCH @missing FROMLONLAT 15 37 BYRADIUS 200 km
  GEOSEARCHSTORE @r @g FROMLONLAT 15 37 BYRADIUS 200 km STOREDIST
  ~shape ZRANGE @r 0 -1 WITHSCORES
  GEORADIUS @g 15 37 200 km WITHDIST ASC
  GEORADIUS_RO @g 15 37 200 km ASC
  GEORADIUSBYMEMBER @g Palermo 200 km ASC
  GEORADIUSBYMEMBER_RO @g Palermo 200 km ASC
  GEORADIUS @g 15 37 200 km STORE @r2
  GEORADIUS @g 15 37 200 km WITHDIST STORE @r2
  GEOSEARCHSTORE @r @g FROMLONLAT 15 37 BYRADIUS 200 km WITHDIST
  GEOSEARCH @g FROMMEMBER none BYRADIUS 100 km
  GEOSEARCH @g FROMLONLAT 15 37 BYRADIUS -1 km
  GEOSEARCH @g FROMLONLAT 15 37 BYRADIUS abc km
  GEOSEARCH @g FROMLONLAT 15 37 BYBOX abc 1 km
  GEOSEARCH @g FROMLONLAT 15 37 BYBOX 1 abc km
  GEOSEARCH @g FROMLONLAT 15 37 BYBOX -1 1 km
  GEOSEARCH @g FROMLONLAT 15 37 BYRADIUS 1 km COUNT 0
  GEOSEARCH @g FROMLONLAT 15 37 BYRADIUS 1 km ANY
  GEOSEARCH @g FROMLONLAT 15 37
  GEOSEARCH @g BYRADIUS 1 km
  GEOSEARCH @g FROMLONLAT 15 37 BYRADIUS 1 parsec
  SET @s v
  GEOADD @s 1 1 a
  GEOPOS @s a
`,
)
